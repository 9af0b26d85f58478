"""Parses the header of a GGUF file. Every read is checked against limits and the file's size."""

import math
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from server.errors import ModelDamaged
from server.models.gguf.header import FORMATS, Header, LongArray, Tensor
from server.sentences import Sentence

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_METADATA = 10_000
MAX_TENSORS = 20_000
MAX_KEY_BYTES = 512
MAX_STRING_BYTES = 4 << 20
MAX_ARRAY = 4 << 20
MAX_STRINGS = 2 << 20
"""Limit over all arrays. The largest vocabularies have 0.3 million tokens, 0.5 million merges."""
MAX_HEADER_BYTES = 64 << 20
MAX_DIMENSIONS = 4
MAX_SIZE = 1 << 40
MAX_NAME_BYTES = 63
KEPT_ARRAY = 1024
DEFAULT_ALIGNMENT = 32
MAX_ALIGNMENT = 1 << 20
STRING, ARRAY, INT32 = 8, 9, 5
TOKEN_TYPES = "tokenizer.ggml.token_type"
LAST_TOKEN_TYPE = 6
SCALARS: dict[int, tuple[str, struct.Struct]] = {
    0: ("uint8", struct.Struct("<B")),
    1: ("int8", struct.Struct("<b")),
    2: ("uint16", struct.Struct("<H")),
    3: ("int16", struct.Struct("<h")),
    4: ("uint32", struct.Struct("<I")),
    5: ("int32", struct.Struct("<i")),
    6: ("float32", struct.Struct("<f")),
    7: ("bool", struct.Struct("<B")),
    10: ("uint64", struct.Struct("<Q")),
    11: ("int64", struct.Struct("<q")),
    12: ("float64", struct.Struct("<d")),
}
U32, U64 = struct.Struct("<I"), struct.Struct("<Q")
KEY = re.compile(r"[A-Za-z0-9_.\-/ ]+")
TENSOR_NAME = re.compile(r"[!-~]+")


class HeaderCut(Exception):
    """The bytes at hand end before the header does. The file itself may be longer."""


