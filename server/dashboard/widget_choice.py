"""Which widgets to read: ranked by code, chosen by the model only where the ranking is unsure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from server.asking.small import Means, ask_json
from server.chat import Json
from server.dashboard.query import Query, Widget
from server.language.ranking import Ranked, rank, stems

SHOWN = 8
SHOWN_TO_ABLE = 16
CHOSEN = 3
CLEAR_LEAD = 1.5
LEAST_SCORE = 0.6
TIE = 0.9
NEAR = 0.6
"""A widget scored below this share of the best is not offered to the model."""
WORD = re.compile(r"[^\W_]+")
SMALL_TALK = re.compile(
    r"^\W*(say )?(hi|hello|hey|thanks?|thank you|good (morning|evening|afternoon)|bye)\b.{0,40}$",
    re.IGNORECASE | re.DOTALL,
)
OTHER_MATTER = re.compile(
    r"^\W*(my name is|who are you|what can you do|translate\b"
    r"|(please )?(write|compose|tell)( me| us)?( an?| the)?( \w+)? (story|poem|joke|song|essay)\b)",
    re.IGNORECASE,
)
ABLE_PARAMETERS = 3_000_000_000
"""From here on the model's choice counts more than the ranking's."""
SYSTEM = (
    "You choose which widgets of a dashboard hold the data that a question needs. "
    "Answer with the numbers of the needed widgets, best first; none if none helps."
)


@dataclass(frozen=True, slots=True)
class Choice:
    widgets: tuple[Widget, ...]
    by: str
    """'name', 'rank' or 'model': how it was decided."""


def ranked(question: str, widgets: Sequence[Widget]) -> list[Ranked]:
    return rank(question, [_document(widget) for widget in widgets])


async def choose(query: Query, means: Means, widgets: Sequence[Widget]) -> Choice:
    """At most a few of the widgets, best first; none for small talk."""
    question = query.question
    if not widgets or SMALL_TALK.match(question) or OTHER_MATTER.match(question):
        return Choice((), "rank")
    by_name = named(question, widgets)
    if by_name:
        return Choice(tuple(by_name[:CHOSEN]), "name")
    order = [one for one in ranked(question, widgets) if one.score >= LEAST_SCORE]
    if not 0 < means.engine.facts.parameters < ABLE_PARAMETERS:
        return await _chosen_by_model(means, question, widgets, [one.index for one in order])
    if not order:
        return Choice((), "rank")
    if len(order) == 1 or order[0].score >= CLEAR_LEAD * order[1].score:
        return Choice((widgets[order[0].index],), "rank")
    near = [one for one in order[:SHOWN] if one.score >= NEAR * order[0].score]
    picked = await _ask(means, question, [widgets[one.index] for one in near])
    # A small model may add to what the ranking is sure of, not take it away; and to read one
    # widget too many is cheaper than to read the wrong one.
    sure = [widgets[one.index] for one in near if one.score >= TIE * order[0].score]
    together = [*sure, *(widget for widget in picked or () if widget not in sure)]
    return Choice(tuple(together[:CHOSEN]), "model")


async def _chosen_by_model(
    means: Means, question: str, widgets: Sequence[Widget], order: list[int]
) -> Choice:
    """One that can tell general knowledge may choose nothing; and it knows words we do not rank."""
    best = [widgets[index] for index in order]
    near = [one for one in widgets if one.tier != "extra" and one not in best]
    shown = [*best[:SHOWN], *near][: max(SHOWN_TO_ABLE, len(best[:SHOWN]))]
    picked = await _ask(means, question, shown) if shown else []
    if picked is None:
        return Choice(tuple(best[:1]), "rank")
    return Choice(tuple(picked[:CHOSEN]), "model")


async def _ask(means: Means, question: str, widgets: Sequence[Widget]) -> list[Widget] | None:
    """None when the model gave no answer."""
    aliases = {f"W{number}": widget for number, widget in enumerate(widgets, 1)}
    lines = [f"{alias}: {_line(widget)}" for alias, widget in aliases.items()]
    schema: Json = {
        "type": "object",
        "properties": {
            "widgets": {"type": "array", "items": {"enum": list(aliases)}, "maxItems": CHOSEN}
        },
        "required": ["widgets"],
        "additionalProperties": False,
    }
    text = "Widgets:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, SYSTEM, text, schema, max_tokens=40)
    names = answer.get("widgets") if answer else None
    if not isinstance(names, list):
        return None
    return [aliases[name] for name in dict.fromkeys(names) if name in aliases]


def named(question: str, widgets: Sequence[Widget]) -> list[Widget]:
    """Widgets whose whole name is in the question; a name of one word is too common for that."""
    asked = f" {' '.join(WORD.findall(question.lower()))} "
    found = []
    for widget in widgets:
        words = WORD.findall(widget.name.lower())
        if len(words) > 1 and f" {' '.join(words)} " in asked:
            found.append(widget)
    return found


def _document(widget: Widget) -> dict[str, float]:
    values = " ".join(str(param.value) for param in widget.params if param.has_value)
    params = " ".join(f"{param.name} {param.description}" for param in widget.params)
    document: dict[str, float] = {}
    for text, weight in (
        (widget.name, 3.0),
        (widget.description, 1.5),
        (" ".join(widget.columns), 1.0),
        (f"{widget.category} {widget.sub_category}", 1.0),
        (values, 1.0),
        (widget.id, 1.0),
        (params, 0.3),
        (widget.source, 0.3),
    ):
        if text.strip():
            document[text] = document.get(text, 0.0) + weight
    return document


def _line(widget: Widget) -> str:
    about = " ".join(widget.description.split())[:100]
    columns = f" [{', '.join(widget.columns[:6])}]" if widget.columns else ""
    return f"{widget.name} - {about}{columns}" if about else f"{widget.name}{columns}"


def mentions(question: str, text: str) -> bool:
    """Whether the question uses a word of this text."""
    return bool(set(stems(question)) & set(stems(text)))
