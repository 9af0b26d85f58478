"""Arguments for a call: what is known, what the model finds in the question, what is missing."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from server.chat import Json
from server.flows import slots
from server.flows.asking import ask_json
from server.flows.base import Missing, Work
from server.flows.cutting import as_text, shorten
from server.flows.numerals import spoken
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
LONG_WORD = 4
_MADE_UP = object()


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


def grounded(found: Json, schema: Json, said: str) -> Json:
    """Only what was said: a free text or number that nobody mentioned was made up."""
    return _heard_parts(found, schema, _Heard(frozenset(terms(said)), spoken(said), said))


@dataclass(frozen=True, slots=True)
class _Heard:
    words: frozenset[str]
    numbers: set[Decimal]
    text: str

    def has_number(self, value: float) -> bool:
        return abs(Decimal(str(value))) in self.numbers

    def has_text(self, value: str) -> bool:
        """Half of its words at least: a model may put the rest in its own."""
        words = terms(value)
        return 2 * sum(map(self._has_word, words)) >= len(words)

    def _has_word(self, word: str) -> bool:
        if not word.isascii():
            return word in self.text
        is_long = len(word) >= LONG_WORD
        return word in self.words or (is_long and any(one.startswith(word) for one in self.words))


def _heard_parts(found: Json, schema: Json, heard: _Heard) -> Json:
    parts = schema.get("properties", {})
    kept = {name: _as_heard(one, parts.get(name, {}), heard) for name, one in found.items()}
    return {name: one for name, one in kept.items() if one is not _MADE_UP}


def _as_heard(value: Any, part: Json, heard: _Heard) -> Any:
    """What of a value was said; the mark of what was made up when that is nothing."""
    chosen = [one for one in part.get("anyOf", []) if one.get("type") != "null"]
    if len(chosen) == 1:
        return _as_heard(value, chosen[0], heard)
    if part.keys() & {"enum", "pattern", "format", "anyOf"} or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return _heard_parts(value, part, heard) or (_MADE_UP if value else value)
    if isinstance(value, list):
        kept = [_as_heard(one, part.get("items", {}), heard) for one in value]
        kept = [one for one in kept if one is not _MADE_UP]
        return kept or (_MADE_UP if value else value)
    is_heard = (isinstance(value, str) and heard.has_text(value)) or (
        isinstance(value, int | float) and heard.has_number(value)
    )
    return value if is_heard or value is None else _MADE_UP


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
