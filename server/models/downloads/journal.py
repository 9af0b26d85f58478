"""The journal of a download, which survives crashes and full disks.

The first line holds the plan. Each later line records a change, mostly a piece that is on the disk,
with its digest. A line cut short by a crash is ignored.
"""

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from server.errors import DiskFailed, DiskFull
from server.models.hub import RemoteFile
from server.sentences import Sentence, from_wire, to_wire

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    return error.errno in _FULL


@contextmanager
def disk_trouble() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise DiskFull(Sentence("The disk cannot be written: {0}.", error.strerror)) from error
        raise DiskFailed(
            Sentence("The disk could not be written: {0}.", error.strerror or error)
        ) from error


NAME = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class DownloadPlan:
    id: str
    name: str
    repo: str
    revision: str
    files: tuple[RemoteFile, ...]
    piece_bytes: int
    replaces: bool = False
    """Whether files with these names are installed in another version."""
    cache: str = ""
    """The folder of Hugging Face's cache to install into. Empty means Moat's own folder."""

    @property
    def total_bytes(self) -> int:
        return sum(file.size_bytes for file in self.files)

    def pieces(self, file: int) -> int:
        return -(-self.files[file].size_bytes // self.piece_bytes)

    def piece_size(self, file: int, number: int) -> int:
        left = self.files[file].size_bytes - number * self.piece_bytes
        return min(self.piece_bytes, left)


class DownloadJournal:
    """A download's plan and progress, written to a file line by line."""

    def __init__(self, folder: Path, plan: DownloadPlan) -> None:
        self.folder = folder
        self.plan = plan
        self.pieces: dict[tuple[int, int], str] = {}
        self.tags: dict[int, str] = {}
        self.paused = False
        self.failed = ""
        self.details = ""
        self.is_reserved = False

    @classmethod
    def create(cls, folder: Path, plan: DownloadPlan) -> "DownloadJournal":
        journal = cls(folder, plan)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            (folder / NAME).unlink(missing_ok=True)
        except OSError as error:
            raise DiskFailed(Sentence("The download cannot start: {0}.", error.strerror)) from error
        journal._add({"plan": asdict(plan)})
        return journal

    @classmethod
    def read(cls, folder: Path) -> "DownloadJournal | None":
        """Returns the journal in the folder, or None if there is no readable one."""
        try:
            lines = (folder / NAME).read_bytes().split(b"\n")
            plan = _plan(json.loads(lines[0])["plan"])
        except (OSError, ValueError, LookupError, TypeError):
            return None
        journal = cls(folder, plan)
        for line in lines[1:]:
            with suppress(ValueError, LookupError, TypeError):
                journal._take(json.loads(line))
        if lines[-1]:
            with suppress(DiskFailed):
                journal._write(b"\n")
        return journal

    @property
    def done_bytes(self) -> int:
        return sum(self.plan.piece_size(file, number) for file, number in self.pieces)

    @property
    def is_there(self) -> bool:
        """Whether the journal's file still exists: somebody may have deleted the folder."""
        return (self.folder / NAME).exists()

    def part(self, file: int) -> Path:
        return self.folder / f"{file}.part"

    def is_placed(self, file: int, target: Path) -> bool:
        """Whether that file is installed and nothing is left to do for it."""
        if not self.plan.replaces or self.plan.cache:
            return target.exists()
        # An older version was at the target all along. The part is created first and moved last.
        return self.is_reserved and not self.part(file).exists() and target.exists()

    def set_reserved(self) -> None:
        if self.plan.replaces and not self.is_reserved:
            self._add({"reserved": True})

    def add_piece(self, file: int, number: int, digest: str) -> None:
        self._add({"piece": [file, number, digest]})

    def drop_piece(self, file: int, number: int) -> None:
        self._add({"drop": [file, number]})

    def forget(self, file: int) -> None:
        """Drops all pieces of a file that cannot be trusted."""
        self._add({"forget": file})

    def set_tag(self, file: int, tag: str) -> None:
        self._add({"tag": [file, tag]})

    def set_paused(self, *, paused: bool) -> None:
        self._add({"paused": paused})

    def set_failed(self, reason: str, details: str = "") -> None:
        self._add({"failed": to_wire(reason), "details": details})

    def change_file(self, file: int, changed: RemoteFile) -> None:
        """Starts a file over because the hub has another version of it."""
        self._add({"changed": [file, asdict(changed)]})

    def remove(self) -> None:
        """Deletes the journal, then the folder: without a journal the download is not resumed."""
        (self.folder / NAME).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _add(self, entry: dict[str, Any]) -> None:
        self._write(json.dumps(entry).encode() + b"\n")
        self._take(entry)

    def _write(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _BINARY
        with disk_trouble():
            handle = os.open(self.folder / NAME, flags, 0o600)
            try:
                if os.write(handle, line) != len(line):
                    os.write(handle, b"\n")
                    raise DiskFull(Sentence("The disk is full."))
            finally:
                os.close(handle)

    def _take(self, entry: dict[str, Any]) -> None:
        match entry:
            case {"piece": [int(file), int(number), str(digest)]}:
                self.pieces[file, number] = digest
            case {"drop": [int(file), int(number)]}:
                self.pieces.pop((file, number), None)
            case {"forget": int(file)}:
                self._forget(file)
            case {"tag": [int(file), str(tag)]}:
                self.tags[file] = tag
            case {"paused": bool(paused)}:
                self.paused, self.failed = paused, ""
            case {"failed": str() | list() as reason, **more}:
                self.failed, self.details = from_wire(reason), str(more.get("details", ""))
            case {"reserved": True}:
                self.is_reserved = True
            case {"changed": [int(file), dict(changed)]}:
                self._forget(file)
                files = list(self.plan.files)
                files[file] = RemoteFile(**changed)
                self.plan = replace(self.plan, files=tuple(files))
            case _:
                pass

    def _forget(self, file: int) -> None:
        self.pieces = {key: digest for key, digest in self.pieces.items() if key[0] != file}
        self.tags.pop(file, None)


def _plan(found: dict[str, Any]) -> DownloadPlan:
    files = tuple(RemoteFile(**file) for file in found.pop("files"))
    return DownloadPlan(files=files, **found)


_BINARY: int = getattr(os, "O_BINARY", 0)
