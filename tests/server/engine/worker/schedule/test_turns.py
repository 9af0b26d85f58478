"""Who decodes and who reads, and how much."""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule.answer import Answer
from server.engine.worker.schedule.pace import Pace
from server.engine.worker.schedule.scheduler import SHORT_PROMPT_TOKENS, Turns

MOST = 512


@dataclass
class Reader:
    """As much of an answer as turns are taken by."""

    left: int = 0
    submitted_at: float = 0.0
    first_at: float = 0.0
    request: Request = field(init=False)
    todo: Any = field(init=False)

    def __post_init__(self) -> None:
        self.todo = np.zeros(self.left, np.int32)
        self.request = Request(1, self.todo, submitted_at=self.submitted_at)


def answers(*some: Reader) -> list[Answer]:
    return cast("list[Answer]", list(some))


def turns() -> Turns:
    pace = Pace()
    pace.note_decode(1, 0.050)
    pace.note_read(512, 5.12)
    return Turns(pace, MOST)


def test_nobody_waits_for_nobody() -> None:
    assert turns().chunk_tokens(answers(Reader()), []) == 0
    assert turns().chunk_tokens([], answers(Reader(left=900))) == MOST


def test_a_later_prompt_is_read_in_small_parts_between_tokens() -> None:
    running = answers(Reader(first_at=1.0))
    reading = answers(Reader(left=4000, submitted_at=2.0))
    taking = turns()
    taken = [taking.chunk_tokens(running, reading) for _ in range(4)]
    assert taken == [4, 0, 4, 0]


def test_a_burst_of_short_prompts_is_read_before_its_first_answers_go_on() -> None:
    running = answers(Reader(first_at=3.0))
    reading = answers(*(Reader(left=SHORT_PROMPT_TOKENS, submitted_at=2.0) for _ in range(9)))
    taking = turns()
    assert [taking.chunk_tokens(running, reading) for _ in range(3)] == [MOST, MOST, MOST]


def test_an_earlier_long_prompt_shares_the_time() -> None:
    running = answers(Reader(first_at=3.0))
    reading = answers(Reader(left=4000, submitted_at=2.0))
    taking = turns()
    assert [taking.chunk_tokens(running, reading) for _ in range(3)] == [32, 0, 32]


def test_the_shortest_prompt_is_read_first_unless_another_waited_long() -> None:
    short, long = Reader(left=10, submitted_at=1e9), Reader(left=400, submitted_at=1e9)
    assert turns().in_order(answers(long, short)) == [short, long]
    patient = Reader(left=400, submitted_at=1e9 - 60)
    assert turns().in_order(answers(short, patient)) == [patient, short]
