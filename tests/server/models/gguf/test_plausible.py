"""Headers that contradict themselves are named; real ones of every shape pass."""

import struct
from typing import Any

import pytest

from server.models.gguf.parse import parse
from server.models.gguf.plausible import defect
from tests.kit.gguf_files import Shape, head, metadata_of, tensors_of

BIG = 1 << 40
SHAPE = Shape()


def said(metadata: dict[str, Any], shape: Shape = SHAPE) -> str:
    return defect(parse(bytes(head(metadata, tensors_of(shape)).data), BIG, "a.gguf"))


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in metadata_of(SHAPE).items() if name != key}


def test_whole_models_pass():
    assert said(metadata_of(SHAPE)) == ""
    wide = Shape(architecture="qwen3", head_width=16)
    assert said(metadata_of(wide), wide) == ""


CONTRADICTIONS = {
    "block_count": (3, "3 layers"),
    "embedding_length": (64, "token table is 32 wide"),
    "attention.head_count": (5, "cannot share"),
    "attention.head_count_kv": (4, "attn_k.weight has shape"),
    "feed_forward_length": (96, "ffn_gate.weight has shape"),
    "context_length": (0, "context_length is 0"),
    "rope.dimension_count": (7, "rope.dimension_count is 7"),
    "attention.layer_norm_rms_epsilon": (-1.0, "epsilon is -1"),
    "rope.freq_base": ("x", "freq_base is x"),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_named(name: str):
    value, sentence = CONTRADICTIONS[name]
    assert sentence in said({**metadata_of(SHAPE), f"llama.{name}": value})


@pytest.mark.parametrize("name", ["block_count", "context_length", "embedding_length"])
def test_what_is_missing_is_named(name: str):
    assert said(without(f"llama.{name}")) == f"llama.{name} is missing"


def test_a_model_without_architecture_is_refused():
    assert "architecture" in said(without("general.architecture"))


def test_token_lists_must_fit_the_vocabulary():
    assert "299 tokens" in said({**metadata_of(SHAPE), "tokenizer.ggml.tokens": ["a"] * 299})
    assert "there are 300 tokens" in said(
        {**metadata_of(SHAPE), "tokenizer.ggml.bos_token_id": 300}
    )
    assert "list of float32" in said({**metadata_of(SHAPE), "tokenizer.ggml.scores": [1] * 300})


def test_a_tensor_of_another_shape_than_in_the_first_layer_is_named():
    tensors = tensors_of(SHAPE)
    at = next(n for n, one in enumerate(tensors) if one[0] == "blk.1.attn_q.weight")
    tensors[at] = ("blk.1.attn_q.weight", (16, 64), 0)
    header = parse(bytes(head(metadata_of(SHAPE), tensors).data), BIG, "a.gguf")
    assert "unlike in layer 0" in defect(header)


def test_a_number_of_the_wrong_type_is_named():
    writer = head(metadata_of(SHAPE), tensors_of(SHAPE))
    at = next(s for s in writer.spans if s.what == "value llama.block_count").start - 4
    writer.data[at : at + 4] = struct.pack("<I", 5)
    header = parse(bytes(writer.data), BIG, "a.gguf")
    assert defect(header) == "block_count is not a whole number"
