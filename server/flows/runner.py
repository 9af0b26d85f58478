"""Runs a flow step by step and yields its events, until it ends, fails or must ask the person."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace

from server.chat import Json
from server.data.markdown import as_markdown, as_text, shorten
from server.errors import AppError, FlowFailed
from server.events import (
    Event,
    Finished,
    Interrupted,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
)
from server.flows import answers, spec
from server.flows.base import Jump, Missing, Output, Record, Step, Work
from server.flows.calling import explanation_of, question_for
from server.flows.steps import OWN_TOOL, STEPS, TEXT_STEPS
from server.sentences import Sentence

log = logging.getLogger(__name__)

MAX_STEPS = 2 * spec.MAX_STEPS
"""The most steps that a run takes, counting repeated ones."""
MAX_VISITS = 5
"""How often a run may come to the same step."""
MAX_S = 300.0
"""The most seconds of a run, without the time that it waits for a person."""
MAX_FOLLOWS = 3
LONGEST_SUGGESTION = 80
STOPPED = "Stopped: {flow} was not run any further."
SUMMARY = Step(
    "answer",
    "llm",
    {
        "user_prompt": "{context}\n{data}\nAnswer this from the data, in a sentence: {question}",
        "max_tokens": 160,
    },
)


@dataclass(slots=True)
class Paused:
    """A run that waits for a person: the step to go on with, and the question."""

    id: str
    work: Work
    step: Step
    missing: Missing
    question: str


@dataclass(slots=True)
class Run:
    """One run of a flow. After `events` has ended, `paused` is set if it waits for the person."""

    work: Work
    paused: Paused | None = None
    status: str = "running"
    answered: bool = False
    reply: str = ""
    """The answer instead of further steps, if the person asks back or wants to stop."""

    async def events(self, start: Step | None = None) -> AsyncGenerator[Event, None]:
        if self.reply:
            yield TextDelta(self.reply)
            yield (
                Interrupted(self.paused.id, _form(self.paused)) if self.paused else Finished("stop")
            )
            return
        step: Step | None = start or self.work.flow.first
        began = asyncio.get_running_loop().time()
        # The time limit is new after a pause, so earlier waiting does not count.
        self.work.waited_s = 0.0
        total = 0
        while step is not None:
            total += 1
            self._check_limits(step, total, began)
            async with aclosing(self._step(step)) as events:
                following: Step | None = None
                async for event in events:
                    if isinstance(event, _Next):
                        following = event.step
                    else:
                        yield event
            if self.paused is not None:
                return
            step = following
        async with aclosing(self._close()) as events:
            async for event in events:
                if not isinstance(event, _Next):
                    yield event

    def _check_limits(self, step: Step, total: int, began: float) -> None:
        visits = self.work.visits[step.name] = self.work.visits.get(step.name, 0) + 1
        if total > MAX_STEPS or visits > MAX_VISITS:
            raise FlowFailed(
                "loop_limit", Sentence("The flow goes in circles at '{0}'.", step.name)
            )
        passed = asyncio.get_running_loop().time() - began - self.work.waited_s
        if passed > MAX_S:
            raise FlowFailed(
                "timeout", Sentence("The flow took longer than {0:.0f} minutes.", MAX_S / 60)
            )

    async def _step(self, step: Step) -> AsyncGenerator["Event | _Next", None]:
        yield StepChanged(step.name, active=True)
        try:
            async with aclosing(self._signs(step)) as signs:
                async for sign in signs:
                    yield sign
        except FlowFailed as error:
            yield StatusNote(Sentence("{0}: {1}", step.name, error), "error")
            self.work.kit.note(f"step {step.name} failed ({error.fault}): {error}")
            async with aclosing(self._recover(step, error)) as signs:
                async for sign in signs:
                    yield sign
        yield StepChanged(step.name, active=False)

    async def _signs(self, step: Step) -> AsyncGenerator["Event | _Next", None]:
        run = STEPS.get(step.call_type, OWN_TOOL)
        is_last_text = step.call_type in TEXT_STEPS and self._is_last_text(step)
        began = asyncio.get_running_loop().time()
        jump: Jump | None = None
        missing: Missing | None = None
        async with aclosing(run(step, self.work)) as signs:
            async for sign in signs:
                match sign:
                    case Output():
                        took = int((asyncio.get_running_loop().time() - began) * 1000)
                        record = Record(step.name, step.call_type, sign)
                        self.work.records.append(record)
                        self.answered = sign.is_answer and is_last_text
                        self.work.kit.note(f"step {step.name} ({step.call_type}) took {took} ms")
                    case Jump():
                        jump = sign
                    case Missing():
                        missing = sign
                    case TextDelta():
                        if is_last_text:
                            yield sign
                    case _:
                        yield sign
        if missing is None:
            yield _Next(self._after(step, jump))
            return
        async with aclosing(self._ask(step, missing)) as events:
            async for event in events:
                yield event

    async def _ask(self, step: Step, missing: Missing) -> AsyncGenerator["Event | _Next", None]:
        """Asks in a form and continues the step. Without forms, asks in words and pauses."""
        began = asyncio.get_running_loop().time()
        answer = await self.work.kit.ask(step.name, missing)
        self.work.waited_s += asyncio.get_running_loop().time() - began
        if answer is None:
            self._pause(step, missing)
            assert self.paused
            yield TextDelta(self.paused.question)
            yield Interrupted(self.paused.id, _form(self.paused))
            return
        self.work.paths |= answer.paths
        self.work.files = (*self.work.files, *answer.paths)
        self.work.answers = {**missing.known, **answer.values}
        async with aclosing(self._signs(step)) as events:
            async for event in events:
                yield event

    def _after(self, step: Step, jump: Jump | None) -> Step | None:
        if step.name == "end":
            return None
        name = jump.step if jump is not None else step.next
        return self.work.flow.step(name) if name else None

    def _is_last_text(self, step: Step) -> bool:
        """Whether this step is the last that writes text, so that its text is the answer."""
        has_next = step.next and step.name not in ("end", step.next)
        following = self.work.flow.step(step.next) if has_next else None
        return following is None or following.call_type == "none"

    def _pause(self, step: Step, missing: Missing) -> None:
        self.work.answers = dict(missing.known)
        is_again = bool(self.work.asked) and self.work.visits.get(f"asked {step.name}", 0) > 1
        question = question_for(missing, is_again=is_again)
        self.paused = Paused(uuid.uuid4().hex, self.work, step, missing, question)
        self.status = "waiting"

    async def _recover(
        self, step: Step, error: FlowFailed
    ) -> AsyncGenerator["Event | _Next", None]:
        """Runs `on_error`, if there is one. Without a text from it, the error is the answer."""
        self.status = "error"
        self.work.error = {
            "code": error.fault, "step": step.name, "call_type": step.call_type,
            "message": str(error), "detail": error.detail,
        }  # fmt: skip
        spoke = False
        if self.work.flow.on_error is not None and error.fault != "denied":
            async with aclosing(self._repair(self.work.flow.on_error)) as events:
                async for event in events:
                    spoke = spoke or isinstance(event, TextDelta)
                    yield event
        if not spoke:
            yield TextDelta(f"{step.name} failed: {error}")
        self.answered = True
        yield _Next(None)

    async def _repair(self, repair: Step) -> AsyncGenerator[Event, None]:
        """Runs the step `on_error`. If it fails too, that is only written to the plugin's log."""
        run = STEPS.get(repair.call_type, OWN_TOOL)
        try:
            async with aclosing(run(repair, self.work)) as signs:
                async for sign in signs:
                    if isinstance(sign, Output):
                        self.work.records.append(Record("on_error", repair.call_type, sign))
                        if not sign.is_answer:
                            yield TextDelta(sign.message or as_text(sign.data))
                    elif not isinstance(sign, Jump | Missing):
                        yield sign
        except AppError as second:
            self.work.kit.note(f"on_error failed: {second}")

    async def _close(self) -> AsyncGenerator["Event | _Next", None]:
        """Ends the run: yields data and a comment if there is no answer yet, and suggestions."""
        if not self.answered:
            text, is_whole = _closing(self.work)
            if text:
                yield TextDelta(text if is_whole else f"{text}\n\n")
            if not is_whole:
                async with aclosing(self._comment()) as events:
                    async for event in events:
                        yield event
        if follows := self.work.flow.follows[:MAX_FOLLOWS]:
            texts = [follow.question or follow.flow for follow in follows]
            yield Suggestions(tuple(shorten(text, LONGEST_SUGGESTION) for text in texts))
        if self.status == "running":
            self.status = "ok"
        yield Finished("stop")

    async def _comment(self) -> AsyncGenerator["Event | _Next", None]:
        """Lets the model comment on the data that the person sees. A failure is only logged."""
        try:
            async with aclosing(self._signs(SUMMARY)) as signs:
                async for sign in signs:
                    yield sign
        except FlowFailed as error:
            self.work.kit.note(f"no comment on the data: {error}")


