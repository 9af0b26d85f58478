"""Sentences for people. Each keeps its template and its fields, so that a window can translate it.

Only the window translates. Whoever else reads a sentence reads plain English text.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, Self

Field = str | int | float


class Sentence(str):
    """A text with places {0}, {1} … in its template. Its fields are numbers, names and sentences.

    The template is a literal in the code, because the translations are collected from there.
    """

    template: str
    fields: tuple[Field, ...]

    def __new__(cls, template: str, /, *fields: object) -> Self:
        kept = tuple(map(_keep, fields))
        made = super().__new__(cls, template.format(*kept))
        made.template, made.fields = template, kept
        return made

    def __str__(self) -> str:
        # Not a plain copy: `str(error)` is the sentence that the error was raised with.
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return (self.template, *self.fields)


def _keep(field: object) -> Field:
    return field if isinstance(field, int | float) else str(field)


def listed(items: Iterable[str]) -> str:
    """Joins items by commas."""
    return _join(", ", lambda left, right: Sentence("{0}, {1}", left, right), items)


def in_a_row(texts: Iterable[str]) -> str:
    """Joins sentences. Leaves out empty ones."""
    return _join(" ", lambda left, right: Sentence("{0} {1}", left, right), filter(None, texts))


def _join(gap: str, join: Callable[[str, str], str], texts: Iterable[str]) -> str:
    found = tuple(texts)
    has_sentences = any(isinstance(text, Sentence) for text in found)
    return reduce(join, found) if has_sentences else gap.join(found)


def to_wire(text: str) -> Any:
    """Returns what JSON and msgpack can hold of a text: a sentence becomes a list."""
    if not isinstance(text, Sentence):
        return text
    fields = (to_wire(field) if isinstance(field, str) else field for field in text.fields)
    return [text.template, *fields]


def from_wire(sent: Any) -> str:
    """Returns the text that `to_wire` was given. Raises ValueError for anything else."""
    if isinstance(sent, str):
        return sent
    try:
        template, *fields = sent
        kept = (part if isinstance(part, int | float) else from_wire(part) for part in fields)
        return Sentence(template, *kept)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError("not a text") from error
