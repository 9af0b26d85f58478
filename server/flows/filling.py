"""Arguments for a call: what is known, what the model finds in the question, what is missing."""

import re
from typing import Any

from server.chat import Json
from server.flows import slots
from server.flows.asking import ask_json
from server.flows.base import Missing, Work
from server.flows.cutting import as_text, shorten
from server.flows.templates import NOTE, background, context, marked, now
from server.flows.words import terms

SYSTEM = (
    "You fill in the arguments of a call from what the user said. Use only what the user said or "
    "the data shows. Write null for everything that was not mentioned. Examples show the format "
    "only, never copy them. " + NOTE
)
AGAIN = "\nYour last answer was wrong: {problem}. Correct it."
MOST_TOKENS = 1024
TRIES = 3
MOST_CHOICES = 30
_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand
million first second third null eins zwei drei vier sechs sieben acht neun zehn hundert tausend
零 一 二 三 四 五 六 七 八 九 十 百 千 万
"""
NUMBER_WORDS = frozenset(_NUMBERS.split()) - {"null"}
THOUSANDS = re.compile(r"(?<=\d)[,.'\u2019_ \u00a0\u202f](?=\d{3}(?!\d))")


async def fill(
    work: Work, about: str, schema: Json, known: Json, *, is_answered: bool = False
) -> Json | Missing:
    """Valid arguments, or what a person must still tell.

    `is_answered`: the person was asked, so the model must make something of the answer.
    """
    known = {**known, **work.answers}
    parts = schema.get("properties", {})
    open_names = [name for name in parts if name not in known and not slots.is_file(parts[name])]
    wrong, limits = "", slots.USUAL
    values = slots.with_defaults(known, schema)
    if open_names:
        rest = _only(schema, open_names)
        for _ in range(TRIES):
            bound = slots.bound(rest, may_be_null=not is_answered, limits=limits)
            written = await _ask(work, about, rest, bound, wrong)
            limits = slots.TIGHT if written is None else limits
            found = slots.read(written, rest) if isinstance(written, dict) else {}
            if not is_answered:
                found = grounded(found, rest, _heard(work))
            values = slots.with_defaults({**known, **found}, schema)
            problems = slots.problems(values, schema)
            lacking = set(schema.get("required", [])) - values.keys()
            if not problems:
                return values
            wrong = _worded(problems[0])
            if written is not None and lacking and all(not path for path, _ in problems):
                break
    if not slots.problems(values, schema):
        return values
    lacks = slots.missing(values, schema)
    kept = {name: value for name, value in values.items() if name not in lacks["properties"]}
    return Missing(lacks, kept, wrong)


def grounded(found: Json, schema: Json, heard: str) -> Json:
    """Only what was said: a free text or number that nobody mentioned was made up."""
    parts = schema["properties"]
    return {name: one for name, one in found.items() if _is_heard(one, parts[name], heard)}


def _is_heard(value: Any, part: Json, heard: str) -> bool:
    if part.keys() & {"enum", "pattern", "format", "anyOf"} or isinstance(value, bool):
        return True
    if isinstance(value, str):
        words = terms(value)
        return not words or any(word in heard for word in words)
    if isinstance(value, int | float):
        return _is_number_heard(value, heard)
    return True


def _is_number_heard(value: float, heard: str) -> bool:
    """Whole, whatever separates its thousands and its decimals in what was said."""
    forms = {str(value), f"{value:g}"}
    if isinstance(value, float) and value.is_integer():
        forms.add(str(int(value)))
    said = (heard, THOUSANDS.sub("", heard), heard.replace(",", "."))
    spoken = any(word in heard for word in NUMBER_WORDS)
    return spoken or any(form in text for form in forms for text in said)


def _heard(work: Work) -> str:
    said = (work.question, context(work), as_text(work.data), " ".join(work.files))
    return "\n".join(said).lower()


def question_for(missing: Missing) -> str:
    """What to ask in a chat, in plain words."""
    lines = ["I need a little more to go on:"]
    for name, part in missing.schema["properties"].items():
        told = part.get("description") or part.get("title") or ""
        choices = _choices(part)
        lines.append(f"- **{name}**{f': {told}' if told else ''}{choices}")
    return "\n".join(lines)


def _choices(part: Json) -> str:
    values = part.get("enum")
    if not values:
        return ""
    shown = ", ".join(str(value) for value in values[:MOST_CHOICES])
    return f" ({shown}{', …' if len(values) > MOST_CHOICES else ''})"


async def _ask(work: Work, about: str, schema: Json, bound: Json, wrong: str) -> Any:
    def prompt(room: int) -> tuple[str, str]:
        parts = [f"Call: {about}", "Arguments:", _described(schema, room)]
        if work.data is not None:
            parts.append(marked(shorten(work.data, room // 3)))
        said = background(work, room // 4)
        if said:
            parts.append(f"Before: {said}")
        parts.append(f"Time: {now()}")
        if work.files:
            parts.append(f"Files: {', '.join(work.files)}")
        parts.append(f"Question: {shorten(work.question, room // 2)}")
        again = AGAIN.format(problem=wrong) if wrong else ""
        return SYSTEM, "\n".join(parts) + again

    return await ask_json(work.engine, prompt, bound, MOST_TOKENS, work.client)


def _described(schema: Json, room: int) -> str:
    required = schema.get("required", [])
    each = max(room // (2 * max(len(schema["properties"]), 1)), 40)
    lines = []
    for name, part in schema["properties"].items():
        told = [part.get("type") or "value", "required" if name in required else "optional"]
        for key in ("default", "example", "pattern"):
            if key in part:
                told.append(f"{key} {as_text(part[key])[:80]}")
        text = part.get("description") or part.get("title") or ""
        lines.append(shorten(f"- {name} ({', '.join(map(str, told))}): {text}", each))
    return "\n".join(lines)


def _only(schema: Json, names: list[str]) -> Json:
    return {
        "type": "object",
        "properties": {name: schema["properties"][name] for name in names},
        "required": [name for name in schema.get("required", []) if name in names],
    }


def _worded(problem: tuple[tuple[str | int, ...], str]) -> str:
    path, message = problem
    return f"{'.'.join(map(str, path))}: {message}" if path else message
