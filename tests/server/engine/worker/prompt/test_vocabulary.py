"""Long texts become the same tokens in parts, and are refused before all of them is read."""

import random
from pathlib import Path

import numpy as np
import pytest

from server.engine.base import EngineOptions
from server.engine.causes import JobRefused
from server.engine.worker.load import backends, selftest
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib
from server.engine.worker.prompt.vocabulary import Markers, Unwanted, Vocabulary

TURN = "<|im_start|>user\nhi there<|im_end|>\n"


@pytest.fixture(scope="module")
def words(starter_model: Path) -> Vocabulary:
    backends.load(selftest.usual())
    lib.llama_backend_init()
    return Model(starter_model, EngineOptions(), lambda _done: None).vocabulary


def test_a_long_text_in_parts_has_the_tokens_of_the_whole(words: Vocabulary) -> None:
    chance = random.Random(1)
    pieces = ["a", " ", "<", "|", "im_end", "\n", "é", "words and ", *words.special_tokens()]
    for text in (TURN * 900, "a b " * 9000, "".join(chance.choices(pieces, k=9000))):
        for bos in (False, True):
            whole = words._tokenize(text, special=True, bos=bos)
            assert np.array_equal(words.tokenize(text, bos=bos), whole)


def test_a_text_that_is_too_long_is_refused_by_its_beginning(words: Vocabulary) -> None:
    for text in ("a" * 30_000_000, TURN * 500_000):
        asked = 0

        def is_wanted() -> bool:
            nonlocal asked
            asked += 1
            return True

        with pytest.raises(JobRefused, match="about") as refused:
            words.tokenize_prompt(text, 4000, is_wanted)
        assert refused.value.facts["needed"] > 1_000_000
        assert asked < 20


def test_nobody_waits_any_more_so_it_ends(words: Vocabulary) -> None:
    left = iter([True, True, False])
    with pytest.raises(Unwanted):
        words.tokenize(TURN * 2000, is_wanted=lambda: next(left))


def test_a_text_is_not_cut_where_another_marker_reaches_over() -> None:
    markers = Markers(["<a>", "x<a", "<b>"], ["<a>", "x<a", "<b>"])
    text = "-" * 5000 + "x<a>" + "-" * 9 + "<b>" + "-" * 20
    parts = list(markers.parts(text))
    assert "".join(parts) == text
    assert parts[1].startswith("x<a>")
