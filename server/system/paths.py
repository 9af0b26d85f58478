"""The folders of this program: the platform's usual ones, or all below MOAT_HOME if it is set."""

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

import server
from server.errors import AppError

APP = "moat"
RESOURCES = Path(server.__file__).resolve().parent.parent / "resources"


class FolderFailed(AppError):
    """One of Moat's own folders is missing and cannot be created."""

    code = "folder_failed"


@dataclass(frozen=True, slots=True)
class Paths:
    config: Path
    data: Path
    cache: Path
    logs: Path
    runtime: Path

    @property
    def settings(self) -> Path:
        return self.config / "settings.json"

    @property
    def models(self) -> Path:
        return self.data / "models"

    @property
    def secrets(self) -> Path:
        return self.config / "secrets.json"

    @property
    def https(self) -> Path:
        """The folder of the certificates for localhost."""
        return self.config / "https"

    @property
    def control(self) -> Path:
        """The file in which a running server notes how to reach its control link."""
        return self.runtime / "control.json"

    def make(self) -> None:
        for folder in (self.config, self.data, self.cache, self.logs, self.runtime, self.models):
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise FolderFailed(
                    f"The folder {folder} cannot be made ({error.strerror}). "
                    "MOAT_HOME can name a folder that you may write to."
                ) from error


def _runtime_folder(cache: Path) -> Path:
    given = os.environ.get("XDG_RUNTIME_DIR")
    return Path(given) / APP if given and os.name == "posix" else cache / "run"


def find() -> Paths:
    home = os.environ.get("MOAT_HOME")
    if home:
        root = Path(home).expanduser().resolve()
        return Paths(root / "config", root / "data", root / "cache", root / "logs", root / "run")
    dirs = platformdirs.PlatformDirs(APP, appauthor=False)
    return Paths(
        dirs.user_config_path,
        dirs.user_data_path,
        dirs.user_cache_path,
        dirs.user_log_path,
        _runtime_folder(dirs.user_cache_path),
    )
