"""Calls an action: fills in its arguments, asks for permission, and reports the progress."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from server.asking.ask import ask_json
from server.chat import Json
from server.data.markdown import as_text, shorten
from server.errors import AppError, FlowFailed
from server.events import StatusNote
from server.flows.answers import leaves_it_to_us, word_for_word
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
from server.flows.grounding import Heard, only_choices
from server.flows.templates import NOTE, background, context, mark_as_data, now
from server.schemas import fill
from server.sentences import Sentence
from server.tasks import paused, spawn, stop

USUAL_S = 30.0
"""The time limit of a call in seconds, if the step sets none."""
LONGEST_S = 300.0
PACE_S = 0.2
"""The least time between two notes about progress, in seconds. Notes in between are dropped."""
LONGEST_NOTE = 200
AskPerson = Callable[[Missing], Awaitable[FormAnswer | None]]


async def call(step: Step, work: Work, action: Action, known: Json) -> Signs:
    about = f"{action.key} {action.description}"
    known = {**known, **_pick_files(work, action.schema)}
    answered = bool(work.answers) or bool(work.visits.get(f"asked {step.name}"))
    arguments = await fill_arguments(work, about, action.schema, known, is_answered=answered)
    work.answers = {}
    if isinstance(arguments, Missing):
        work.visits[f"asked {step.name}"] = work.visits.get(f"asked {step.name}", 0) + 1
        yield arguments
        return
    if action.risk != "read" or step.confirm:
        yield StatusNote(Sentence("Waiting for permission: {0}", action.key))
    began = asyncio.get_running_loop().time()
    allowed = await work.kit.approve(action, arguments, confirm=step.confirm)
    work.waited_s += asyncio.get_running_loop().time() - began
    if wrong := fill.problems(allowed, action.schema):
        raise FlowFailed("slot_invalid", Sentence("The arguments are not valid: {0}.", wrong[0][1]))
    yield StatusNote(Sentence("Calling {0}", action.key), details={"arguments": allowed})
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
    """Calls the action in its own task, and yields its notes about progress meanwhile."""
    notes: asyncio.Queue[str | None] = asyncio.Queue()
    last = -PACE_S

    def tell(text: str) -> None:
        nonlocal last
        now = asyncio.get_running_loop().time()
        if now - last >= PACE_S:
            last = now
            notes.put_nowait(f"{action.key}: {text[:LONGEST_NOTE]}")

    async def call_it() -> Output | AppError:
        """Returns an error instead of raising it: a failed task would be logged."""
        try:
            return await call_within(action, arguments, around, timeout_s, (ask, tell))
        except AppError as error:
            return error

    calling = spawn(call_it(), "call")
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


async def call_within(
    action: Action,
    arguments: Json,
    around: Json,
    timeout_s: float,
    person: tuple[AskPerson, Callable[[str], None]],
) -> Output:
    """Calls the action with a time limit, which pauses while a person is asked."""
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
        raise FlowFailed(
            "timeout", Sentence("{0} took longer than {1:.0f} s.", action.key, timeout_s)
        ) from None


def _pick_files(work: Work, schema: Json) -> Json:
    """Returns the run's only file as the file argument, or all files if it takes several."""
    parts = schema.get("properties", {})
    files = [name for name, part in parts.items() if fill.is_file(part)]
    if len(files) != 1 or not work.files:
        return {}
    if fill.is_files(parts[files[0]]):
        return {files[0]: list(work.files)}
    return {files[0]: work.files[0]} if len(work.files) == 1 else {}


def surroundings(work: Work) -> Json:
    """Returns what EulerCopilot passes to a tool besides its arguments."""
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
        return float(min(given, LONGEST_S))
    return USUAL_S


SYSTEM = (
    "You fill in the arguments of a call from what the user said. Use only what the user said or "
    "the data shows. Write null for everything that was not mentioned. Examples show the format "
    "only, never copy them. " + NOTE
)
AGAIN = "\nYour last answer was wrong: {problem}. Correct it."
MOST_TOKENS = 1024
TRIES = 3
"""How often the model is asked for the arguments."""
MOST_CHOICES = 30
"""How many choices of an argument are listed for the person."""
MOST_MEMBERS = 12
ASKING = "I need a little more to go on:"
AGAIN_ASKING = "That does not fit yet: {reason}. Say 'cancel' to stop."
_EXPLAINED = ("pattern", "minimum", "maximum", "minLength", "maxLength", "example")
EXPLAINING = "Here is what each means. Say 'cancel' to stop."


