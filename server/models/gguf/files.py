"""Reads and checks GGUF files within limits.

A damaged file is refused, with the defect named, before native code sees it. Headers are cached by
path, size and modification time, so that cards, estimates and loads share them.
"""

import glob
import hashlib
import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from server.errors import ModelDamaged
from server.models.gguf.header import Header
from server.models.gguf.parse import MAX_HEADER_BYTES, HeaderCut, parse, peek
from server.models.gguf.plausible import defect, missing
from server.sentences import Sentence

FIRST_LOOK_BYTES = 1 << 20
MAX_SHARDS = 999
SHARD = re.compile(r"^(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf$")


def check(path: Path) -> Header:
    """Returns the header of a file, or of all files of a split model. Raises ModelDamaged."""
    try:
        shards = tuple(shard_paths(path))
        headers = [_read_file(shard) for shard in shards]
    except OSError as error:
        raise ModelDamaged(
            path.name, Sentence("it cannot be read ({0})", error.strerror)
        ) from error
    header = _join(path, headers)
    wrong = missing(header) or defect(header)
    if wrong:
        raise ModelDamaged(path.name, wrong)
    return header


def shard_paths(path: Path) -> Iterator[Path]:
    """Yields the files of a model in order: the path itself, or all parts of a split model."""
    match = SHARD.match(path.name)
    if not match:
        yield path
        return
    count = int(match["count"])
    if match["number"] != "00001" or not 1 <= count <= MAX_SHARDS:
        raise ModelDamaged(path.name, Sentence("it is not the first file of a split model"))
    for number in range(1, count + 1):
        shard = path.with_name(f"{match['stem']}-{number:05d}-of-{count:05d}.gguf")
        if not os.path.isfile(shard):  # noqa: PTH113 - pathlib's raises without permission to look
            raise ModelDamaged(
                path.name, Sentence("file {0} of {1} is missing ({2})", number, count, shard.name)
            )
        yield shard


def _read_file(path: Path) -> Header:
    size = path.stat().st_size
    look = FIRST_LOOK_BYTES
    with path.open("rb") as file:
        while True:
            file.seek(0)
            data = file.read(look)
            try:
                return parse(data, size, path.name)
            except HeaderCut:
                if look >= size or look >= MAX_HEADER_BYTES:
                    raise ModelDamaged(
                        path.name, Sentence("it ends in the middle of its header")
                    ) from None
            look = min(look * 4, MAX_HEADER_BYTES)


def _join(path: Path, headers: list[Header]) -> Header:
    first = headers[0]
    said = first.metadata.get("split.count", 1 if len(headers) == 1 else 0)
    if said != len(headers):
        raise ModelDamaged(
            path.name,
            Sentence("it is one of {0} files, but its name speaks of {1}", said, len(headers)),
        )
    for number, header in enumerate(headers):
        if len(headers) > 1 and header.metadata.get("split.no") != number:
            raise ModelDamaged(path.name, Sentence("file {0} says it is another part", number + 1))
    tensors = tuple(tensor for header in headers for tensor in header.tensors)
    wanted = first.metadata.get("split.tensors.count", len(tensors))
    if wanted != len(tensors) or len({tensor.name for tensor in tensors}) != len(tensors):
        raise ModelDamaged(
            path.name, Sentence("its files hold {0} tensors instead of {1}", len(tensors), wanted)
        )
    return replace(
        first,
        tensors=tensors,
        file_bytes=sum(header.file_bytes for header in headers),
        shards=len(headers),
    )


KEPT = 64
PEEK_BYTES = 256 * 1024
HASHED = re.compile(r"(?:sha256[-:])?([0-9a-f]{64})")
"""Matches names that stores such as Ollama's give to files: their SHA-256."""
Stamp = tuple[str, int, int]
"""The path, size and time of a file; of a split model, the size of all parts and the last time."""


class Headers:
    """A cache of headers. It may be called from threads: reading a header twice does no harm."""

    def __init__(self) -> None:
        self._whole: OrderedDict[Stamp, Header | ModelDamaged] = OrderedDict()
        self._peeked: dict[Stamp, Header | None] = {}
        self._digests: dict[Stamp, str] = {}

    def check(self, path: Path) -> Header:
        """Returns the checked header. Raises ModelDamaged, also from the cache."""
        stamp = _stamp(path)
        found = self._whole.get(stamp)
        if found is None:
            try:
                found = check(path)
            except ModelDamaged as error:
                found = error
            self._whole[stamp] = found
            while len(self._whole) > KEPT:
                self._whole.popitem(last=False)
        if isinstance(found, ModelDamaged):
            raise found.with_traceback(None)
        return found

    def peek(self, path: Path) -> Header | None:
        """Returns the first metadata, fast enough for long lists; None if it is not a GGUF file."""
        stamp = _stamp(path)
        if stamp not in self._peeked:
            try:
                with path.open("rb") as file:
                    self._peeked[stamp] = peek(file.read(PEEK_BYTES), stamp[1], path.name)
            except (OSError, ModelDamaged, HeaderCut):
                self._peeked[stamp] = None
        return self._peeked[stamp]

    def digest(self, path: Path) -> str:
        """Returns the file's SHA-256 if its name holds it, else a hash of its size and beginning.

        Hashing gigabytes for a list would take minutes. The beginning holds the header, which is
        enough to distinguish models.
        """
        stamp = _stamp(path)
        if stamp not in self._digests:
            try:
                named = HASHED.fullmatch(path.resolve().name)
                with path.open("rb") as file:
                    data = b"" if named else file.read(PEEK_BYTES)
                made = hashlib.sha256(f"{stamp[1]}\n".encode() + data).hexdigest()
                self._digests[stamp] = named[1] if named else made
            except (OSError, RuntimeError):
                self._digests[stamp] = hashlib.sha256(repr(stamp).encode()).hexdigest()
        return self._digests[stamp]


def _stamp(path: Path) -> Stamp:
    match = SHARD.match(path.name)
    try:
        pattern = f"{glob.escape(match['stem'])}-*-of-{match['count']}.gguf" if match else ""
        parts = list(path.parent.glob(pattern)) if match else [path]
        found = [part.stat() for part in parts] or [path.stat()]
    except OSError:
        return (str(path), 0, 0)
    return (str(path), sum(part.st_size for part in found), max(part.st_mtime_ns for part in found))
