"""Calls an action: fills its arguments, asks for permission, calls it and reports."""

import asyncio
from typing import Any

from server.chat import Json
from server.errors import FlowFailed
from server.events import StatusNote
from server.flows.arguments import fill
from server.flows.base import Action, Missing, Signs, Step, Work
from server.schemas import fill as slots

USUAL_S = 30.0
LONGEST_S = 300.0


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
    timeout_s = seconds(step.params.get("timeout"))
    try:
        async with asyncio.timeout(timeout_s):
            around = {**surroundings(work), "paths": work.paths}
            yield await action.call(allowed, around, timeout_s)
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