def parse(data: bytes, file_bytes: int, name: str) -> Header:
    """Parses the header at the start of `data`. Raises HeaderCut if `data` is too short for it."""
    reader = _Reader(data, file_bytes, name)
    version, tensor_count, metadata_count = _begin(reader)
    metadata = dict(_read_metadata(reader, metadata_count))
    tensors = tuple(_read_tensor(reader) for _ in range(tensor_count))
    alignment = _alignment(reader, metadata)
    data_offset = -(-reader.at // alignment) * alignment
    _check_layout(reader, tensors, alignment, data_offset)
    return Header(metadata, tensors, file_bytes, kinds=reader.kinds, version=version)


def peek(data: bytes, file_bytes: int, name: str) -> Header:
    """Parses the metadata in `data` as far as it goes, without tensors: enough for an estimate."""
    reader = _Reader(data, file_bytes, name)
    _, _, metadata_count = _begin(reader)
    metadata: dict[str, Any] = {}
    try:
        for key, value in _read_metadata(reader, metadata_count):
            metadata[key] = value
    except HeaderCut:
        pass
    return Header(metadata, (), file_bytes, kinds=reader.kinds)


class _Reader:
    """A position in the bytes. Every step is checked against the bytes and the file's size."""

    def __init__(self, data: bytes, file_bytes: int, name: str) -> None:
        self.data = data
        self.at = 0
        self.name = name
        self.file_bytes = file_bytes
        self.strings_left = MAX_STRINGS
        self.kinds: dict[str, str] = {}

    def fail(self, what: str) -> ModelDamaged:
        return ModelDamaged(self.name, what)

    def skip(self, count: int) -> int:
        """Skips bytes and returns the offset where they begin."""
        start, self.at = self.at, self.at + count
        if self.at > self.file_bytes:
            raise self.fail(Sentence("it ends in the middle of its header (at byte {0})", start))
        if self.at > len(self.data):
            if self.at > MAX_HEADER_BYTES:
                raise self.fail(
                    Sentence("its header is larger than {0:.0f} MB", MAX_HEADER_BYTES / 1e6)
                )
            raise HeaderCut
        return start

    def u32(self) -> int:
        value: int = U32.unpack_from(self.data, self.skip(4))[0]
        return value

    def u64(self) -> int:
        value: int = U64.unpack_from(self.data, self.skip(8))[0]
        return value

    def text(self, what: str, most: int) -> str:
        found = self.octets(what, most)
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise self.fail(
                Sentence("{0} is not valid text (before byte {1})", what, self.at)
            ) from None

    def octets(self, what: str, most: int) -> bytes:
        size = self.u64()
        if size > most:
            raise self.fail(
                Sentence(
                    "the length of {0} is {1} bytes (at most {2} are allowed)", what, size, most
                )
            )
        start = self.skip(size)
        return self.data[start : self.at]


def _begin(reader: _Reader) -> tuple[int, int, int]:
    if reader.data[:4] != MAGIC:
        raise reader.fail(
            Sentence("it does not begin with the GGUF mark, so it is another kind of file")
        )
    reader.skip(4)
    version = reader.u32()
    if version not in VERSIONS:
        swapped = int.from_bytes(version.to_bytes(4, "little"), "big")
        kind = "big-endian" if swapped in VERSIONS else Sentence("version {0}", version)
        raise reader.fail(
            Sentence("it is a {0} GGUF file; only versions 2 and 3 can be read", kind)
        )
    tensor_count, metadata_count = reader.u64(), reader.u64()
    if tensor_count > MAX_TENSORS:
        raise reader.fail(
            Sentence("it claims {0} tensors (at most {1} are allowed)", tensor_count, MAX_TENSORS)
        )
    if metadata_count > MAX_METADATA:
        raise reader.fail(
            Sentence("it claims {0} metadata entries (at most {1})", metadata_count, MAX_METADATA)
        )
    return version, tensor_count, metadata_count


def _read_metadata(reader: _Reader, count: int) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for number in range(count):
        key = reader.text(Sentence("the name of metadata entry {0}", number), MAX_KEY_BYTES)
        if not KEY.fullmatch(key):
            raise reader.fail(
                Sentence("the name of metadata entry {0} has characters not allowed", number)
            )
        if key in seen:
            raise reader.fail(Sentence("the metadata entry {0} is there twice", key))
        seen.add(key)
        yield key, _read_value(reader, key, reader.u32())


def _read_value(reader: _Reader, key: str, kind: int) -> Any:
    if kind == STRING:
        return reader.text(key, MAX_STRING_BYTES)
    if kind == ARRAY:
        return _read_array(reader, key)
    if kind not in SCALARS:
        raise reader.fail(Sentence("{0} has the unknown type {1}", key, kind))
    reader.kinds[key] = SCALARS[kind][0]
    return _scalar(reader, key, kind, reader.skip(SCALARS[kind][1].size))


def _scalar(reader: _Reader, key: str, kind: int, at: int) -> Any:
    value = SCALARS[kind][1].unpack_from(reader.data, at)[0]
    if kind == 7:
        if value > 1:
            raise reader.fail(Sentence("{0} should be true or false but is {1}", key, value))
        return bool(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise reader.fail(Sentence("{0} is not a number", key))
    return value


def _read_array(reader: _Reader, key: str) -> Any:
    kind, count = reader.u32(), reader.u64()
    if count > MAX_ARRAY:
        raise reader.fail(
            Sentence("{0} claims {1} entries (at most {2} are allowed)", key, count, MAX_ARRAY)
        )
    if kind == STRING:
        return _read_strings(reader, key, count)
    if kind not in SCALARS:
        raise reader.fail(Sentence("{0} is an array of the unknown type {1}", key, kind))
    width = SCALARS[kind][1].size
    start = reader.skip(count * width)
    if key == TOKEN_TYPES and kind == INT32:
        _check_token_types(reader, start)
    if not _is_kept(key, count):
        return LongArray(SCALARS[kind][0], count)
    return tuple(_scalar(reader, key, kind, start + n * width) for n in range(count))


def _check_token_types(reader: _Reader, start: int) -> None:
    found = memoryview(reader.data)[start : reader.at].cast("i")
    if found and not (min(found) >= 0 and max(found) <= LAST_TOKEN_TYPE):
        raise reader.fail(Sentence("its list of token types holds unknown types"))


def _is_kept(key: str, count: int) -> bool:
    return count <= KEPT_ARRAY and not key.startswith("tokenizer.ggml.")


def _read_strings(reader: _Reader, key: str, count: int) -> Any:
    reader.strings_left -= count
    if reader.strings_left < 0:
        raise reader.fail(Sentence("it has more than {0} strings", MAX_STRINGS))
    if _is_kept(key, count):
        entries = (
            reader.octets(Sentence("entry {0} of {1}", n, key), MAX_STRING_BYTES)
            for n in range(count)
        )
        return tuple(entry.decode(errors="replace") for entry in entries)
    data, at, end = reader.data, reader.at, len(reader.data) - 8
    unpack = U64.unpack_from
    for number in range(count):
        if at > end:
            raise HeaderCut
        size = unpack(data, at)[0]
        if size > MAX_STRING_BYTES:
            raise reader.fail(
                Sentence("the length of entry {0} of {1} is {2} bytes", number, key, size)
            )
        at += 8 + size
    reader.skip(at - reader.at)
    return LongArray("string", count)


def _read_tensor(reader: _Reader) -> Tensor:
    name = reader.text(Sentence("the name of a tensor"), MAX_NAME_BYTES)
    if not TENSOR_NAME.fullmatch(name):
        raise reader.fail(
            Sentence("a tensor's name has characters not allowed (at byte {0})", reader.at)
        )
    dimensions = reader.u32()
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise reader.fail(Sentence("the tensor {0} has {1} dimensions", name, dimensions))
    shape = tuple(reader.u64() for _ in range(dimensions))
    if not all(0 < size <= MAX_SIZE for size in shape) or math.prod(shape) > MAX_SIZE:
        raise reader.fail(Sentence("the tensor {0} has the impossible shape {1}", name, shape))
    format_id = reader.u32()
    if format_id not in FORMATS:
        raise reader.fail(
            Sentence("the tensor {0} has the unknown number format {1}", name, format_id)
        )
    known = FORMATS[format_id]
    if shape[0] % known.block:
        raise reader.fail(
            Sentence(
                "the rows of the tensor {0} ({1}) are not whole {2} blocks",
                name,
                shape[0],
                known.name,
            )
        )
    return Tensor(name, shape, format_id, reader.u64())


def _alignment(reader: _Reader, metadata: Mapping[str, Any]) -> int:
    found = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(found, int) or not 1 <= found <= MAX_ALIGNMENT or found & (found - 1):
        raise reader.fail(Sentence("the alignment {0} is not a power of two", found))
    return found


def _check_layout(
    reader: _Reader, tensors: tuple[Tensor, ...], alignment: int, data_offset: int
) -> None:
    """Checks that the tensors follow each other without gaps and lie inside the file."""
    names: set[str] = set()
    expected = 0
    for tensor in tensors:
        if tensor.name in names:
            raise reader.fail(Sentence("the tensor {0} is there twice", tensor.name))
        names.add(tensor.name)
        if tensor.offset != expected:
            raise reader.fail(
                Sentence(
                    "the tensor {0} lies at {1} instead of {2}",
                    tensor.name,
                    tensor.offset,
                    expected,
                )
            )
        end = data_offset + tensor.offset + tensor.size_bytes
        if end > reader.file_bytes:
            missing = end - reader.file_bytes
            raise reader.fail(
                Sentence(
                    "the tensor {0} ends {1} bytes behind the file's end", tensor.name, missing
                )
            )
        expected = -(-(tensor.offset + tensor.size_bytes) // alignment) * alignment
