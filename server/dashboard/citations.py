"""Writes an answer, and what follows it: a report, its sources, and suggested questions."""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from html import escape
from itertools import groupby, islice

from server.chat import Json
from server.dashboard.materials import Material
from server.dashboard.query import Param, Query
from server.dashboard.results import write_value
from server.dashboard.tickers import is_ticker
from server.data.documents import find_on_page
from server.data.tables import Column, Table
from server.events import Artifact, Citations, Event, Finished, Suggestions, TextDelta
from server.system.limits import one_line, printable

MOST_CITED = 8
MOST_PAGES = 3
MOST_SUGGESTED = 3
LONGEST = 120
"""The most characters of a suggestion. Longer ones are left out, since half of one is useless."""
PERIODS = frozenset({"period", "periods", "interval", "frequency", "timeframe", "range", "horizon"})
NUMBERING = frozenset({
    "id", "ids", "uuid", "isin", "cusip", "cik", "figi", "sedol", "code", "zip", "phone", "year",
    "month", "day", "quarter", "week", "rank", "index", "number", "no", "date", "time", "timestamp",
    "key", "row",
})  # fmt: skip
COMPUTED: dict[str, tuple[str, ...]] = {
    "highest": (
        "highest",
        "largest",
        "max",
        "höchst",
        "größt",
        "plus élev",
        "más alt",
        "最高",
        "最大",
    ),
    "average": ("average", "mean", "durchschnitt", "mittel", "moyen", "promedio", "media", "平均"),
    "lowest": ("lowest", "smallest", "min", "niedrigst", "kleinst", "plus bas", "más baj", "最低"),
}
"""Computations over a column, each with the words by which a question asks for it."""
TEMPLATES: dict[str, dict[str, str]] = {
    "English": {
        "value": "What does {widget} show for {value}?",
        "chart": "Draw a line chart of {column} in {table}",
        "highest": "What is the highest {column} in {table}?",
        "average": "What is the average {column} in {table}?",
        "lowest": "What is the lowest {column} in {table}?",
        "widget": "What does {widget} show?",
    },
    "German": {
        "value": "Was zeigt {widget} für {value}?",
        "chart": "Zeichne {column} aus {table} als Liniendiagramm",
        "highest": "Was ist der höchste Wert von {column} in {table}?",
        "average": "Was ist der Durchschnitt von {column} in {table}?",
        "lowest": "Was ist der niedrigste Wert von {column} in {table}?",
        "widget": "Was zeigt {widget}?",
    },
    "French": {
        "value": "Que montre {widget} pour {value} ?",
        "chart": "Trace une courbe de {column} dans {table}",
        "highest": "Quelle est la valeur la plus élevée de {column} dans {table} ?",
        "average": "Quelle est la moyenne de {column} dans {table} ?",
        "lowest": "Quelle est la valeur la plus basse de {column} dans {table} ?",
        "widget": "Que montre {widget} ?",
    },
    "Spanish": {
        "value": "¿Qué muestra {widget} para {value}?",
        "chart": "Dibuja un gráfico de líneas de {column} en {table}",
        "highest": "¿Cuál es el valor más alto de {column} en {table}?",
        "average": "¿Cuál es el promedio de {column} en {table}?",
        "lowest": "¿Cuál es el valor más bajo de {column} en {table}?",
        "widget": "¿Qué muestra {widget}?",
    },
    "Chinese": {
        "value": "{widget} 中 {value} 的数据如何",
        "chart": "用折线图显示 {table} 的 {column}",
        "highest": "{table} 中 {column} 的最高值是多少",
        "average": "{table} 中 {column} 的平均值是多少",
        "lowest": "{table} 中 {column} 的最低值是多少",
        "widget": "{widget} 显示了什么",
    },
}
QUOTES_S = 5.0
"""Seconds after which pages are cited without the place of a sentence on them."""


SPEECHLESS = "The model had nothing to say to that. Try other words, or a bigger model."
Steps = AsyncGenerator[Event, None]


@dataclass(slots=True)
class Answer:
    """The text of an answer so far, and the event that ends it."""

    query: Query
    text: str = ""
    end: Event = field(default_factory=lambda: Finished("stop"))

    async def tell(self, prose: Steps, otherwise: str = SPEECHLESS) -> Steps:
        """Passes on the prose and collects its text. If there is no text, yields `otherwise`."""
        if self.text:
            yield TextDelta(self.text)
        async with aclosing(prose) as events:
            async for event in events:
                if isinstance(event, Finished):
                    self.end = event
                    continue
                self.text += event.text if isinstance(event, TextDelta) else ""
                yield event
        if not self.text.strip():
            yield TextDelta(otherwise)

    async def close(
        self,
        made: Sequence[Artifact],
        used: Sequence[Material],
        pages: dict[str, tuple[int, ...]],
        others: Sequence[Material] = (),
    ) -> Steps:
        """Yields artifacts, report, citations, suggestions about `others` or `used`, and the
        end."""
        for one in made:
            yield one
        question = self.query.question
        if self.text.strip() and self.query.wishes.report:
            yield make_report(self.text, made, [one.name for one in used])
        yield await asyncio.to_thread(cite, used, pages, question)
        has_chart = any(one.kind == "chart" for one in made)
        yield await asyncio.to_thread(suggest, self.query, others or used, has_chart=has_chart)
        yield self.end


