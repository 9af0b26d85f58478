"""Every kind of damage in a header has its own sentence."""

import struct

import pytest

from server.errors import ModelDamaged
from server.models.gguf.parse import HeaderCut, parse, peek
from tests.kit.gguf_files import HeadWriter, Shape, head, metadata_of, tensors_of

BIG = 1 << 30


def whole() -> HeadWriter:
    shape = Shape()
    return head(metadata_of(shape), tensors_of(shape))


def changed(what: str, data: bytes, number: int = 0) -> bytes:
    writer = whole()
    span = [span for span in writer.spans if span.what == what][number]
    writer.data[span.start : span.start + len(data)] = data
    return bytes(writer.data)


def u32(value: int) -> bytes:
    return struct.pack("<I", value)


def u64(value: int) -> bytes:
    return struct.pack("<Q", value)


CASES = {
    "another kind of file": changed("magic", b"PK\3\4"),
    "version 1 GGUF": changed("version", u32(1)),
    "big-endian": changed("version", struct.pack(">I", 3)),
    "tensors .at most": changed("tensor count", u64(1 << 40)),
    "metadata entries": changed("metadata count", u64(1 << 40)),
    "the length of the name of metadata entry 0": changed("length of key", u64(1 << 62)),
    "characters not allowed": changed("key", b"\x01"),
    "unknown type 77": changed("type", u32(77)),
    "array of the unknown type 9": changed("array type", u32(9)),
    "claims .* entries": changed("array count", u64(1 << 50)),
    "the length of entry 0 of tokenizer.ggml.tokens": changed("length of entry", u64(1 << 50)),
    "token types holds unknown": changed("entry", u32(99), 301),
    "is not a number": changed("value llama.rope.freq_base", struct.pack("<f", float("nan"))),
    "not valid text": changed("value general.name", b"\xff\xff"),
    "has 9 dimensions": changed("dimensions", u32(9)),
    "impossible shape": changed("dimension", u64(1 << 63)),
    "unknown number format": changed("format", u32(4)),
    "not whole Q4_K blocks": changed("format", u32(12)),
    "lies at 64 instead of 0": changed("offset", u64(64)),
    "is there twice": changed("tensor name", b"blk.0.attn_k", 6),
}


@pytest.mark.parametrize("sentence", CASES)
def test_the_defect_is_named(sentence: str):
    with pytest.raises(ModelDamaged, match=sentence):
        parse(CASES[sentence], BIG, "a.gguf")


def test_an_alignment_must_be_a_power_of_two():
    writer = head({**metadata_of(Shape()), "general.alignment": 33}, tensors_of(Shape()))
    with pytest.raises(ModelDamaged, match="alignment"):
        parse(bytes(writer.data), BIG, "a.gguf")


def test_too_few_bytes_are_not_damage_while_the_file_goes_on():
    data = bytes(whole().data)
    for cut in (10, 100, 2000, len(data) - 1):
        with pytest.raises(HeaderCut):
            parse(data[:cut], BIG, "a.gguf")


def test_a_peek_takes_what_is_there():
    data = bytes(whole().data)[:1500]
    header = peek(data, BIG, "a.gguf")
    assert header.number("block_count") == 2
    assert header.tensors == ()
    assert header.template == ""
