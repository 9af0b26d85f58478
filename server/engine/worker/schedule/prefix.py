"""Slots, and computed states that can be used again: those of slots and evicted conversations.

If the user wants it, conversations are stored on disk as well, so that they need not be read again
after a restart. A file holds the tokens and the computed state of one conversation. It is as
private as the conversation itself, so only its owner can read it.
"""

import contextlib
import hashlib
import itertools
import os
import struct
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from server.engine.worker.decode.batch import Tokens
from server.engine.worker.load.context import Context


@dataclass(eq=False, slots=True)
class Slot:
    """A sequence of the context and the tokens that it holds. `used_at` is `perf_counter` time."""

    sequence: int
    buffer: Tokens
    count: int = 0
    busy: bool = False
    used_at: float = 0.0

    @property
    def tokens(self) -> Tokens:
        return self.buffer[: self.count]

    def append(self, tokens: list[int] | Tokens) -> None:
        end = self.count + len(tokens)
        self.buffer[self.count : end] = tokens
        self.count = end

    def cut(self, count: int, context: Context) -> None:
        """Keeps only the first `count` tokens, or no tokens if the model cannot go back."""
        if not context.cut(self.sequence, count):
            context.cut(self.sequence, 0)
            count = 0
        self.count = count


def make_slots(count: int, tokens: int) -> list[Slot]:
    return [Slot(sequence, np.zeros(tokens + 1, np.int32)) for sequence in range(count)]


def common_prefix(left: Tokens, right: Tokens) -> int:
    """Returns how many tokens two sequences share from their start."""
    size = min(len(left), len(right))
    if size == 0 or left[0] != right[0]:
        return 0
    differing = left[:size] != right[:size]
    first = int(differing.argmax())
    return first if differing[first] else size


@dataclass(frozen=True, slots=True)
class Kept:
    tokens: Tokens
    state: NDArray[np.uint8]
    checksum: int | None = None
    """The checksum of a state from a file; None for others."""

    def is_whole(self) -> bool:
        return self.checksum is None or zlib.crc32(self.state.data) == self.checksum


class HostCache:
    """The states of evicted conversations in host memory. The least recently used go first."""

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.size_bytes = 0
        self._kept: OrderedDict[int, Kept] = OrderedDict()
        self._keys = itertools.count()

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Kept]:
        return iter(self._kept.values())

    def holds(self, tokens: Tokens) -> bool:
        """Whether a kept conversation begins with these tokens. If so, it counts as used now."""
        for key, kept in self._kept.items():
            if common_prefix(kept.tokens, tokens) == len(tokens):
                self._kept.move_to_end(key)
                return True
        return False

    def put(self, new: Kept) -> None:
        """Adds a conversation. Drops those that it begins with."""
        superseded = [
            key
            for key, kept in self._kept.items()
            if common_prefix(kept.tokens, new.tokens) == len(kept.tokens)
        ]
        for key in superseded:
            self._drop(key)
        self._kept[next(self._keys)] = new
        self.size_bytes += new.state.nbytes
        while self.size_bytes > self.capacity_bytes:
            self._drop(next(iter(self._kept)))

    def best(self, tokens: Tokens) -> tuple[int, int]:
        """Returns the key of the conversation that shares most with `tokens`, and how much."""
        shared = ((common_prefix(kept.tokens, tokens), key) for key, kept in self._kept.items())
        size, key = max(shared, default=(0, -1))
        return key, size

    def take(self, key: int) -> Kept:
        kept = self._kept[key]
        self._drop(key)
        return kept

    def _drop(self, key: int) -> None:
        self.size_bytes -= self._kept.pop(key).state.nbytes


DRAFT_S = 60.0
"""Seconds after which no worker is still writing a draft."""
MAGIC = b"MOATKV01"
HEADER = struct.Struct("<8sIQI")
"""Magic, number of tokens, bytes of state, checksum of the state."""


@dataclass(frozen=True, eq=False, slots=True)
class Stored:
    path: Path
    tokens: Tokens
    size: int


def folder_for(root: Path, model: Path, shape: object) -> Path:
    """Returns the folder for states of exactly this model file and shape: others do not fit."""
    mark = repr((*file_mark(model), shape))
    return root / hashlib.sha256(mark.encode()).hexdigest()[:32]


def file_mark(path: Path) -> tuple[str, int, int]:
    """Returns a mark that changes when another file replaces this one."""
    found = path.stat()
    return str(path), found.st_size, found.st_mtime_ns


