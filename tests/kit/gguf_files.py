"""Writes GGUF files for tests: small complete models, real shapes, files of several parts."""

import os
import random
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.models.gguf.header import FORMATS

ALIGNMENT = 32
F32, F16, Q4_0, Q8_0, Q4_K, Q6_K = 0, 1, 2, 8, 12, 14
Tensors = Sequence[tuple[str, tuple[int, ...], int]]


class Signed(int):
    """A number that is written as int32."""


@dataclass
class Span:
    """A field of the header: its name and its place."""

    what: str
    start: int
    size: int


@dataclass
class HeadWriter:
    data: bytearray = field(default_factory=bytearray)
    spans: list[Span] = field(default_factory=list)

    def put(self, what: str, data: bytes) -> None:
        self.spans.append(Span(what, len(self.data), len(data)))
        self.data += data

    def number(self, what: str, layout: str, value: float) -> None:
        self.put(what, struct.pack(layout, value))

    def text(self, what: str, text: str) -> None:
        data = text.encode()
        self.number(f"length of {what}", "<Q", len(data))
        self.put(what, data)

    def value(self, key: str, value: Any) -> None:
        kind = _kind(value)
        self.number("type", "<I", kind)
        if kind == 9:
            inner = _kind(value[0])
            self.number("array type", "<I", inner)
            self.number("array count", "<Q", len(value))
            for one in value:
                self.plain("entry", inner, one)
        else:
            self.plain(f"value {key}", kind, value)

    def plain(self, what: str, kind: int, value: Any) -> None:
        if kind == 8:
            self.text(what, value)
        else:
            layout = {4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q"}[kind]
            self.number(what, layout, value)


def _kind(value: Any) -> int:
    if isinstance(value, bool):
        return 7
    kinds: dict[type, int] = {int: 4, float: 6, str: 8, list: 9, Signed: 5}
    return kinds[type(value)]


def head(metadata: dict[str, Any], tensors: Tensors, version: int = 3) -> HeadWriter:
    writer = HeadWriter()
    writer.put("magic", b"GGUF")
    writer.number("version", "<I", version)
    writer.number("tensor count", "<Q", len(tensors))
    writer.number("metadata count", "<Q", len(metadata))
    for key, value in metadata.items():
        writer.text("key", key)
        writer.value(key, value)
    offset = 0
    for name, shape, format_id in tensors:
        writer.text("tensor name", name)
        writer.number("dimensions", "<I", len(shape))
        for size in shape:
            writer.number("dimension", "<Q", size)
        writer.number("format", "<I", format_id)
        writer.number("offset", "<Q", offset)
        offset += _padded(size_of(shape, format_id))
    return writer


def size_of(shape: Iterable[int], format_id: int) -> int:
    values = 1
    for size in shape:
        values *= size
    return FORMATS[format_id].size(values)


def write(path: Path, metadata: dict[str, Any], tensors: Tensors, version: int = 3) -> HeadWriter:
    """Writes a complete file. Its weights are holes (zeros), so that large shapes cost no disk."""
    writer = head(metadata, tensors, version)
    data_bytes = sum(_padded(size_of(shape, kind)) for _, shape, kind in tensors)
    with path.open("wb") as file:
        file.write(writer.data)
        file.truncate(_padded(len(writer.data)) + data_bytes)
    return writer


def fill(path: Path, header_bytes: int, seed: int = 0) -> None:
    """Writes small random bytes over the weights, so that every page exists on disk."""
    source = random.Random(seed)
    block = bytes(source.randrange(0, 48) for _ in range(1 << 20))
    with path.open("r+b") as file:
        start, end = _padded(header_bytes), os.fstat(file.fileno()).st_size
        file.seek(start)
        while file.tell() < end:
            file.write(block[: end - file.tell()])


def _padded(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class Shape:
    """The sizes of a llama-like model."""

    width: int = 32
    layers: int = 2
    heads: int = 4
    key_heads: int = 2
    forward: int = 64
    tokens: int = 300
    context: int = 256
    weights: int = F32
    table: int = F32
    architecture: str = "llama"
    head_width: int = 0
    experts: int = 0
    """The number in each layer of a mixture model. At most eight of them are used per token."""

    @property
    def key(self) -> int:
        return self.head_width or self.width // self.heads


def metadata_of(shape: Shape, **more: Any) -> dict[str, Any]:
    own = {
        "block_count": shape.layers,
        "context_length": shape.context,
        "embedding_length": shape.width,
        "feed_forward_length": shape.forward,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.key_heads,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 10000.0,
        "rope.dimension_count": shape.key,
    }
    if shape.head_width:
        own |= {"attention.key_length": shape.key, "attention.value_length": shape.key}
    if shape.experts:
        own |= {"expert_count": shape.experts, "expert_used_count": min(8, shape.experts)}
        own["expert_feed_forward_length"] = shape.forward
    return {
        "general.architecture": shape.architecture,
        "general.name": "Tiny",
        "general.license": "apache-2.0",
        **{f"{shape.architecture}.{key}": value for key, value in own.items()},
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": _tokens(shape.tokens),
        "tokenizer.ggml.token_type": [Signed(1)] * shape.tokens,
        "tokenizer.ggml.merges": ["a b", "c d"],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}",
        **more,
    }


def _tokens(count: int) -> list[str]:
    letters = [chr(code) for code in range(33, 127)]
    return (["<unk>", "<s>", "</s>", *letters] + [f"token{n}" for n in range(count)])[:count]


def tensors_of(shape: Shape) -> list[tuple[str, tuple[int, ...], int]]:
    width, keys, kind = shape.width, shape.key_heads * shape.key, shape.weights
    queries = shape.heads * shape.key
    tensors: list[tuple[str, tuple[int, ...], int]] = [
        ("token_embd.weight", (width, shape.tokens), shape.table),
        ("output_norm.weight", (width,), F32),
        ("output.weight", (width, shape.tokens), shape.table),
    ]
    for number in range(shape.layers):
        layer: list[tuple[str, tuple[int, ...], int]] = [
            ("attn_norm.weight", (width,), F32),
            ("attn_q.weight", (width, queries), kind),
            ("attn_k.weight", (width, keys), kind),
            ("attn_v.weight", (width, keys), kind),
            ("attn_output.weight", (queries, width), kind),
            ("ffn_norm.weight", (width,), F32),
            *_forward(shape),
        ]
        if shape.architecture.startswith("qwen3"):
            layer += [
                ("attn_q_norm.weight", (shape.key,), F32),
                ("attn_k_norm.weight", (shape.key,), F32),
            ]
        tensors += [(f"blk.{number}.{name}", size, kind) for name, size, kind in layer]
    return tensors


def _forward(shape: Shape) -> list[tuple[str, tuple[int, ...], int]]:
    width, kind = shape.width, shape.weights
    end, more = ("_exps.weight", (shape.experts,)) if shape.experts else (".weight", ())
    found: list[tuple[str, tuple[int, ...], int]] = [
        (f"ffn_gate{end}", (width, shape.forward, *more), kind),
        (f"ffn_up{end}", (width, shape.forward, *more), kind),
        (f"ffn_down{end}", (shape.forward, width, *more), kind),
    ]
    if shape.experts:
        found.append(("ffn_gate_inp.weight", (width, shape.experts), F32))
    return found


def write_model(path: Path, shape: Shape | None = None, **more: Any) -> HeadWriter:
    """Writes a complete model of that shape; the default is tiny."""
    shape = shape or Shape()
    path.parent.mkdir(parents=True, exist_ok=True)
    return write(path, metadata_of(shape, **more), tensors_of(shape))
