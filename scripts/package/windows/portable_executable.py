"""Reads the target and the required libraries of a Windows program or library."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

AMD64 = 0x8664
PE32_PLUS = 0x20B
GUI, CONSOLE = 2, 3
_IMPORTS, _DELAYED = 1, 13
_OPTIONAL_HEADER = 24
_DIRECTORIES = _OPTIONAL_HEADER + 112
_SUBSYSTEM = _OPTIONAL_HEADER + 68


@dataclass(frozen=True, slots=True)
class Executable:
    machine: int
    subsystem: int
    imports: tuple[str, ...]
    """Libraries that are needed when it is loaded."""
    delayed: tuple[str, ...]
    """Libraries that are needed when one of their functions is first called."""


@dataclass(frozen=True, slots=True)
class _Section:
    address: int
    size: int
    offset: int


class NotExecutable(ValueError):
    pass


def read(data: bytes) -> Executable:
    start = _header(data)
    machine, count, optional_size = struct.unpack_from("<4xHH12xH", data, start)
    (magic,) = struct.unpack_from("<H", data, start + _OPTIONAL_HEADER)
    if magic != PE32_PLUS:
        raise NotExecutable("it is not made for 64 bits")
    sections = list(_sections(data, start + _OPTIONAL_HEADER + optional_size, count))
    (subsystem,) = struct.unpack_from("<H", data, start + _SUBSYSTEM)
    imports = _names(data, sections, _directory(data, start, _IMPORTS), size=20, at=12)
    delayed = _names(data, sections, _directory(data, start, _DELAYED), size=32, at=4)
    return Executable(machine, subsystem, tuple(imports), tuple(delayed))


def _header(data: bytes) -> int:
    if data[:2] != b"MZ" or len(data) < 64:
        raise NotExecutable("it has no header of an executable")
    (start,) = struct.unpack_from("<I", data, 60)
    if data[start : start + 4] != b"PE\0\0":
        raise NotExecutable("it is not made for Windows")
    return int(start)


def _sections(data: bytes, at: int, count: int) -> Iterator[_Section]:
    for number in range(count):
        size, address, raw_size, offset = struct.unpack_from("<4I", data, at + 40 * number + 8)
        yield _Section(address, max(size, raw_size), offset)


def _directory(data: bytes, start: int, number: int) -> int:
    (address,) = struct.unpack_from("<I", data, start + _DIRECTORIES + 8 * number)
    return int(address)


def _names(
    data: bytes, sections: list[_Section], address: int, *, size: int, at: int
) -> Iterator[str]:
    """Yields the libraries in a table. Its entries have a fixed size; an empty one ends it."""
    if not address:
        return
    place = _offset(sections, address)
    while True:
        (name,) = struct.unpack_from("<I", data, place + at)
        if not name:
            return
        begin = _offset(sections, name)
        yield data[begin : data.index(b"\0", begin)].decode("ascii").lower()
        place += size


def _offset(sections: list[_Section], address: int) -> int:
    for section in sections:
        if section.address <= address < section.address + section.size:
            return address - section.address + section.offset
    raise NotExecutable(f"address {address:#x} lies in none of its parts")
