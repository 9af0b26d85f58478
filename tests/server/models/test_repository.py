"""Files become choices."""

import pytest

from server.models.hub import RemoteFile
from server.models.repository import group, quantisation


def files(*paths: str) -> list[RemoteFile]:
    return [RemoteFile(path, len(path), "0") for path in paths]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("Qwen3-8B-Q4_K_M.gguf", "Q4_K_M"),
        ("model.q8_0.gguf", "Q8_0"),
        ("UD-Q4_K_XL/big-UD-Q4_K_XL-00001-of-00002.gguf", "UD-Q4_K_XL"),
        ("m-IQ3_XXS.gguf", "IQ3_XXS"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("BF16/m.gguf", "BF16"),
        ("model.gguf", ""),
    ],
)
def test_the_quantisation_is_read_from_the_name(path: str, name: str):
    assert quantisation(path) == name


def test_split_files_are_one_choice_and_broken_sets_none():
    models, _ = group(
        files(
            "q/m-Q8_0-00001-of-00002.gguf", "q/m-Q8_0-00002-of-00002.gguf", "x-00001-of-00003.gguf"
        )
    )
    (choice,) = models
    assert choice.name == "q/m-Q8_0-00001-of-00002.gguf"
    assert len(choice.parts) == 2
    assert choice.size_bytes == 2 * len(choice.name)


def test_projectors_and_other_files_are_kept_apart():
    models, projectors = group(files("mmproj-F16.gguf", "m-Q4_K_M.gguf", "README.md", "../x.gguf"))
    assert [one.name for one in models] == ["m-Q4_K_M.gguf"]
    assert [one.name for one in projectors] == ["mmproj-F16.gguf"]
