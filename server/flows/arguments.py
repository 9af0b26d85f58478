"""Collects arguments for a call: known ones, those in the question, those still missing."""

from typing import Any

from server.asking.ask import ask_json
from server.chat import Json
from server.data.shorten import as_text, shorten
from server.flows.answers import leaves_it_to_us, word_for_word
from server.flows.base import Missing, Work
from server.flows.grounding import Heard, only_choices
from server.flows.templates import NOTE, background, context, mark_as_data, now
from server.schemas import fill as slots

SYSTEM = (
    "You fill in the arguments of a call from what the user said. Use only what the user said or "
    "the data shows. Write null for everything that was not mentioned. Examples show the format "
    "only, never copy them. " + NOTE
)
AGAIN = "\nYour last answer was wrong: {problem}. Correct it."
MOST_TOKENS = 1024
TRIES = 3
MOST_CHOICES = 30
MOST_MEMBERS = 12
ASKING = "I need a little more to go on:"
AGAIN_ASKING = "That does not fit yet: {reason}. Say 'cancel' to stop."
_EXPLAINED = ("pattern", "minimum", "maximum", "minLength", "maxLength", "example")
EXPLAINING = "Here is what each means. Say 'cancel' to stop."


async def fill(
    work: Work, about: str, schema: Json, known: Json, *, is_answered: bool = False
) -> Json | Missing:
    """Returns valid arguments that the person gave, or what they must still give.

    `is_answered`: the person was asked, so the model must use the answer.
    """
    known = {**only_choices(schema), **known, **work.answers}
    parts = schema.get("properties", {})
    open_names = [name for name in parts if name not in known and not slots.is_file(parts[name])]
    wrong, limits = "", slots.USUAL
    values = slots.with_defaults(known, schema)
    if is_answered and not slots.problems(values, schema):
        return values
    if open_names:
        rest = _only(schema, open_names)
        for _ in range(TRIES):
            bound = slots.bound(rest, may_be_null=not is_answered, limits=limits)
            written = await _ask(work, about, rest, bound, wrong)
            limits = slots.TIGHT if written is None else limits
            found = slots.read(written, rest) if isinstance(written, dict) else {}
            found = _keep_mentioned(found, rest, work, is_forced=is_answered)
            values = slots.with_defaults({**known, **found}, schema)
            problems = slots.problems(values, schema)
            lacking = set(schema.get("required", [])) - values.keys()
            if not problems:
                return values
            wrong = _as_sentence(problems[0])
            if written is not None and lacking and all(not path for path, _ in problems):
                break
    problems = slots.problems(values, schema)
    if not problems:
        return values
    lacks = slots.missing(values, schema)
    if is_answered and (found := word_for_word(work.answered, lacks)):
        return slots.with_defaults({**values, **found}, schema)
    kept = {name: value for name, value in values.items() if name not in lacks["properties"]}
    unfit = next((problem for problem in problems if problem[0]), None)
    return Missing(lacks, kept, _as_sentence(unfit) if unfit else "")


def _keep_mentioned(found: Json, schema: Json, work: Work, *, is_forced: bool) -> Json:
    """Keeps the model's values that the person mentioned. A forced value fills one argument
    only."""
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
    """Returns the person's words and earlier outcomes, without our own questions."""
    question = work.question
    for asked in work.asked:
        question = question.replace(asked, "")
    return "\n".join((question, context(work), as_text(work.data), " ".join(work.files)))


def question_for(missing: Missing, *, is_again: bool = False) -> str:
    """Writes the question for a chat, in plain words."""
    lines = [ASKING, *_list_arguments(missing.schema)]
    if is_again and missing.reason:
        lines.insert(0, AGAIN_ASKING.format(reason=missing.reason))
    return "\n".join(lines)


def explanation_of(missing: Missing) -> str:
    """Explains each argument to a person who asks back: its kind, its limits and an example."""
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
        lines.append(f"- **{name}**{f': {about}' if about else ''}{_choices(part)}{_members(part)}")
    return lines


def _choices(part: Json) -> str:
    values = part.get("enum") or part.get("items", {}).get("enum")
    if not values:
        return ""
    shown = ", ".join(str(value) for value in values[:MOST_CHOICES])
    return f" ({shown}{', …' if len(values) > MOST_CHOICES else ''})"


def _members(part: Json) -> str:
    """Lists the members of an object, or of each object in a list."""
    inner = part.get("items", part)
    names = list(inner.get("properties", {}))[:MOST_MEMBERS]
    return f" ({', '.join(names)})" if names else ""


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
