"""Who decodes and who reads, and how much."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from server.engine.worker.decode.batch import Batch
from server.engine.worker.load.context import Context
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule.answer import Answer
from server.engine.worker.schedule.compose import LEAST_CHUNK, fill_chunk
from server.engine.worker.schedule.pace import StepPace
from server.engine.worker.schedule.scheduler import SHORT_PROMPT_TOKENS, Counters, DecodeStep, Turns

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
    pace = StepPace()
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


@dataclass
class Device:
    """What steps cost somewhere, on a clock that only they move."""

    call_s: float
    """What any step takes, however small."""
    token_s: float
    now: float = 0.0
    longest_gap_s: float = 0.0

    def clock(self) -> float:
        return self.now

    def decode(self, batch: Batch) -> int:
        self.now += self.call_s + batch.count * self.token_s
        return 0

    def cut(self, _sequence: int, _start: int) -> bool:
        return True


CARD = Device(call_s=0.006, token_s=22e-6)
LARGE_ON_CARD = Device(call_s=0.004, token_s=80e-6)
"""A model of 8 billion parameters on an H200: what was measured there follows from these."""
PROCESSOR = Device(call_s=0.010, token_s=0.002)


class Burst:
    """Prompts that come one after the other, and the steps taken until all are answered."""

    def __init__(self, device: Device, prompts: int, apart_s: float, *, on_card: bool) -> None:
        self.device = replace(device)
        self.steps = 0
        self.late: list[float] = []
        self._pace = StepPace()
        self._batch = Batch(2048 if on_card else 512, 64, 1024)
        self._turns = Turns(self._pace, self._batch.capacity)
        self._parts = (2048, 1) if on_card else (256, LEAST_CHUNK)
        if on_card:
            step = DecodeStep(
                cast("Context", self.device), self._pace, cast("Any", None), Counters()
            )
            step.measure(self._batch, 64, 1024, self.device.clock)
        start = self.device.now
        self._coming = [Prompt(number, start + number * apart_s) for number in range(prompts)]
        self._reading: list[Any] = []
        self._running: list[Any] = []

    def run(self, answer_tokens: int) -> None:
        while self._coming or self._reading or self._running:
            while self._coming and self._coming[0].request.submitted_at <= self.device.now:
                self._reading.append(self._coming.pop(0))
            if not self._reading and not self._running:
                self.device.now = self._coming[0].request.submitted_at
                continue
            self.steps += 1
            chunk = self._turns.chunk_tokens(self._running, self._reading)
            self._read(chunk) if chunk else self._decode(answer_tokens)

    def _read(self, chunk: int) -> None:
        taken = fill_chunk(self._batch, self._reading, chunk, self._turns.cut(*self._parts))
        began = self.device.now
        self.device.decode(self._batch)
        self._pace.note_read(self._batch.count, self.device.now - began)
        for answer in taken:
            answer.todo = answer.todo[answer.chunk :]
            answer.slot.count += answer.chunk
            if not len(answer.todo):
                answer.first_at = answer.last_at = self.device.now
                self.late.append(self.device.now - answer.request.submitted_at)
                self._reading.remove(answer)
                self._running.append(answer)

    def _decode(self, most: int) -> None:
        self._batch.clear()
        for answer in self._running:
            self._batch.add([0], answer.slot.sequence, 0, 1)
        began, width = self.device.now, len(self._running)
        self.device.decode(self._batch)
        self._pace.note_decode(width, self.device.now - began)
        for answer in self._running[:]:
            gap_s = self.device.now - answer.last_at
            self.device.longest_gap_s = max(self.device.longest_gap_s, gap_s)
            answer.last_at = self.device.now
            answer.written += 1
            if answer.written == most:
                self._running.remove(answer)


class Prompt(Reader):
    """Of 128 tokens, in a slot."""

    def __init__(self, number: int, submitted_at: float) -> None:
        super().__init__(left=128, submitted_at=submitted_at)
        self.slot = SimpleNamespace(sequence=number, count=0)
        self.chunk = self.row = self.written = 0
        self.last_at = 0.0

    @property
    def text_left(self) -> int:
        return len(self.todo)


@pytest.mark.parametrize("apart_s", [0.0, 0.0005, 0.002])
def test_a_burst_on_a_card_takes_few_steps_more_than_its_longest_answer(apart_s: float) -> None:
    burst = Burst(CARD, 32, apart_s, on_card=True)
    burst.run(256)
    assert burst.steps <= 256 + 17
    assert burst.device.longest_gap_s < 0.13
    assert sorted(burst.late)[16] < 0.1


@pytest.mark.parametrize(("prompts", "last_s"), [(32, 0.55), (64, 0.95)])
def test_the_last_of_a_burst_waits_little_longer_than_reading_all_takes(
    prompts: int, last_s: float
) -> None:
    """They were read one between two steps: the last of 64 waited for two seconds."""
    burst = Burst(LARGE_ON_CARD, prompts, 0.0005, on_card=True)
    burst.run(128)
    assert sorted(burst.late)[int(0.95 * prompts)] < last_s
    assert burst.device.longest_gap_s < 0.13


def test_one_more_on_a_busy_card_is_read_in_one_step() -> None:
    burst = Burst(CARD, 32, 0.08, on_card=True)
    burst.run(256)
    reading, alone = 32, 31 * 12
    assert burst.steps <= 256 + reading + alone
    assert burst.device.longest_gap_s < 0.03


def test_on_a_processor_neither_side_waits_longer_than_with_fixed_shares() -> None:
    """The bounds are what the same burst took when only the usual gap counted."""
    burst = Burst(PROCESSOR, 8, 0.3, on_card=False)
    burst.run(64)
    assert burst.steps <= 325
    assert burst.device.longest_gap_s <= 1.084
    assert sorted(burst.late)[4] <= 2.976
