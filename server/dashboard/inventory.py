"""Describes a dashboard's widgets to a model: an alias for each, and its parameters."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from server.dashboard.query import Param, Source, Widget
from server.data.tables import unique_names
from server.language.ranking import rank
from server.system.limits import one_line

DETAILED = 60
"""The most widgets that are described in full. Of more, all but the likeliest have only names."""
LIKELY = 24
MOST_WIDGETS = 400
ALIAS_CHARACTERS = 40
DESCRIPTION_CHARACTERS = 140
OPTIONS_SHOWN = 16
COLUMNS_SHOWN = 8
SQL_TEXT = """
add all alter and as between by case check column commit create default delete desc distinct drop
else end exists for foreign from group having if in index insert into is join key left like limit
not null on or order outer primary references right select set table then to transaction union
unique update using values when where with
"""
SQL_WORDS = frozenset(SQL_TEXT.split())
"""Keywords that SQLite does not accept as a name."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The widgets of a dashboard by alias. An unchanged dashboard keeps aliases and order."""

    widgets: dict[str, Widget]

    def alias_of(self, source: Source) -> str:
        """Returns the alias of a source's widget, or "" if that is no longer on the dashboard."""
        for alias, widget in self.widgets.items():
            if source.uuid and widget.uuid == source.uuid:
                return alias
        for alias, widget in self.widgets.items():
            if (widget.origin, widget.id) == (source.origin, source.id):
                return alias
        return ""

    @property
    def is_large(self) -> bool:
        return len(self.widgets) > DETAILED

    def text(self) -> str:
        """Returns the text for the system message. It does not depend on the question."""
        if self.is_large:
            return "\n".join(f"- {alias}: {one.name}" for alias, one in self.widgets.items())
        return "\n".join(_describe(alias, one) for alias, one in self.widgets.items())

    def line(self, alias: str) -> str:
        return _describe(alias, self.widgets[alias])

    def lines(self, aliases: Iterable[str]) -> str:
        """Describes these widgets in full, for an inventory whose text has only names."""
        return "\n".join(map(self.line, aliases))

    def likely(self, question: str, most: int = DETAILED) -> list[str]:
        """Returns up to `most` aliases: those the user pointed at, then those that fit best."""
        aliases = list(self.widgets)
        if len(aliases) <= most:
            return aliases
        pointed = [one for one in aliases if self.widgets[one].tier == "primary"]
        order = rank(question, [_words_of(self.widgets[alias]) for alias in aliases])
        best = [aliases[one.index] for one in order[:LIKELY]]
        placed = [one for one in aliases if self.widgets[one].tier != "extra"]
        return list(dict.fromkeys([*pointed, *best, *placed]))[:most]


def take_inventory(widgets: Sequence[Widget]) -> Inventory:
    order = sorted(
        widgets[:MOST_WIDGETS],
        key=lambda one: (one.tier == "extra", one.name.lower(), one.origin, one.id, one.uuid or ""),
    )
    aliases = unique_names(slug(widget.name) or slug(widget.id) or "item" for widget in order)
    return Inventory(dict(zip(aliases, order, strict=True)))


def slug(text: str, characters: int = ALIAS_CHARACTERS) -> str:
    """Returns a name for SQL and JSON: lower-case letters of any script, digits, underscores."""
    plain = re.sub(r"[\W_]+", "_", text.lower()).strip("_")[:characters].strip("_")
    if re.fullmatch(r"(?:19|20)\d\d(?:_.*)?", plain):
        return f"y{plain}"
    if plain in SQL_WORDS:
        return f"{plain}_1"
    return f"n_{plain}" if plain[:1].isdigit() else plain


def describe_param(param: Param) -> str:
    shown = f"={_short(param.value)}" if param.has_value else ""
    if param.options:
        values = [_option(param, place) for place in range(len(param.options[:OPTIONS_SHOWN]))]
        more = "|…" if len(param.options) > OPTIONS_SHOWN else ""
        kind = "|".join(values) + more
    else:
        kind = "text" if param.kind in ("string", "text", "endpoint", "tabs") else param.kind
        about = one_line(param.description)[:50]
        kind = f"{kind}: {about}" if about and about.lower() != param.name.lower() else kind
    several = ", several" if param.several else ""
    return f"{param.name}{shown} ({kind}{several})"


def _option(param: Param, place: int) -> str:
    """Returns an option's value, with its label if that says more: PAYEMS = Payrolls."""
    value = _short(param.options[place])
    label = one_line(param.labels[place])[:40] if place < len(param.labels) else ""
    is_same = slug(label) == slug(value) or not label
    return value if is_same else f"{value} = {label}"


def _describe(alias: str, widget: Widget) -> str:
    about = one_line(widget.description)[:DESCRIPTION_CHARACTERS]
    line = f"- {alias}: {one_line(widget.name)}"
    if about and about.lower() != widget.name.lower():
        line += f". {about}"
    if widget.columns:
        line += f" [{', '.join(map(one_line, widget.columns[:COLUMNS_SHOWN]))}]"
    if widget.params:
        line += f" parameters: {'; '.join(map(describe_param, widget.params))}"
    return line


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text)[:40]


def _words_of(widget: Widget) -> dict[str, float]:
    values = " ".join(str(param.value) for param in widget.params if param.has_value)
    fields: Sequence[tuple[str, float]] = (
        (widget.name, 3.0),
        (widget.description, 1.5),
        (" ".join(widget.columns), 1.0),
        (f"{widget.category} {widget.sub_category}", 1.0),
        (values, 1.0),
        (widget.id, 1.0),
    )
    return {text: weight for text, weight in fields if text.strip()}