class DiskCache:
    """The states of conversations in a folder on disk. The least recently used go first."""

    def __init__(self, folder: Path, capacity_bytes: int) -> None:
        self._folder = folder
        self._capacity_bytes = capacity_bytes
        self._stored: list[Stored] = []
        for place in (folder.parent, folder):  # parents=True would leave the outer one open to all
            place.mkdir(mode=0o700, parents=True, exist_ok=True)

    def load(self) -> list[Kept]:
        """Returns what an earlier run left, the oldest first. Removes files that are not valid,
        and those that exceed the capacity.

        Another worker of the same model may be using the folder until it ends.
        """
        for draft in self._folder.glob("*.draft"):
            if time.time() - _used_at(draft) > DRAFT_S:
                _remove(draft)
        found: list[Kept] = []
        for path in sorted(self._folder.glob("*.kv"), key=_used_at):
            with contextlib.suppress(OSError):
                kept, size = _read(path), path.stat().st_size
                if kept is None:
                    _remove(path)
                    continue
                self._stored.append(Stored(path, kept.tokens, size))
                found.append(kept)
        return found[self._make_room(0) :]

    def holds(self, tokens: Tokens) -> bool:
        """Whether a stored conversation begins with these tokens. If so, it counts as used now."""
        for stored in self._stored:
            if _begins_with(stored.tokens, tokens):
                self._use(stored)
                return True
        return False

    def best(self, tokens: Tokens) -> tuple[Stored | None, int]:
        """Returns the conversation that shares most with `tokens`, or None, and how much."""
        best, most = None, 0
        for stored in self._stored:
            shared = common_prefix(stored.tokens, tokens)
            if shared > most:
                best, most = stored, shared
        return best, most

    def read(self, stored: Stored) -> Kept | None:
        """Reads a conversation, which counts as used now. Drops a damaged one and returns None."""
        try:
            kept = _read(stored.path)
        except OSError:
            kept = None
        if kept is None or not kept.is_whole():
            self.drop(stored)
            return None
        self._use(stored)
        return kept

    def has_room(self, tokens: Tokens, state_bytes: int, newer: Sequence[Tokens]) -> bool:
        """Whether it fits beside the `newer` ones. Else they would replace each other for ever."""
        staying = sum(
            stored.size
            for stored in self._stored
            if any(_begins_with(stored.tokens, other) for other in newer)
            and not _begins_with(tokens, stored.tokens)
        )
        return staying + _file_bytes(tokens, state_bytes) <= self._capacity_bytes

    def store(self, kept: Kept) -> bool:
        """Stores a conversation. Returns False if it is too large, or after an error, such as a
        full disk: then nothing more is stored, and conversations are only read again."""
        size = _file_bytes(kept.tokens, kept.state.nbytes)
        if size > self._capacity_bytes:
            return False
        name = hashlib.sha256(kept.tokens.tobytes()).hexdigest()[:32]
        path = self._folder / f"{name}.kv"
        try:
            _write(path, kept)
        except OSError:
            _remove(path.with_suffix(".draft"))
            self._capacity_bytes = 0
            return False
        # The earlier states of the conversation go only now: on a full disk they stay.
        for old in [old for old in self._stored if _begins_with(kept.tokens, old.tokens)]:
            self._stored.remove(old)
            if old.path != path:
                _remove(old.path)
        self._make_room(size)
        self._stored.append(Stored(path, kept.tokens, size))
        return True

    def _make_room(self, size: int) -> int:
        """Drops the least recently used until `size` more bytes fit. Returns their number."""
        dropped = 0
        while self._stored and sum(old.size for old in self._stored) + size > self._capacity_bytes:
            self.drop(self._stored[0])
            dropped += 1
        return dropped

    def drop(self, stored: Stored) -> None:
        _remove(stored.path)
        self._stored.remove(stored)

    def _use(self, stored: Stored) -> None:
        self._stored.remove(stored)
        self._stored.append(stored)
        with contextlib.suppress(OSError):
            os.utime(stored.path)


def _used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _begins_with(tokens: Tokens, beginning: Tokens) -> bool:
    return common_prefix(tokens, beginning) == len(beginning)


def _file_bytes(tokens: Tokens, state_bytes: int) -> int:
    return HEADER.size + tokens.nbytes + state_bytes


def _write(path: Path, kept: Kept) -> None:
    draft = path.with_suffix(".draft")
    binary = getattr(os, "O_BINARY", 0)  # or Windows turns line ends into two bytes
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | binary, 0o600)
    with os.fdopen(handle, "wb") as file:
        checksum = zlib.crc32(kept.state.data)
        file.write(HEADER.pack(MAGIC, len(kept.tokens), kept.state.nbytes, checksum))
        file.write(kept.tokens.tobytes())
        file.write(kept.state.data)
    draft.replace(path)


def _read(path: Path) -> Kept | None:
    """Reads the tokens and maps the state, which is read and checked later; None if not valid."""
    with path.open("rb") as file:
        head = file.read(HEADER.size)
        if len(head) < HEADER.size:
            return None
        magic, count, size, checksum = HEADER.unpack(head)
        begin = HEADER.size + 4 * count
        if magic != MAGIC or path.stat().st_size != begin + size:
            return None
        tokens: Tokens = np.frombuffer(file.read(4 * count), np.int32)
    state: NDArray[np.uint8] = np.memmap(path, np.uint8, "r", begin, (size,))
    return Kept(tokens, state, checksum)


def _remove(path: Path) -> None:
    """Removes a file. If the system refuses, as for a mapped file, the next start finds it."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
