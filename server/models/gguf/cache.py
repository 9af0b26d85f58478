"""Headers already read, by file and time of change: cards, estimates and loads share them."""

import hashlib
import re
from collections import OrderedDict
from pathlib import Path

from server.errors import ModelDamaged
from server.models.gguf import files
from server.models.gguf.header import Header
from server.models.gguf.parse import HeaderCut, peek

KEPT = 64
PEEK_BYTES = 256 * 1024
HASHED = re.compile(r"(?:sha256[-:])?([0-9a-f]{64})")
"""How stores that name files by their content call them."""
Stamp = tuple[str, int, int]


class Headers:
    """Called from threads too: a header read twice does no harm."""

    def __init__(self) -> None:
        self._whole: OrderedDict[Stamp, Header | ModelDamaged] = OrderedDict()
        self._peeked: dict[Stamp, Header | None] = {}
        self._digests: dict[Stamp, str] = {}

    def check(self, path: Path) -> Header:
        """The checked header; raises ModelDamaged."""
        stamp = _stamp(path)
        found = self._whole.get(stamp)
        if found is None:
            try:
                found = files.check(path)
            except ModelDamaged as error:
                found = error
            self._whole[stamp] = found
            while len(self._whole) > KEPT:
                self._whole.popitem(last=False)
        if isinstance(found, ModelDamaged):
            raise found
        return found

    def peek(self, path: Path) -> Header | None:
        """A first look, quick enough for every file of a list; None where it is no GGUF file."""
        stamp = _stamp(path)
        if stamp not in self._peeked:
            try:
                with path.open("rb") as file:
                    self._peeked[stamp] = peek(file.read(PEEK_BYTES), stamp[1], path.name)
            except (OSError, ModelDamaged, HeaderCut):
                self._peeked[stamp] = None
        return self._peeked[stamp]

    def digest(self, path: Path) -> str:
        """The file's SHA-256 where its name says it; else that of its size and its beginning.

        To hash gigabytes for a list would take minutes. The header, which is in the beginning,
        tells models apart.
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
    try:
        found = path.stat()
    except OSError:
        return (str(path), 0, 0)
    return (str(path), found.st_size, found.st_mtime_ns)
