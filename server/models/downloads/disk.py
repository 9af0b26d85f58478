"""The disk side of a download: space taken first, pieces checked, files put in place."""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from server.errors import DiskFull
from server.models.downloads.journal import Journal, disk_trouble
from server.sizes import MB

READ_BYTES = 1 << 20
MOST_MARGIN = 256 << 20


def digest(data: bytes | bytearray | memoryview) -> "hashlib.blake2b":
    return hashlib.blake2b(data, digest_size=16)


def margin(folder: Path) -> int:
    """What is left to other programs: a hundredth of the disk, 256 MB at most."""
    return min(MOST_MARGIN, shutil.disk_usage(folder).total // 100)


def lacking(journal: Journal, targets: list[Path]) -> int:
    """Bytes that must be freed before the rest of the download has room; 0: there is room."""
    wanted = _wanted(journal, targets)
    if not wanted:
        return 0
    needed = sum(wanted.values())
    taken = sum(_allocated(journal.part(number)) for number in wanted)
    free = shutil.disk_usage(journal.folder).free
    return max(0, needed - taken + margin(journal.folder) - free)


def reserve(journal: Journal, targets: list[Path]) -> None:
    """Takes the space of every file now, so that it cannot run out half way."""
    with disk_trouble():
        short = lacking(journal, targets)
        if short:
            raise DiskFull(f"The disk is full: {-(-short // MB)} MB more are needed.")
        for number, size in _wanted(journal, targets).items():
            _take_space(journal.part(number), size)
        journal.set_reserved()


def _wanted(journal: Journal, targets: list[Path]) -> dict[int, int]:
    """The sizes of the files that are not in place yet, by their numbers."""
    return {
        number: file.size_bytes
        for number, file in enumerate(journal.plan.files)
        if not journal.is_placed(number, targets[number])
    }


def _take_space(path: Path, size: int) -> None:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        if os.fstat(handle).st_size == size and _allocated(path) >= size:
            return
        if size and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle, 0, size)
        os.ftruncate(handle, size)
    finally:
        os.close(handle)


def _allocated(path: Path) -> int:
    try:
        found = path.stat()
    except FileNotFoundError:
        return 0
    if sys.platform == "win32":
        return found.st_size
    return found.st_blocks * 512


def write(path: Path, at: int, data: bytes) -> None:
    with disk_trouble(), path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def drop_bad_pieces(journal: Journal) -> None:
    """Pieces that a crash or a failing disk bent are fetched again; the others are kept."""
    for file, number in sorted(journal.pieces):
        if not _is_good(journal, file, number):
            journal.drop_piece(file, number)


def _is_good(journal: Journal, file: int, number: int) -> bool:
    try:
        with journal.part(file).open("rb") as part:
            part.seek(number * journal.plan.piece_bytes)
            data = part.read(journal.plan.piece_size(file, number))
    except OSError:
        return False
    return digest(data).hexdigest() == journal.pieces[file, number]


def sha256(path: Path, is_cancelled: Callable[[], bool]) -> str:
    found = hashlib.sha256()
    with disk_trouble(), path.open("rb") as file:
        while not is_cancelled() and (data := file.read(READ_BYTES)):
            found.update(data)
    return found.hexdigest()


Put = Callable[[Path, Path, str], None]
"""Puts a part, whose hash is given, where it belongs."""


def put(part: Path, target: Path, _digest: str) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part.replace(target)


def place(journal: Journal, targets: list[Path], put: Put = put) -> None:
    """Verified parts become files; the first of a split model last, since it is the one listed."""
    with disk_trouble():
        for number in reversed(range(len(targets))):
            part = journal.part(number)
            if not part.exists():
                continue
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            put(part, targets[number], journal.plan.files[number].sha256)
