"""Calls an action: fills its arguments, asks for permission, calls it and reports."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from server.chat import Json
from server.errors import AppError, FlowFailed
from server.events import StatusNote
from server.flows.arguments import fill
from server.flows.base import (
    Action,
    Beside,
    FormAnswer,
    Missing,
    Output,
    Signs,
    Step,
    Work,
    beside,
)
from server.schemas import fill as slots
from server.tasks import paused, spawn, stop

USUAL_S = 30.0
LONGEST_S = 300.0
PACE_S = 0.2
LONGEST_NOTE = 200
AskPerson = Callable[[Missing], Awaitable[FormAnswer | None]]


async def call(step: Step, work: Work, action: Action, known: Json) -> Signs:
    about = f"{action.key} {action.description}"
    known = {**known, **_pick_files(work, action.schema)}
    answered = bool(work.answers) or bool(work.visits.get(f"asked {step.name}"))
    arguments = await fill(work, about, action.schema, known, is_answered=answered)
    work.answers = {}
    if isinstance(arguments, Missing):
        work.visits[f"asked {step.name}"] = work.visits.get(f"asked {step.name}", 0) + 1
        yield arguments
        return
    if action.risk != "read" or step.confirm:
        yield StatusNote(f"Waiting for permission: {action.key}")
    began = asyncio.get_running_loop().time()
    allowed = await work.kit.approve(action, arguments, confirm=step.confirm)
    work.waited_s += asyncio.get_running_loop().time() - began
    if wrong := slots.problems(allowed, action.schema):
        raise FlowFailed("slot_invalid", f"The arguments are not valid: {wrong[0][1]}.")
    yield StatusNote(f"Calling {action.key}", details={"arguments": allowed})
    around = {**surroundings(work), "paths": work.paths}
    timeout_s = seconds(step.params.get("timeout"))

    async def ask(missing: Missing) -> FormAnswer | None:
        began = asyncio.get_running_loop().time()
        try:
            return await work.kit.ask(step.name, missing)
        finally:
            work.waited_s += asyncio.get_running_loop().time() - began

    async with aclosing(_run(action, allowed, around, timeout_s, ask)) as signs:
        async for sign in signs:
            yield sign


async def _run(
    action: Action, arguments: Json, around: Json, timeout_s: float, ask: AskPerson
) -> Signs:
    """Calls the action in a task of its own, and meanwhile passes on what it tells."""
    notes: asyncio.Queue[str | None] = asyncio.Queue()
    last = -PACE_S

    def tell(text: str) -> None:
        nonlocal last
        now = asyncio.get_running_loop().time()
        if now - last >= PACE_S:
            last = now
            notes.put_nowait(f"{action.key}: {text[:LONGEST_NOTE]}")

    calling = spawn(_outcome(action, arguments, around, timeout_s, (ask, tell)), "call")
    calling.add_done_callback(lambda _task: notes.put_nowait(None))
    try:
        while (note := await notes.get()) is not None:
            yield StatusNote(note)
        outcome = await calling
    finally:
        await stop(calling)
    if isinstance(outcome, AppError):
        raise outcome
    yield outcome


async def _outcome(
    action: Action,
    arguments: Json,
    around: Json,
    timeout_s: float,
    person: tuple[AskPerson, Callable[[str], None]],
) -> Output | AppError:
    """A call that fails is no failed task: nothing is logged."""
    try:
        return await call_within(action, arguments, around, timeout_s, person)
    except AppError as error:
        return error


async def call_within(
    action: Action,
    arguments: Json,
    around: Json,
    timeout_s: float,
    person: tuple[AskPerson, Callable[[str], None]],
) -> Output:
    """Calls the action with a time limit, whose clock stands still while a person is asked."""
    ask, tell = person
    try:
        async with asyncio.timeout(timeout_s) as limit:

            async def ask_in_time(missing: Missing) -> FormAnswer | None:
                with paused(limit):
                    return await ask(missing)

            before = beside.set(Beside(ask_in_time, tell))
            try:
                return await action.call(arguments, around, timeout_s)
            finally:
                beside.reset(before)
    except TimeoutError:
        raise FlowFailed("timeout", f"{action.key} took longer than {timeout_s:.0f} s.") from None


def _pick_files(work: Work, schema: Json) -> Json:
    """Takes the run's only file, or all files if several are allowed."""
    parts = schema.get("properties", {})
    files = [name for name, part in parts.items() if slots.is_file(part)]
    if len(files) != 1 or not work.files:
        return {}
    if slots.is_files(parts[files[0]]):
        return {files[0]: list(work.files)}
    return {files[0]: work.files[0]} if len(work.files) == 1 else {}


def surroundings(work: Work) -> Json:
    """Returns what EulerCopilot gives a tool beside its arguments."""
    last = work.last
    previous = {"type": last.call_type, "data": last.output.data} if last else {}
    return {
        "background": work.context,
        "question": work.question,
        "files": list(work.files),
        "previous_data": previous,
        "plugin": work.kit.plugin,
    }


def seconds(given: Any) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
        return min(float(given), LONGEST_S)
    return USUAL_S
