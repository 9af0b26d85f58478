"""Damaged copies of a GGUF file: fields with bad values, bytes overwritten, removed or inserted."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

from tests.kit.gguf_files import HeadWriter, Span, write_model

EDGES = (0, 1, 2, 7, 31, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63, 2**64 - 1)
FREE_TEXT = ("key", "tensor name", "entry", "value general.name", "value general.license")
Mutate = Callable[[random.Random, bytearray, HeadWriter], str]


def structural(writer: HeadWriter) -> list[Span]:
    """Returns the fields that matter to a loader: all except free text."""
    return [
        span
        for span in writer.spans
        if span.size and span.what not in FREE_TEXT and "template" not in span.what
    ]


def set_field(source: random.Random, data: bytearray, writer: HeadWriter) -> str:
    span = source.choice(structural(writer))
    before = int.from_bytes(data[span.start : span.start + span.size], "little")
    most = 1 << (8 * span.size)
    near = [before + 1, before - 1, before * 2, before ^ (1 << source.randrange(8 * span.size))]
    after = source.choice([*near, *EDGES, source.randrange(most)]) % most
    data[span.start : span.start + span.size] = after.to_bytes(span.size, "little")
    return f"{span.what}: {before} -> {after}"


def overwrite(source: random.Random, data: bytearray, writer: HeadWriter) -> str:
    at = source.randrange(len(writer.data) - 8)
    data[at : at + 8] = struct.pack("<Q", source.randrange(1 << 64))
    return f"8 random bytes at {at}"


def truncate(source: random.Random, data: bytearray, writer: HeadWriter) -> str:
    del data[source.randrange(len(data)) :]
    return f"cut to {len(data)} bytes"


def remove(source: random.Random, data: bytearray, writer: HeadWriter) -> str:
    at, size = source.randrange(len(writer.data)), source.randrange(1, 64)
    del data[at : at + size]
    return f"{size} bytes removed at {at}"


def insert(source: random.Random, data: bytearray, writer: HeadWriter) -> str:
    at, size = source.randrange(len(writer.data)), source.randrange(1, 64)
    data[at:at] = source.randbytes(size)
    return f"{size} bytes inserted at {at}"


MUTATIONS: tuple[Mutate, ...] = (
    set_field,
    set_field,
    set_field,
    overwrite,
    truncate,
    remove,
    insert,
)


class Mutants:
    """Makes mutants. The same number always gives the same mutant."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "whole.gguf"
        self._writer = write_model(self._path)
        self._whole = self._path.read_bytes()

    def make(self, number: int, path: Path) -> str:
        """Writes the mutant and returns a description of the damage."""
        source = random.Random(number)
        done = ""
        data = bytearray(self._whole)
        while bytes(data) == self._whole:
            done = source.choice(MUTATIONS)(source, data, self._writer)
        path.write_bytes(data)
        return done