async def fill_arguments(
    work: Work, about: str, schema: Json, known: Json, *, is_answered: bool = False
) -> Json | Missing:
    """Returns valid arguments from the person's words, or what the person must still give.

    `is_answered`: the person was asked before, so the model may not leave arguments open.
    """
    known = {**only_choices(schema), **known, **work.answers}
    parts = schema.get("properties", {})
    open_names = [name for name in parts if name not in known and not fill.is_file(parts[name])]
    wrong, limits = "", fill.USUAL
    values = fill.with_defaults(known, schema)
    if is_answered and not fill.problems(values, schema):
        return values
    if open_names:
        rest = _only(schema, open_names)
        for _ in range(TRIES):
            bound = fill.bound(rest, may_be_null=not is_answered, limits=limits)
            written = await _ask(work, about, rest, bound, wrong)
            limits = fill.TIGHT if written is None else limits
            found = fill.read(written, rest) if isinstance(written, dict) else {}
            found = _keep_mentioned(found, rest, work, is_forced=is_answered)
            values = fill.with_defaults({**known, **found}, schema)
            problems = fill.problems(values, schema)
            lacking = set(schema.get("required", [])) - values.keys()
            if not problems:
                return values
            wrong = _as_sentence(problems[0])
            if written is not None and lacking and all(not path for path, _ in problems):
                break
    problems = fill.problems(values, schema)
    if not problems:
        return values
    lacks = fill.missing(values, schema)
    if is_answered and (found := word_for_word(work.answered, lacks)):
        return fill.with_defaults({**values, **found}, schema)
    kept = {name: value for name, value in values.items() if name not in lacks["properties"]}
    unfit = next((problem for problem in problems if problem[0]), None)
    return Missing(lacks, kept, _as_sentence(unfit) if unfit else "")


def _keep_mentioned(found: Json, schema: Json, work: Work, *, is_forced: bool) -> Json:
    """Keeps the model's values that the person mentioned.

    If the model was forced to give values, each is used only as often as it is mentioned.
    """
    if is_forced and leaves_it_to_us(work.question.rpartition("\n")[2]):
        return found
    heard = Heard.of(heard_in(work))
    kept = heard.parts(found, schema)
    if not is_forced:
        return kept
    once: Json = {}
    for name, value in kept.items():
        others = sum(1 for other in once.values() if other == value)
        if isinstance(value, bool) or others < max(heard.count(value), 1):
            once[name] = value
    return once


def heard_in(work: Work) -> str:
    """Returns the person's words and the outcomes so far, without our own questions."""
    question = work.question
    for asked in work.asked:
        question = question.replace(asked, "")
    return "\n".join((question, context(work), as_text(work.data), " ".join(work.files)))


def question_for(missing: Missing, *, is_again: bool = False) -> str:
    """Writes the question for missing arguments, for a chat. Gives the reason if it asks again."""
    lines = [ASKING, *_list_arguments(missing.schema)]
    if is_again and missing.reason:
        lines.insert(0, AGAIN_ASKING.format(reason=missing.reason))
    return "\n".join(lines)


def explanation_of(missing: Missing) -> str:
    """Explains each argument to a person who asks back: its type, its limits and an example."""
    lines = [ASKING]
    for line, part in zip(
        _list_arguments(missing.schema), missing.schema["properties"].values(), strict=True
    ):
        facts = [str(part.get("format") or part.get("type") or "")]
        facts += [f"{key} {as_text(part[key])[:80]}" for key in _EXPLAINED if key in part]
        lines.append(f"{line} [{', '.join(filter(None, facts))}]")
    return "\n".join([*lines, EXPLAINING])


def _list_arguments(schema: Json) -> list[str]:
    lines = []
    for name, part in schema["properties"].items():
        about = part.get("description") or part.get("title") or ""
        # The members of an object, or of the objects in a list.
        members = list(part.get("items", part).get("properties", {}))[:MOST_MEMBERS]
        inside = f" ({', '.join(members)})" if members else ""
        lines.append(f"- **{name}**{f': {about}' if about else ''}{_choices(part)}{inside}")
    return lines


def _choices(part: Json) -> str:
    values = part.get("enum") or part.get("items", {}).get("enum")
    if not values:
        return ""
    shown = ", ".join(str(value) for value in values[:MOST_CHOICES])
    return f" ({shown}{', …' if len(values) > MOST_CHOICES else ''})"


async def _ask(work: Work, about: str, schema: Json, bound: Json, wrong: str) -> Any:
    def prompt(room: int) -> tuple[str, str]:
        parts = [f"Call: {about}", "Arguments:", _describe_arguments(schema, room)]
        if work.data is not None:
            parts.append(mark_as_data(shorten(work.data, room // 3)))
        before = background(work, room // 4)
        if before:
            parts.append(f"Before: {before}")
        parts.append(f"Time: {now()}")
        if work.files:
            parts.append(f"Files: {', '.join(work.files)}")
        parts.append(f"Question: {shorten(work.question, room // 2)}")
        again = AGAIN.format(problem=wrong) if wrong else ""
        return SYSTEM, "\n".join(parts) + again

    return await ask_json(work, prompt, bound, MOST_TOKENS, must=True)


def _describe_arguments(schema: Json, room: int) -> str:
    required = schema.get("required", [])
    each = max(room // (2 * max(len(schema["properties"]), 1)), 40)
    lines = []
    for name, part in schema["properties"].items():
        facts = [part.get("type") or "value", "required" if name in required else "optional"]
        for key in ("default", "example", "pattern"):
            if key in part:
                facts.append(f"{key} {as_text(part[key])[:80]}")
        text = part.get("description") or part.get("title") or ""
        lines.append(shorten(f"- {name} ({', '.join(map(str, facts))}): {text}", each))
    return "\n".join(lines)


def _only(schema: Json, names: list[str]) -> Json:
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
        "required": [name for name in schema.get("required", []) if name in names],
    }


def _as_sentence(problem: tuple[tuple[str | int, ...], str]) -> str:
    path, message = problem
    return f"{'.'.join(map(str, path))}: {message}" if path else message
