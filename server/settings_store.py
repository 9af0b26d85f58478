"""Settings on disk: atomic, with a backup; a broken file is set aside, a bad field dropped."""

import contextlib
import logging
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from server.chat import Json
from server.files import set_aside, write_atomically
from server.settings import Settings

log = logging.getLogger(__name__)


class SettingsStore:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_suffix(".backup.json")
        self.notices: list[str] = []

    def load(self) -> Settings:
        """What the file says, else its backup, else the defaults. Never raises for a bad file."""
        for path in (self._path, self._backup):
            if not path.exists():
                continue
            try:
                return self._read(path)
            except (OSError, ValueError) as error:
                self._set_aside(path, error)
        return Settings()

    def save(self, settings: Settings) -> None:
        with contextlib.suppress(FileNotFoundError):
            write_atomically(self._backup, self._path.read_text("utf-8"))
        write_atomically(self._path, settings.model_dump_json(indent=2))

    def _read(self, path: Path) -> Settings:
        found: Json = from_json(path.read_bytes())
        if not isinstance(found, dict):
            raise ValueError("not an object")  # noqa: TRY004
        while True:
            try:
                return Settings.model_validate(found)
            except ValidationError as error:
                self._drop_bad_fields(found, error)

    def _drop_bad_fields(self, found: Json, error: ValidationError) -> None:
        for finding in error.errors():
            where = ".".join(str(part) for part in finding["loc"][:2])
            self.notices.append(f"The setting {where} was not valid and is back to its default.")
            _remove(found, finding["loc"][:2])

    def _set_aside(self, path: Path, error: Exception) -> None:
        log.warning("Cannot read %s", path.name, exc_info=error)
        with contextlib.suppress(OSError):
            path = set_aside(path)
        self.notices.append(f"The settings file could not be read; it is kept as {path.name}.")


def _remove(found: Json, where: tuple[Any, ...]) -> None:
    inside: Any = found
    for part in where[:-1]:
        inside = inside[part]
    del inside[where[-1]]
