"""What a header says of its model, in the words the cards use."""

import pytest

from server.models.gguf.header import FORMATS, Header, Tensor

TENSOR = Tensor("blk.0.attn_q.weight", (256, 4), 12, 0)


def header(**metadata: object) -> Header:
    renamed = {key.replace("__", "."): value for key, value in metadata.items()}
    return Header({"general.architecture": "llama", **renamed}, (TENSOR,))


def test_sizes_follow_from_shape_and_format():
    assert (TENSOR.values, TENSOR.size_bytes) == (1024, 4 * FORMATS[12].block_bytes)
    assert header().parameters == 1024


def test_the_quantisation_is_what_the_file_says_or_what_most_weights_have():
    assert header(general__file_type=15).quantisation == "Q4_K_M"
    assert header().quantisation == "Q4_K"
    assert Header({}).quantisation == ""


@pytest.mark.parametrize(
    ("template", "style"),
    [
        ("{{ '<tool_call>' }}", "hermes"),
        ("[TOOL_CALLS]", "mistral"),
        ("{% if tools %}", "generic"),
        ("{{ x }}", ""),
    ],
)
def test_the_tool_style_is_read_from_the_template(template: str, style: str):
    assert header(tokenizer__chat_template=template).tool_style == style


def test_kinds_of_models_are_told_apart():
    assert header(llama__pooling_type=1).is_embedder
    assert not header().is_embedder
    assert header(general__type="mmproj").is_projector
