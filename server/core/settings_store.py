"""Settings on disk: atomic, with a backup; a broken file is set aside, a bad field dropped."""

import contextlib
import logging
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from server.chat import Json
from server.settings import BAD_ORIGIN, Settings
from server.system.files import set_aside, sweep_drafts, write_atomically

log = logging.getLogger(__name__)
ASIDE = "set_aside"
"""Values this version cannot read, kept for the one that can."""


class SettingsStore:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_suffix(".backup.json")
        self.notices: list[str] = []

    def load(self) -> Settings:
        """What the file says, else its backup, else the defaults. Never raises for a bad file."""
        with contextlib.suppress(OSError):
            sweep_drafts(self._path.parent)
        for path in (self._path, self._backup):
            try:
                return self._read(path)
            except FileNotFoundError:
                continue
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
        _restore(found)
        while True:
            try:
                return Settings.model_validate(found)
            except ValidationError as error:
                self._drop_bad_fields(found, error)

    def _drop_bad_fields(self, found: Json, error: ValidationError) -> None:
        # A list has a finding for each bad item; the setting is dropped once.
        for place in dict.fromkeys(finding["loc"][:2] for finding in error.errors()):
            where = ".".join(str(part) for part in place)
            removed = found.setdefault(ASIDE, {})[where] = _remove(found, place)
            findings = [finding for finding in error.errors() if finding["loc"][:2] == place]
            if all(finding["type"] == BAD_ORIGIN for finding in findings):
                bad = {finding["loc"][2] for finding in findings}
                good = [item for number, item in enumerate(removed) if number not in bad]
                found[str(place[0])][place[1]] = good
                self.notices.append(f"Part of the setting {where} was not valid and was ignored.")
                continue
            self.notices.append(f"The setting {where} was not valid and was reset to its default.")

    def _set_aside(self, path: Path, error: Exception) -> None:
        log.warning("Cannot read %s: %s", path.name, error)
        with contextlib.suppress(OSError):
            path = set_aside(path)
        self.notices.append(f"The settings file could not be read; it was saved as {path.name}.")


def _remove(found: Json, where: tuple[Any, ...]) -> Any:
    inside: Any = found
    for part in where[:-1]:
        inside = inside[part]
    return inside.pop(where[-1])


def _restore(found: Json) -> None:
    """Put back what another version could not read, where the user has not chosen since."""
    aside = found.pop(ASIDE, None)
    if not isinstance(aside, dict):
        return
    kept = {where: value for where, value in aside.items() if not _put_back(found, where, value)}
    if kept:
        found[ASIDE] = kept


def _put_back(found: Json, where: str, value: Any) -> bool:
    """Whether that was settled: it is back, or the user's later choice stands."""
    group, _, name = where.partition(".")
    if not name:
        return _put_group_back(found, group, value)
    default = getattr(getattr(Settings(), group, None), name, None)
    held = found.get(group, {})
    if not isinstance(held, dict):
        return False
    if held.get(name, default) != default:
        return True
    try:
        Settings.model_validate({group: {name: value}})
    except ValidationError:
        return False
    found.setdefault(group, {})[name] = value
    return True


def _put_group_back(found: Json, group: str, value: Any) -> bool:
    defaults = Settings().model_dump(mode="json").get(group)
    if found.get(group, defaults) != defaults:
        return True
    try:
        Settings.model_validate({group: value})
    except ValidationError:
        return False
    found[group] = value
    return True