def cite(
    materials: Sequence[Material], pages: dict[str, tuple[int, ...]], question: str
) -> Citations:
    """Returns a citation for each material that has data, with its arguments and pages."""
    sources = islice(_all_sources(materials, pages, question), MOST_CITED)
    return Citations(tuple(sources))


def _all_sources(
    materials: Sequence[Material], pages: dict[str, tuple[int, ...]], question: str
) -> Iterator[Json]:
    """Yields citations one at a time, so that no place is searched for a page that is not cited."""
    end = time.monotonic() + QUOTES_S
    for material in materials:
        if material.source is None or material.is_empty:
            continue
        yield from _sources(material, pages, question, end)
        for one in material.citations:
            yield {"name": material.name, "given": one}


NAME = re.compile(r"[\w .,%/&()$€£'+-]{1,60}")
MOST_WORDS = 7


def suggest(query: Query, materials: Sequence[Material], *, has_chart: bool = False) -> Suggestions:
    """Returns questions that the data can answer, without the one that was just asked."""
    words = TEMPLATES.get(query.wishes.language, TEMPLATES["English"])
    found = [*_other_values(query, materials, words, is_ticker)]
    for table in (table for material in materials for table in material.tables):
        amounts = [one for one in table.of_kind("number") if _is_amount(one, table)]
        named = [one for one in amounts if one.name.lower() in query.question.lower()]
        if not amounts:
            continue
        if table.of_kind("date") and not has_chart and not query.wishes.chart:
            column = (named or amounts)[0].name
            found.append(words["chart"].format(column=column, table=table.name))
        found += _computations((named or amounts)[-1].name, table.name, query.question, words)[:1]
    found += _other_values(query, materials, words, _is_period)
    read = {material.name for material in materials}
    others = [one for one in query.widgets if one.name not in read and not one.is_file]
    others.sort(key=lambda one: one.tier == "extra")
    found += [words["widget"].format(widget=one.name) for one in others[:2]]
    asked = _plain(query.question)
    strange = [one for one in _names(query, materials) if one.strip() and not is_name(one)]
    kept = [
        one
        for one in map(one_line, found)
        if len(one) <= LONGEST
        and _plain(one) not in asked
        and not any(one_line(name) in one for name in strange)
    ]
    return Suggestions(tuple(dict.fromkeys(kept))[:MOST_SUGGESTED])


def is_name(text: str) -> bool:
    """Whether the text looks like a name. A sentence from outside must not become a suggestion."""
    return bool(NAME.fullmatch(text)) and len(text.split()) <= MOST_WORDS and "://" not in text


def _names(query: Query, materials: Sequence[Material]) -> Iterator[str]:
    """Yields the names of widgets, tables and columns, and the values of parameters."""
    for widget in query.widgets:
        yield widget.name
        for param in widget.params:
            yield from (value for option in param.options for value in _values(option))
            yield from _values(param.value)
    for table in (table for material in materials for table in material.tables):
        yield table.name
        yield from (column.name for column in table.columns)


def _other_values(
    query: Query,
    materials: Sequence[Material],
    words: dict[str, str],
    is_wanted_param: Callable[[Param], bool],
) -> list[str]:
    """Suggests to read a widget for another value: another company, another period."""
    shown = [
        value
        for widget in query.widgets
        for param in widget.params
        if is_ticker(param) and param.has_value
        for value in _values(param.value)
    ]
    for material in materials:
        widget, arguments = material.widget, material.source.arguments if material.source else {}
        params = [one for one in widget.params if is_wanted_param(one)] if widget else []
        if widget is None or not params:
            continue
        param = params[0]
        had = {value.lower() for value in _values(arguments.get(param.name))}
        options = [value for option in param.options for value in _values(option)]
        offered = [*(shown if is_ticker(param) else ()), *options]
        others = [one for one in offered if one.lower() not in had and one not in query.question]
        if others:
            return [words["value"].format(widget=widget.name, value=others[0])]
    return []


def _values(given: object) -> list[str]:
    """Returns the values of a parameter: a single one, a list, or a text with commas."""
    parts = given if isinstance(given, list) else [given]
    plain = [one.get("value") if isinstance(one, dict) else one for one in parts]
    texts = [text.strip() for one in plain for text in str(one or "").split(",")]
    return [text for text in texts if text]


