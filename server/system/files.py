"""Atomic writes, private files, JSON files and locks."""

import contextlib
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)


def try_lock(file: int) -> None:
    """Locks an open file. Raises OSError if another process holds the lock."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl  # noqa: PLC0415

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


DRAFT_S = 60.0
"""Seconds after which a draft is considered abandoned."""


def write_atomically(path: Path, text: str) -> None:
    """Writes a file via a flushed draft in the same folder, so that it is never half written."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


def open_private(path: str | Path, flags: int) -> int:
    """An `opener` that makes the file readable only by its owner from the start."""
    return os.open(path, flags, 0o600)


def sweep_drafts(folder: Path) -> None:
    """Removes drafts that a killed program left behind. A recent draft may still be in use."""
    for draft in folder.glob(".*.draft"):
        with contextlib.suppress(OSError):
            if time.time() - draft.stat().st_mtime > DRAFT_S:
                draft.unlink()


def set_aside(path: Path) -> Path:
    """Renames an unreadable file to keep it, and returns its new path."""
    number = 1
    while (aside := path.with_name(f"{path.stem}.broken-{number}{path.suffix}")).exists():
        number += 1
    path.replace(aside)
    return aside


class JsonFile:
    """A JSON object in a file.

    A file that is missing or unreadable counts as empty. `what` is its name in the log. With
    `is_precious`, an unreadable file is set aside, so that it is not overwritten.
    """

    def __init__(self, path: Path, what: str, *, is_precious: bool = False) -> None:
        self._path = path
        self._what = what
        self._is_precious = is_precious

    def read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
        log.warning("%s cannot be read and are begun anew", self._what)
        if self._is_precious:
            with contextlib.suppress(OSError):
                set_aside(self._path)
        return {}

    def write(self, entries: Mapping[str, Any]) -> None:
        """Writes the entries. On a full disk the change is lost, but not the file."""
        try:
            write_atomically(self._path, json.dumps(entries, indent=1))
        except OSError as error:
            log.warning("%s could not be saved: %s", self._what, error.strerror)


def _flush_folder(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