@dataclass(frozen=True, slots=True)
class _Next:
    """Tells `Run.events` which step comes next; None ends the flow."""

    step: Step | None


def resume(paused: Paused, given: Json) -> Run:
    """Continues a paused run with the arguments that a person gave. Ignores unknown names."""
    known = {
        name: value for name, value in given.items() if name in paused.missing.schema["properties"]
    }
    paused.work.answers = {**paused.missing.known, **known}
    paused.work.visits[paused.step.name] = 0
    return Run(paused.work)


def resume_with_text(paused: Paused, reply: str) -> Run:
    """Continues a paused run with an answer in words. The model reads what is not certain."""
    schema = paused.missing.schema
    if answers.is_cancel(reply, schema):
        return Run(paused.work, status="cancelled", reply=STOPPED.format(flow=paused.work.flow.key))
    if answers.is_question(reply, schema):
        explained = replace(paused, question=explanation_of(paused.missing))
        return Run(paused.work, explained, "waiting", reply=explained.question)
    paused.work.question = f"{paused.work.question}\n{paused.question}\n{reply}"
    paused.work.asked.append(paused.question)
    paused.work.answered = reply
    return resume(paused, answers.read_answer(reply, schema))


def _closing(work: Work) -> tuple[str, bool]:
    """Returns what to show if no step wrote an answer, and whether it needs no comment."""
    if not work.records:
        return Sentence("There was nothing to do."), True
    if work.records[-1].output.is_answer:
        return as_text(work.records[-1].output.data), True
    last = next(
        (record for record in reversed(work.records) if record.call_type not in TEXT_STEPS), None
    )
    if last is None:
        return Sentence("The model gave no answer."), True
    data, message = last.output.data, last.output.message
    is_of_author = last.call_type == "extract" or last.call_type not in STEPS
    if last.call_type == "render" or (message and is_of_author):
        return message, True
    if isinstance(data, dict) and data.keys() == {"result"}:
        data = data["result"]
    if isinstance(data, str) and data:
        return data, True
    is_shown = last.call_type == "sql" and bool(data["rows"])
    return ("" if is_shown else as_markdown(data)), False


def _form(paused: Paused) -> Json:
    return {
        "type": "form",
        "id": paused.id,
        "step": paused.step.name,
        "message": paused.question,
        "schema": paused.missing.schema,
    }