def _is_period(param: Param) -> bool:
    return param.name.lower() in PERIODS and bool(param.options)


def _computations(column: str, table: str, question: str, words: dict[str, str]) -> list[str]:
    """Returns suggestions for the computations that the question does not ask for itself."""
    asked = question.lower()
    return [
        words[kind].format(column=column, table=table)
        for kind, said in COMPUTED.items()
        if not any(word in asked for word in said)
    ]


def _is_amount(column: Column, table: Table) -> bool:
    """Whether a column holds amounts, and not ids, years or ranks."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.name).lower()
    if not NUMBERING.isdisjoint(re.split(r"[^a-z0-9]+", name)):
        return False
    values = [one for one in table.values(column.name) if isinstance(one, int | float)]
    is_year = all(float(one).is_integer() and 1900 <= one <= 2100 for one in values)
    return not is_year and len(values) > 0


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _sources(
    material: Material, pages: dict[str, tuple[int, ...]], question: str, end: float
) -> Iterator[Json]:
    source, widget = material.source, material.widget
    assert source is not None
    arguments = {
        key: value for key, value in source.arguments.items() if value not in (None, "", [])
    }
    base: Json = {
        "name": material.name,
        "uuid": source.uuid,
        "origin": source.origin or (widget.origin if widget else ""),
        "widget_id": source.id or (widget.id if widget else ""),
        "description": widget.description if widget else "",
        "arguments": arguments,
    }
    paged = [
        (document, page)
        for document in material.documents
        for page in pages.get(document.name, ())[:MOST_PAGES]
    ]
    for document, page in paged:
        boxes = find_on_page(document, page, question) if time.monotonic() < end else ()
        yield {
            **base,
            "details": {"Filename": document.name, "Page": page},
            "boxes": [asdict(box) for box in boxes],
        }
    if not paged:
        details = {"Name": material.name}
        details |= {key.replace("_", " ").title(): str(value) for key, value in arguments.items()}
        yield {**base, "details": details}


MOST_ROWS = 200
MOST_COLUMNS = 20
TITLE_CHARACTERS = 60
PAGE_STYLE = "font-family: sans-serif; line-height: 1.4"
CELL_STYLE = "padding: 2px 8px; border-bottom: 1px solid #8884; text-align: "


def make_report(text: str, made: Sequence[Artifact], sources: Iterable[str]) -> Artifact:
    """Makes an HTML page of the text, the tables and the data of the charts.

    Everything is escaped, and the few tags have no attributes but styles. Nothing in an answer or
    in data can become a script, a link or a picture from elsewhere.
    """
    names = list(dict.fromkeys(sources))
    lines = printable(text).strip().splitlines()
    title = ", ".join(names)[:TITLE_CHARACTERS] or "Report"
    if lines and lines[0].startswith("#"):
        title = lines.pop(0).lstrip("# ")[:TITLE_CHARACTERS]
    parts = [f"<h1>{escape(title)}</h1>", *_report_blocks(lines)]
    for one in made:
        if rows := one.content.get("rows"):
            parts += [f"<h2>{escape(one.name)}</h2>", _html_table(rows)]
    if names:
        parts.append(f"<p><small>{escape('; '.join(names))}</small></p>")
    page = f'<div style="{PAGE_STYLE}">\n' + "\n".join(parts) + "\n</div>"
    return Artifact("html", title, "The answer as a report", {"text": page})


def _report_blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yields headings, lists and paragraphs as HTML, for the Markdown that models write."""
    for kind, group in groupby(lines, _kind_of_line):
        held = list(group)
        if kind == "heading":
            yield from (f"<h2>{_html_words(line.lstrip('# '))}</h2>" for line in held)
        elif kind == "list":
            items = "".join(f"<li>{_html_words(re.sub(LIST_MARK, '', line))}</li>" for line in held)
            yield f"<ul>{items}</ul>"
        elif kind == "text":
            yield f"<p>{'<br>'.join(map(_html_words, held))}</p>"


LIST_MARK = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,3}[.)])\s+")


def _kind_of_line(line: str) -> str:
    if not line.strip():
        return ""
    if line.startswith("#"):
        return "heading"
    return "list" if LIST_MARK.match(line) else "text"


def _html_words(text: str) -> str:
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escape(text.strip()))


def _html_table(rows: Sequence[Json]) -> str:
    names = list(dict.fromkeys(name for row in rows[:MOST_ROWS] for name in row))[:MOST_COLUMNS]
    head = "".join(f'<th style="{CELL_STYLE}left">{escape(str(name))}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(_html_cell(row.get(name)) for name in names) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _html_cell(value: str | float | None) -> str:
    side = "right" if isinstance(value, int | float) else "left"
    text = "" if value is None else write_value(value)
    return f'<td style="{CELL_STYLE}{side}">{escape(text)}</td>'
