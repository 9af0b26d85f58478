"""A single download: it fetches pieces over several connections, verifies and installs them.

It reserves the disk space first. A piece counts only after its digest was checked. Faults are
retried, or reported if they persist.
"""

import asyncio
import hashlib
import logging
import os
import random
import shutil
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from server.errors import AppError, DiskFull, HubFailed, HubRefused
from server.face.models import DownloadPhase
from server.models.downloads.journal import DownloadJournal, disk_trouble
from server.models.hub import Part, Repository
from server.sentences import Sentence
from server.sizes import MB
from server.tasks import spawn, stop

WINDOW_S = 8.0
Clock = Callable[[], float]
READ_BYTES = 1 << 20
MOST_MARGIN = 256 << 20


def digest(data: bytes | bytearray | memoryview) -> "hashlib.blake2b":
    return hashlib.blake2b(data, digest_size=16)


def margin(folder: Path) -> int:
    """Returns the bytes left to other programs: 1 % of the disk, at most 256 MiB."""
    return min(MOST_MARGIN, shutil.disk_usage(folder).total // 100)


def lacking(journal: DownloadJournal, targets: list[Path]) -> int:
    """Returns how many bytes must be freed before the download fits; 0 if there is room."""
    wanted = _wanted(journal, targets)
    if not wanted:
        return 0
    needed = sum(wanted.values())
    taken = sum(_allocated(journal.part(number)) for number in wanted)
    free = shutil.disk_usage(journal.folder).free
    return max(0, needed - taken + margin(journal.folder) - free)


def reserve(journal: DownloadJournal, targets: list[Path]) -> None:
    """Allocates the space of every file now, so that the disk cannot fill up half way."""
    with disk_trouble():
        short = lacking(journal, targets)
        if short:
            raise DiskFull(Sentence("The disk is full: {0} MB more are needed.", -(-short // MB)))
        for number, size in _wanted(journal, targets).items():
            _take_space(journal.part(number), size)
        journal.set_reserved()


def _wanted(journal: DownloadJournal, targets: list[Path]) -> dict[int, int]:
    """Returns the sizes of the files that are not installed yet, by file number."""
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


def drop_bad_pieces(journal: DownloadJournal) -> None:
    """Drops the pieces that a crash or a failing disk has damaged: they are fetched again."""
    for file, number in sorted(journal.pieces):
        if not _is_good(journal, file, number):
            journal.drop_piece(file, number)


def _is_good(journal: DownloadJournal, file: int, number: int) -> bool:
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
"""Moves a part with the given SHA-256 to its target."""


def put(part: Path, target: Path, _digest: str) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part.replace(target)


def place(journal: DownloadJournal, targets: list[Path], put: Put = put) -> None:
    """Installs verified parts; the first file of a split model last, since it is the one listed."""
    with disk_trouble():
        for number in reversed(range(len(targets))):
            part = journal.part(number)
            if not part.exists():
                continue
            with part.open("rb+") as file:
                os.fsync(file.fileno())
            put(part, targets[number], journal.plan.files[number].sha256)


class TransferRate:
    """The speed in bytes per second over the last `WINDOW_S` seconds. A pause resets it."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        self._seen.append((self._clock(), count))

    def reset(self) -> None:
        self._seen.clear()

    @property
    def bytes_per_s(self) -> float:
        now = self._clock()
        while self._seen and now - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        if not self._seen:
            return 0.0
        lasted = max(now - self._seen[0][0], 0.5)
        return sum(count for _, count in self._seen) / lasted

    def left_s(self, bytes_left: int) -> float | None:
        speed = self.bytes_per_s
        return bytes_left / speed if speed > 0 else None


class Throttle:
    """A speed limit in bytes per second that all downloads share; 0 means no limit."""

    def __init__(self, limit: Callable[[], float], clock: Clock = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._free_at = 0.0

    async def take(self, count: int) -> None:
        limit = self._limit()
        if limit <= 0:
            return
        now = self._clock()
        self._free_at = max(now, self._free_at) + count / limit
        wait = self._free_at - now
        if wait > 0.01:
            await asyncio.sleep(wait)


log = logging.getLogger(__name__)
PIECE_BYTES = 8 << 20
MOST_LOOKS = 5
"""How often a changed tag makes us ask the hub again. After that only the SHA-256 counts."""


@dataclass(frozen=True, slots=True)
class TransferLimits:
    connections: int = 4
    piece_bytes: int = PIECE_BYTES
    pieces_per_request: int = 8
    tries: int = 12
    """Consecutive faults without a byte in between after which a connection gives up."""
    first_wait_s: float = 0.5
    longest_wait_s: float = 60.0
    longest_retry_after_s: float = 600.0


class FileHost(Protocol):
    """A source of files: the hub, or the host of Moat's own releases."""

    def part(
        self, repo: str, revision: str, path: str, span: tuple[int, int]
    ) -> AbstractAsyncContextManager[Part]: ...

    async def repository(self, repo: str, revision: str) -> Repository:
        """Returns the current files; called when a file seems to have changed during a download."""
        ...


class Changed(Exception):
    """The hub now serves another version of the file than the one this download began with."""


class Restart(Exception):
    """The plan has changed, so the download must start over with the new plan."""


@dataclass
class PieceSpan:
    """A range of pieces of one file that one connection fetches, and its progress."""

    file: int
    number: int
    end: int
    buffer: bytearray
    """Bytes received that do not make up a whole piece yet."""


class Transfer:
    """Fetches, verifies and installs all files of a plan. `run` raises an AppError if it cannot."""

    def __init__(
        self,
        hub: FileHost,
        journal: DownloadJournal,
        targets: list[Path],
        throttle: Throttle,
        limits: TransferLimits,
        put: Put = put,
    ) -> None:
        self.phase: DownloadPhase = "waiting"
        self.note = ""
        self.pace = TransferRate()
        self._hub = hub
        self._journal = journal
        self._targets = targets
        self._throttle = throttle
        self._limits = limits
        self._put = put
        self._busy: set[tuple[int, int]] = set()
        self._begun_bytes = 0
        self._looks: dict[int, int] = {}
        self._ended = False

    @property
    def done_bytes(self) -> int:
        finished = sum(
            file.size_bytes
            for number, file in enumerate(self._journal.plan.files)
            if self._journal.is_placed(number, self._targets[number])
        )
        return finished + self._journal.done_bytes + self._begun_bytes

    async def run(self) -> None:
        try:
            self.phase = "verifying" if self._journal.pieces else "waiting"
            await asyncio.to_thread(reserve, self._journal, self._targets)
            await asyncio.to_thread(drop_bad_pieces, self._journal)
            for attempt in (1, 2):
                self.phase = "running"
                await self._fetch_all()
                self.phase, self.note = "verifying", ""
                bad = await self._verify()
                if not bad:
                    break
                self._begin_again(bad, attempt)
            await asyncio.to_thread(place, self._journal, self._targets, self._put)
            self.phase = "done"
        finally:
            self._ended = True
            self.pace.reset()

    async def _fetch_all(self) -> None:
        connections = [
            spawn(self._connection(), f"download-{number}")
            for number in range(self._limits.connections)
        ]
        try:
            for ending in asyncio.as_completed(connections):
                error = await ending
                if error is not None:
                    raise error
        finally:
            for connection in connections:
                await stop(connection)
            self._busy.clear()
            self._begun_bytes = 0

    async def _connection(self) -> AppError | Restart | None:
        """Fetches spans until none is left. Returns the error that ended the work early, if any."""
        try:
            while span := self._next_span():
                await self._fetch_span(span)
        except (AppError, Restart) as error:
            return error
        return None

    async def _fetch_span(self, span: PieceSpan) -> None:
        faults = 0
        while span.number < span.end:
            before = (span.number, len(span.buffer))
            try:
                await self._fetch(span)
            except HubRefused:
                raise
            except HubFailed as error:
                faults = 1 if (span.number, len(span.buffer)) != before else faults + 1
                if faults >= self._limits.tries:
                    raise
                await self._wait(error, faults)
            except Changed:
                await self._look_again(span)

    def _next_span(self) -> PieceSpan | None:
        """Returns the next run of pieces that no connection has fetched or is fetching."""
        plan = self._journal.plan
        for file in range(len(plan.files)):
            if self._journal.is_placed(file, self._targets[file]):
                continue
            missing = [n for n in range(plan.pieces(file)) if self._is_missing(file, n)]
            if missing:
                # Runs get shorter towards the end: no slow connection is left with the tail.
                share = -(-len(missing) // self._limits.connections)
                most = min(self._limits.pieces_per_request, share)
                first, end = missing[0], missing[0] + 1
                while end < first + most and self._is_missing(file, end):
                    end += 1
                self._busy |= {(file, number) for number in range(first, end)}
                return PieceSpan(file, first, end, bytearray())
        return None

    def _is_missing(self, file: int, number: int) -> bool:
        key = (file, number)
        inside = number < self._journal.plan.pieces(file)
        return inside and key not in self._journal.pieces and key not in self._busy

    async def _fetch(self, span: PieceSpan) -> None:
        plan = self._journal.plan
        start = span.number * plan.piece_bytes + len(span.buffer)
        end = min(span.end * plan.piece_bytes, plan.files[span.file].size_bytes)
        path = plan.files[span.file].path
        async with self._hub.part(plan.repo, plan.revision, path, (start, end)) as part:
            self._compare_tag(span.file, part.tag)
            await self._receive(span, part)
        if span.number < span.end:
            raise HubFailed(Sentence("The hub ended the file before its end."))

    async def _receive(self, span: PieceSpan, part: Part) -> None:
        plan = self._journal.plan
        async with aclosing(part.chunks) as chunks:
            async for chunk in chunks:
                await self._throttle.take(len(chunk))
                self.pace.add(len(chunk))
                self.note = ""
                span.buffer += chunk
                self._begun_bytes += len(chunk)
                while span.number < span.end:
                    size = plan.piece_size(span.file, span.number)
                    if len(span.buffer) < size:
                        break
                    await self._keep_piece(span, size)

    async def _keep_piece(self, span: PieceSpan, size: int) -> None:
        data = bytes(span.buffer[:size])
        at = span.number * self._journal.plan.piece_bytes
        mark = await asyncio.to_thread(_store, self._journal.part(span.file), at, data)
        del span.buffer[:size]
        self._begun_bytes -= size
        self._journal.add_piece(span.file, span.number, mark)
        self._busy.discard((span.file, span.number))
        span.number += 1

    def _compare_tag(self, file: int, tag: str) -> None:
        known = self._journal.tags.get(file)
        if tag and known is None:
            self._journal.set_tag(file, tag)
        elif tag and known != tag and self._looks.get(file, 0) < MOST_LOOKS:
            raise Changed

    async def _look_again(self, span: PieceSpan) -> None:
        """Asks the hub whether a changed tag means a changed file. Only the hub's SHA-256 decides.

        Another server may send another tag for the same file.
        """
        self._looks[span.file] = self._looks.get(span.file, 0) + 1
        plan = self._journal.plan
        begun = plan.files[span.file]
        found = await self._hub.repository(plan.repo, plan.revision)
        now = next((file for file in found.files if file.path == begun.path), None)
        if now is None:
            raise HubRefused(Sentence("The hub no longer has this file."))
        if (now.sha256, now.size_bytes) == (begun.sha256, begun.size_bytes):
            self._journal.tags.pop(span.file, None)
            return
        log.info("The hub has another version of %s now; beginning it anew", begun.path)
        self._journal.change_file(span.file, now)
        raise Restart

    async def _wait(self, error: AppError, faults: int) -> None:
        limits = self._limits
        wait = min(limits.longest_wait_s, limits.first_wait_s * 2 ** (faults - 1))
        wait *= random.uniform(0.5, 1.5)
        if error.retry_after_s is not None:
            wait = max(wait, min(error.retry_after_s, limits.longest_retry_after_s))
        self.note = Sentence("{0} Trying again in {1} s.", error, max(1, round(wait)))
        await asyncio.sleep(wait)

    async def _verify(self) -> list[int]:
        """Returns the numbers of the files whose SHA-256 differs from the hub's."""
        bad = []
        for number, file in enumerate(self._journal.plan.files):
            if self._journal.is_placed(number, self._targets[number]):
                continue
            part = self._journal.part(number)
            found = await asyncio.to_thread(sha256, part, lambda: self._ended)
            if found != file.sha256:
                bad.append(number)
        return bad

    def _begin_again(self, bad: list[int], attempt: int) -> None:
        for number in bad:
            self._journal.forget(number)
        if attempt == 2:
            raise HubRefused(Sentence("The checksum was wrong twice, so the file was deleted."))
        log.warning("A download does not have the promised content; fetching it again")


def _store(part: Path, at: int, data: bytes) -> str:
    write(part, at, data)
    return digest(data).hexdigest()
