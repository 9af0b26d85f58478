"""Writes a GGUF of a real shape with random weights, to measure speed and memory without a
download.

python -m tests.bench.synthetic OUT.gguf --shape 8b

Its tokeniser has a token for each byte, so that ASCII text has as many tokens as letters, and
made-up words up to the size of Llama 3's vocabulary.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.kit.gguf_files import ALIGNMENT, Q4_0, Shape, Signed, metadata_of, size_of, tensors_of
from tests.kit.gguf_files import write as write_holes

TOKENS = 128_256
BLOCK_WEIGHTS, BLOCK_BYTES = 32, 18
TILE_BLOCKS = 1 << 16
CONTROL, USUAL = 3, 1
SHAPES = {
    "small": Shape(256, 2, 8, 4, 512, 4096, 8192, Q4_0, Q4_0),
    "1b": Shape(2048, 16, 32, 8, 8192, TOKENS, 131072, Q4_0, Q4_0),
    "3b": Shape(3072, 28, 24, 8, 8192, TOKENS, 131072, Q4_0, Q4_0),
    "8b": Shape(4096, 32, 32, 8, 14336, TOKENS, 131072, Q4_0, Q4_0),
}


def write(out: Path, shape: Shape) -> None:
    tensors = tensors_of(shape)
    header = write_holes(out, metadata_of(shape, **_words(shape.tokens)), tensors)
    at = -(-len(header.data) // ALIGNMENT) * ALIGNMENT
    with out.open("r+b") as file:
        for _name, sizes, kind in tensors:
            file.seek(at)
            size = size_of(sizes, kind)
            at += -(-size // ALIGNMENT) * ALIGNMENT
            if kind != Q4_0:
                file.write(np.ones(sizes[0], np.float32).tobytes())
                continue
            tile = _q4_0(sizes[0]).tobytes()
            for start in range(0, size, len(tile)):
                file.write(tile[: size - start])


def _words(count: int) -> dict[str, Any]:
    special = ["<unk>", "<s>", "</s>"]
    made_up = (f"w{number}" for number in range(count))
    tokens = [*special, *_byte_letters(), *made_up][:count]
    kinds = [Signed(CONTROL)] * len(special) + [Signed(USUAL)] * (count - len(special))
    return {"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": kinds}


def _byte_letters() -> list[str]:
    """Returns the character with which GPT-2's tokenisers write each byte."""
    own = {*range(33, 127), *range(161, 173), *range(174, 256)}
    other = [byte for byte in range(256) if byte not in own]
    return [chr(byte) for byte in sorted(own)] + [chr(256 + place) for place in range(len(other))]


def _q4_0(columns: int) -> npt.NDArray[np.uint8]:
    """Returns blocks of 32 weights: a half-precision scale and 16 bytes of random nibbles."""
    packed = np.random.default_rng(columns).integers(
        0, 256, (TILE_BLOCKS, BLOCK_BYTES), dtype=np.uint8
    )
    scale = np.full(TILE_BLOCKS, 0.6 / columns**0.5, np.float16)
    packed[:, :2] = scale.view(np.uint8).reshape(TILE_BLOCKS, 2)
    return packed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    given = parser.parse_args()
    write(given.out, SHAPES[given.shape])
