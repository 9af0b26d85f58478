"""Which files of a repository are fetched."""

import pytest

from server.errors import BadRequest
from server.models.hub import RemoteFile, Repository
from server.models.repository import files_of, find_choice, group

NAMES = ("m-Q4_0.gguf", "m-F16-00001-of-00002.gguf", "m-F16-00002-of-00002.gguf", "mmproj-F16.gguf")
FOUND = Repository(
    "a/b", "c", "", gated=False, files=tuple(RemoteFile(name, 9, "0") for name in NAMES)
)
MODELS, EYES = group(FOUND.files)


def fetched(wanted: str) -> list[str]:
    return [one.path for one in files_of(FOUND, find_choice(MODELS, EYES, wanted), MODELS, EYES)]


def test_a_model_comes_with_its_projector_and_all_its_parts():
    assert fetched("Q4_0") == ["m-Q4_0.gguf", "mmproj-F16.gguf"]
    assert fetched("m-F16-00001-of-00002.gguf") == list(NAMES[1:])


def test_a_projector_can_be_fetched_alone():
    assert fetched("mmproj-F16.gguf") == ["mmproj-F16.gguf"]


def test_a_file_that_was_renamed_is_the_one_of_its_quantisation():
    """A list of models has the names of its day: gpt-oss-20b-mxfp4.gguf became …-MXFP4.gguf."""
    assert fetched("old-name-q4_0.gguf") == ["m-Q4_0.gguf", "mmproj-F16.gguf"]
    twins = tuple(RemoteFile(name, 9, "0") for name in ("a-Q4_0.gguf", "b-Q4_0.gguf"))
    assert find_choice(*group(twins), "old-name-q4_0.gguf") is None
    for gone in ("old-name-Q2_K.gguf", "old-name.gguf", "mmproj-old-F16.gguf"):
        assert find_choice(MODELS, EYES, gone) is None


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(BadRequest, match=r"There are: Q4_0, F16\."):
        fetched("Q2_K")
