"""A card computes the next step while the texts of the last one are made: no word is another."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import pytest

from server.engine.base import EngineOptions
from server.engine.worker.load.context import CACHE_FULL, Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import NativeLog
from server.engine.worker.load.plan import make_plan
from server.engine.worker.prompt.prepare import Preparer
from server.engine.worker.prompt.template import Template
from server.engine.worker.schedule import scheduler as schedule
from server.engine.worker.schedule.admission import Admission
from server.engine.worker.schedule.answer import Item
from server.engine.worker.schedule.scheduler import Scheduler

SLOTS = 6
GREEDY = {"temperature": 0.0, "ignore_eos": True}
TABLE = "".join(f"| row {n} | {n * 7} |\n" for n in range(4))
JOBS: tuple[dict[str, Any], ...] = (
    {"prompt": "One, two, three,", "sampling": GREEDY, "max_tokens": 14},
    {"prompt": "The capital of France is", "sampling": GREEDY, "max_tokens": 8},
    {"prompt": "Once upon a time", "sampling": {"seed": 5}, "max_tokens": 10},
    {"prompt": "One, two, three,", "sampling": GREEDY, "max_tokens": 16, "stops": ["seven"]},
    {"prompt": f"{TABLE}\n{TABLE}\n", "sampling": GREEDY, "max_tokens": 20},
    {
        "prompt": "A name as JSON:",
        "sampling": GREEDY,
        "max_tokens": 16,
        "constraint": {
            "kind": "json_schema",
            "source": '{"type": "object", "properties": {"name": {"type": "string"}}, '
            '"required": ["name"], "additionalProperties": false}',
        },
    },
    {"prompt": "It is", "sampling": GREEDY, "max_tokens": 5, "top_logprobs": 2},
    {"prompt": "It was", "sampling": GREEDY, "max_tokens": 1},
)


@dataclass
class Told:
    """What one scheduler told of its answers."""

    texts: dict[int, str] = field(default_factory=dict)
    ends: dict[int, str] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)
    beside: int = 0
    """How many times the next step had begun when something was told."""

    def note(self, items: list[Item]) -> None:
        for number, kind, *rest in items:
            if kind == "text":
                self.texts[number] = self.texts.get(number, "") + rest[0]
            elif kind in ("end", "error"):
                assert number not in self.ends
                self.ends[number] = rest[0]
                self.written[number] = rest[1]["completion_tokens"] if kind == "end" else 0


@dataclass
class Opened:
    model: Model
    forced: bool

    def tell(
        self,
        jobs: tuple[dict[str, Any], ...],
        meanwhile: Callable[[int, Scheduler], None] = lambda _step, _scheduler: None,
    ) -> Told:
        """Runs the jobs. `meanwhile` is called before each step."""
        plan = make_plan(self.model, self.model.options)
        context = Context(self.model, plan)
        told = Told()

        def emit(items: list[Item]) -> None:
            told.beside += running._step.has_begun
            told.note(items)

        running = Scheduler(self.model, context, plan, emit)
        running.prepare(plan)
        words = self.model.vocabulary
        template = Template(self.model.template, words.bos, words.eos)
        preparer = Preparer(words, template, context.sequence_tokens, None)
        for number, job in enumerate(jobs):
            running.submit(preparer.prepare(number, job, lambda: True))
        step = 0
        meanwhile(step, running)
        while running.take_step():
            step += 1
            meanwhile(step, running)
        context.close()
        return told


@pytest.fixture(params=[False, True], ids=["host", "device"])
def opened(quick_starter: Path, request: pytest.FixtureRequest) -> Opened:
    log = NativeLog()
    log.mute_while(lambda: True)
    log.install()
    options = EngineOptions(
        slots=SLOTS, context_tokens=512, threads=1, device_sampling=request.param
    )
    return Opened(Model(quick_starter, options, lambda _done: None), request.param)


@pytest.fixture
def begins_early(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Sets whether steps seem to begin at once, as on a card, or as late as on a processor."""

    def set_it(is_early: bool) -> None:
        monkeypatch.setattr(schedule, "QUICK_LAUNCH_S", inf if is_early else -1.0)
        monkeypatch.setattr(schedule, "QUICK_LAUNCH_SHARE", -1.0)

    return set_it


@pytest.mark.filterwarnings("ignore:llama_token_get_attr is deprecated")
def test_all_answers_are_the_same(opened: Opened, begins_early: Callable[[bool], None]) -> None:
    begins_early(False)
    late = opened.tell(JOBS)
    begins_early(True)
    early = opened.tell(JOBS)
    assert late.beside == 0 < early.beside
    assert early.ends == late.ends
    assert set(late.ends.values()) == {"length", "stop"}
    seeded = {2} if opened.forced else set()  # draws of a device are not repeated by another
    assert {n: early.texts.get(n) for n in late.ends if n not in seeded} == {
        n: late.texts.get(n) for n in late.ends if n not in seeded
    }
    assert early.written == late.written


def test_what_comes_and_goes_meanwhile_changes_no_other_answer(
    opened: Opened, begins_early: Callable[[bool], None]
) -> None:
    begins_early(True)
    alone = opened.tell(JOBS[:1])

    def cancel(step: int, running: Scheduler) -> None:
        if step == 9:
            running.cancel(1)

    told = opened.tell((JOBS[0], {**JOBS[4], "max_tokens": 200}), cancel)
    assert told.beside > 0
    assert told.texts[0] == alone.texts[0]
    assert told.ends == {0: "length", 1: "stop"}
    assert 0 < told.written[1] < 20


def test_a_step_that_fails_at_its_beginning_loses_no_token(
    opened: Opened, begins_early: Callable[[bool], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    begins_early(True)
    whole = opened.tell(JOBS[:2])
    begin, calls = Context.begin, iter(range(10_000))

    def full_at_times(context: Context, batch: Any) -> int:
        is_full = next(calls) in (6, 9)
        return CACHE_FULL if is_full else begin(context, batch)

    monkeypatch.setattr(Context, "begin", full_at_times)
    monkeypatch.setattr(Admission, "evict_idle", lambda _self: True)
    told = opened.tell(JOBS[:2])
    assert told.texts == whole.texts
    assert told.ends == whole.ends
