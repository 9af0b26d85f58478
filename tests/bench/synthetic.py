"""A GGUF of a real shape with random weights, for measuring speed and memory without a download.

python tests/bench/synthetic.py VOCABULARY.gguf OUT.gguf --shape 8b
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

COPIED = "tokenizer."


@dataclass(frozen=True)
class Shape:
    layers: int
    width: int
    feed_forward: int
    heads: int
    kv_heads: int


SHAPES = {
    "1b": Shape(16, 2048, 8192, 32, 8),
    "3b": Shape(28, 3072, 8192, 24, 8),
    "8b": Shape(32, 4096, 14336, 32, 8),
}


def write(vocabulary: Path, out: Path, shape: Shape) -> None:
    words = gguf.GGUFReader(vocabulary)
    size = len(words.fields["tokenizer.ggml.tokens"].data)
    writer = gguf.GGUFWriter(out, "llama")
    writer.add_name("synthetic")
    writer.add_block_count(shape.layers)
    writer.add_context_length(131072)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(500000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(size)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    for name, field in words.fields.items():
        if name.startswith(COPIED):
            kind = field.types[0]
            inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), kind, sub_type=inner)
    for name, rows, columns in _tensors(shape, size):
        if columns == 0:
            writer.add_tensor(name, np.ones(rows, np.float32))
        else:
            quantised = gguf.GGMLQuantizationType.Q4_0
            writer.add_tensor(name, _q4_0(rows, columns), raw_dtype=quantised)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(shape: Shape, words: int) -> Iterator[tuple[str, int, int]]:
    """Name, rows, columns; no columns: a norm."""
    kv_width = shape.width // shape.heads * shape.kv_heads
    yield "token_embd.weight", words, shape.width
    yield "output_norm.weight", shape.width, 0
    yield "output.weight", words, shape.width
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        yield f"{block}.attn_norm.weight", shape.width, 0
        yield f"{block}.ffn_norm.weight", shape.width, 0
        yield f"{block}.attn_q.weight", shape.width, shape.width
        yield f"{block}.attn_k.weight", kv_width, shape.width
        yield f"{block}.attn_v.weight", kv_width, shape.width
        yield f"{block}.attn_output.weight", shape.width, shape.width
        yield f"{block}.ffn_gate.weight", shape.feed_forward, shape.width
        yield f"{block}.ffn_up.weight", shape.feed_forward, shape.width
        yield f"{block}.ffn_down.weight", shape.width, shape.feed_forward


def _q4_0(rows: int, columns: int) -> npt.NDArray[np.uint8]:
    """Blocks of 32 weights: a half-precision scale and 16 bytes of random nibbles."""
    blocks = rows * columns // 32
    random = np.random.default_rng(rows * 31 + columns)
    packed = random.integers(0, 256, (blocks, 18), dtype=np.uint8)
    scale = np.full(blocks, 0.6 / columns**0.5, np.float16)
    packed[:, :2] = scale.view(np.uint8).reshape(blocks, 2)
    return packed.reshape(rows, columns // 32 * 18)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vocabulary", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    given = parser.parse_args()
    write(given.vocabulary, given.out, SHAPES[given.shape])
