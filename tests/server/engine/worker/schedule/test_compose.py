"""Chunks that are never too short for the kernels that give the same bits."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from server.engine.worker.decode.batch import Batch, Tokens
from server.engine.worker.schedule.compose import (
    LEAST_CHUNK,
    DecodeBatch,
    PromptCut,
    fill_chunk,
    first_size,
    part_size,
    to_border,
)
from server.engine.worker.schedule.draft import Payoff, Purse
from server.engine.worker.schedule.pace import StepPace


@given(st.integers(1, 2000), st.integers(0, 512))
def test_neither_a_part_nor_its_rest_is_shorter_than_a_chunk(left: int, room: int) -> None:
    size = part_size(left, room, LEAST_CHUNK)
    assert size <= room
    assert size in (0, left) or (size >= LEAST_CHUNK and left - size >= LEAST_CHUNK)


@given(st.integers(1, 200), st.integers(1, LEAST_CHUNK - 1))
def test_a_room_too_small_for_a_chunk_is_kept_to(left: int, room: int) -> None:
    assert first_size(left, room) == min(left, room)


@given(st.integers(1, 2000), st.integers(LEAST_CHUNK, 512))
def test_every_prompt_is_read_to_its_end(left: int, room: int) -> None:
    sizes = []
    while left:
        sizes.append(first_size(left, room))
        left -= sizes[-1]
    assert min(sizes) >= min(LEAST_CHUNK, sum(sizes))
    assert max(sizes) <= max(room, 2 * LEAST_CHUNK - 1)


@given(st.integers(0, 5000), st.integers(1, 5000), st.integers(LEAST_CHUNK, 512))
def test_parts_end_at_borders_of_blocks(place: int, left: int, most: int) -> None:
    """Wherever a prompt begins: no part looks at an empty block that a shorter one would spare."""
    while left:
        size = first_size(left, min(most, to_border(place, 256)))
        beyond = (place + size) % 256 if place // 256 != (place + size - 1) // 256 else 0
        near = 256 - place % 256 < LEAST_CHUNK or left < 2 * LEAST_CHUNK
        assert not beyond or near
        assert size >= min(LEAST_CHUNK, left)
        place, left = place + size, left - size


def prompt(sequence: int, left: int, read: int = 0) -> Any:
    """As much of an answer as reading needs: how much of its prompt is left, and was read."""
    slot = SimpleNamespace(sequence=sequence, count=read)
    return SimpleNamespace(slot=slot, todo=[1] * left, text_left=left, chunk=read, row=0)


PROCESSOR, CARD = PromptCut(256), PromptCut(2048, enough=512, apart=1)


def taken(*prompts: Any, cut: PromptCut = PROCESSOR) -> dict[int, int]:
    """Whose prompts are read in the next step, and how much of each."""
    answers = fill_chunk(Batch(512, 4, 1024), list(prompts), most=512, cut=cut)
    return {answer.slot.sequence: answer.chunk for answer in answers}


def test_short_prompts_are_read_together_and_a_long_one_to_its_border() -> None:
    assert taken(prompt(0, 40), prompt(1, 40), prompt(2, 40)) == {0: 40, 1: 40, 2: 40}
    assert taken(prompt(0, 280), prompt(1, 40)) == {0: 256}


def test_nobody_makes_the_rest_of_a_prompt_wait() -> None:
    assert taken(prompt(0, 24, read=256), prompt(1, 40)) == {0: 24}


def test_a_card_reads_many_prompts_in_a_step_whatever_their_lengths() -> None:
    burst = [prompt(0, 130), prompt(1, 128), prompt(2, 128), prompt(3, 120)]
    assert taken(*burst, cut=CARD) == {0: 130, 1: 128, 2: 128, 3: 120}
    assert taken(*burst) == {0: 130}
    begun = [prompt(0, 24, read=256), prompt(1, 40)]
    assert taken(*begun, cut=CARD) == {0: 24, 1: 40}


READING_S = 3600.0
"""As the draft model tells it: far longer than the guess itself can have taken."""


class SlowReader:
    """A draft model that has a long text to read before it can guess."""

    caught_up_s = 0.0

    def begin_step(self, spare_s: float) -> None:
        self.spare_s = spare_s
        self.caught_up_s = 0.0

    def guess(self, _sequence: int, _tokens: Tokens, _most: int) -> list[int]:
        self.caught_up_s = READING_S
        return []


def running(purse: Purse) -> Any:
    """As much of an answer as a guess needs."""
    buffer = np.arange(100, dtype=np.int32)
    slot = SimpleNamespace(sequence=0, count=50, buffer=buffer)
    asked = SimpleNamespace(constrained=None, pictures=())
    return SimpleNamespace(
        request=asked,
        slot=slot,
        pending=[7],
        draft=[],
        payoff=Payoff(purse),
        room=50,
        on_device=False,
        is_parted=False,
    )


def test_what_the_draft_model_has_yet_to_read_is_not_charged_to_a_guess() -> None:
    model: Any = SlowReader()
    pace, purse = StepPace(), Purse()
    pace.note_decode(1, 0.3)
    pace.note_decode(2, 0.3)
    batch = DecodeBatch(Batch(32, 1, 100), model, pace, purse, speculate=True)
    assert batch.fill([running(purse)], guess=True) < 0.0
    assert model.spare_s == 0.3
    assert batch.fill([running(purse)], guess=False) >= 0.0
