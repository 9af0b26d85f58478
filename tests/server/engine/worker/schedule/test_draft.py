"""A second model that guesses changes no word, and keeps nobody waiting."""

from pathlib import Path

import numpy as np
import pytest

from server.engine.base import EngineOptions
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import NativeLog
from server.engine.worker.load.plan import make_plan
from server.engine.worker.schedule.draft import LEAST_READ, NEAR, DraftModel
from tests.kit.worker_client import WorkerClient

JOB = {
    "prompt": "The weather in Paris is",
    "max_tokens": 16,
    "sampling": {"temperature": 0.0, "ignore_eos": True},
}


def test_a_draft_model_saves_steps_and_changes_no_word(
    worker: WorkerClient, quick_starter: Path
) -> None:
    plain = worker.generate(**JOB)
    client = WorkerClient(
        quick_starter, slots=1, context_tokens=512, draft_model=str(quick_starter)
    )
    # The first words are slow, and how long reading takes decides whether a guess is tried.
    client.generate(prompt="and " * 100, max_tokens=1)
    before = client.ask("stats")["value"]
    drafted = client.generate(**JOB)
    after = client.ask("stats")["value"]
    client.close()
    assert drafted.text == plain.text
    assert after["accepted_tokens"] > 0
    assert after["steps"] - before["steps"] < 16


@pytest.fixture(scope="module")
def model(quick_starter: Path) -> Model:
    log = NativeLog()
    log.mute_while(lambda: True)
    log.install()
    options = EngineOptions(slots=2, context_tokens=512, threads=1)
    return Model(quick_starter, options, lambda _done: None)


@pytest.fixture(scope="module")
def draft(model: Model) -> DraftModel:
    return DraftModel(model.path, model, make_plan(model, model.options))


def test_a_long_text_is_read_in_chunks_between_the_steps(draft: DraftModel) -> None:
    tokens = np.arange(1000, 1000 + 3 * LEAST_READ, dtype=np.int32)
    guesses, read_s = [], []
    for _ in range(4):
        draft.begin_step(spare_s=0.0)
        guesses.append(draft.guess(0, tokens, 2))
        read_s.append(draft.caught_up_s)
    assert [len(guess) for guess in guesses] == [0, 0, 0, 2]
    assert [seconds > 0 for seconds in read_s] == [True, True, True, False]


def test_after_a_long_text_it_guesses_what_follows(draft: DraftModel, model: Model) -> None:
    words = model.vocabulary
    counting = ", ".join(str(number) for number in range(10, 99))
    tokens = words.tokenize(f"{counting}, 9")
    assert len(tokens) > 300
    guess: list[int] = []
    steps = 0
    while not guess:
        draft.begin_step(spare_s=0.05)
        guess = draft.guess(0, tokens, 2)
        steps += 1
    assert steps > 1
    assert words.piece(guess[0]) == b"9"


def test_in_one_step_one_text_is_read(draft: DraftModel) -> None:
    first = np.arange(2000, 2000 + 2 * NEAR, dtype=np.int32)
    second = first + 100
    draft.begin_step(spare_s=0.0)
    assert draft.guess(0, first, 1) == draft.guess(1, second, 1) == []
    draft.begin_step(spare_s=0.0)
    assert len(draft.guess(0, first, 1)) == 1
    assert draft.guess(1, second, 1) == []
    draft.begin_step(spare_s=0.0)
    assert len(draft.guess(1, second, 1)) == 1
