"""Reads what the client sent into tables, texts by page and pictures, and notes what failed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from server.chat import Image, Json
from server.dashboard.query import Element, Item, Query, Source, Widget
from server.dashboard.symbols import name_of
from server.data.documents import Document, Unreadable, decode, read, read_content
from server.data.tables import Cell, Table
from server.events import StatusNote
from server.language.ranking import rank
from server.sentences import Sentence

LEFT_OUT = re.compile(r"\b(\d{1,9}) of (\d{1,9}) rows$")
"""The end of the description of a chart or a table that shows only a part of its rows."""
DATA_FUNCTIONS = frozenset({"get_widget_data", "get_extra_widget_data", "execute_agent_tool"})
"""The calls whose results are data. Others look up options or change the dashboard."""


MOST_TEXTS = 2000


@dataclass(frozen=True, slots=True)
class Material:
    """The data of one source: of a widget with its arguments, an attachment, or a tool."""

    name: str
    documents: tuple[Document, ...]
    problems: tuple[str, ...] = ()
    source: Source | None = None
    widget: Widget | None = None
    is_new: bool = True
    """Whether it came in this turn."""
    is_current: bool = True
    """Whether it need not be read again: see `Query.is_current`."""
    citations: tuple[Json, ...] = ()
    is_own: bool = False
    """Whether Moat made it in an earlier turn. It may lack rows, so nothing is computed from it."""

    @property
    def tables(self) -> list[Table]:
        return [table for document in self.documents for table in document.tables]

    @property
    def images(self) -> list[Image]:
        return [document.image for document in self.documents if document.image]

    @property
    def is_empty(self) -> bool:
        return not any(
            document.tables or document.image or any(page.strip() for page in document.pages)
            for document in self.documents
        )

    def texts(self) -> list[str]:
        """Returns its pages, and the names and text cells of its tables."""
        found: list[str] = []
        for table in self.tables:
            found += [table.name, *(column.name for column in table.columns)]
            for column in table.of_kind("text"):
                found += {str(one) for one in table.values(column.name)[:MOST_TEXTS]}
        return found + [page for document in self.documents for page in document.pages]


def read_for(material: Material) -> str:
    """Returns in words what was read: the widget's name, and its single values with their names."""
    arguments = material.source.arguments if material.source else {}
    values = [value for value in arguments.values() if isinstance(value, str) and "," not in value]
    return " ".join([material.name, *values, *filter(None, map(name_of, values))])


@dataclass(frozen=True, slots=True)
class Data:
    """All that came, read once, and the tables to answer from: the best for the question first."""

    materials: list[Material]
    tables: list[Table]
    computable: list[tuple[Table, str]]
    """The tables that Moat did not make itself, as those seldom have all rows; each with words for
    what it was read for."""

    def cells(self) -> Iterator[Cell]:
        """Yields how many rows each table has, and its cells."""
        for table in (table for material in self.materials for table in material.tables):
            yield len(table.rows)
            yield from table.cells()

    @property
    def has_images(self) -> bool:
        """Whether pictures came in this turn."""
        return any(material.images for material in self.materials if material.is_new)

    def notes(self) -> Iterator[StatusNote]:
        """Yields what people should know about that which came in this turn."""
        for material in self.materials:
            if material.is_new:
                for problem in material.problems:
                    yield StatusNote(Sentence("{0}: {1}", material.name, problem), "warning")
                for note in (one for document in material.documents for one in document.notes):
                    yield StatusNote(note, "warning")

    @property
    def best(self) -> Table | None:
        return self.tables[0] if self.tables else None

    @property
    def used(self) -> list[Material]:
        """What came in this turn, or everything if this turn brought nothing."""
        return [one for one in self.materials if one.is_new] or self.materials


def read_data(query: Query) -> Data:
    materials = gather(query)
    brought = [one for one in materials if not one.is_own]
    tables = _tables_for(query.question, materials)
    is_all = len(brought) == len(materials)
    found = tables if is_all else _tables_for(query.question, brought)
    words = {id(table): read_for(one) for one in brought for table in one.tables}
    return Data(materials, tables, [(table, words[id(table)]) for table in found])


def _tables_for(question: str, materials: Sequence[Material]) -> list[Table]:
    """Returns the tables of this turn, or all tables if this turn brought none."""
    new = [table for material in materials if material.is_new for table in material.tables]
    return best_first(question, new or [one for material in materials for one in material.tables])


def best_first(question: str, tables: Sequence[Table]) -> list[Table]:
    """Returns the tables that have rows. Their names and columns tell which fits best."""
    filled = [table for table in tables if table.rows]
    documents = [
        {table.name: 2.0, " ".join(column.name for column in table.columns): 1.0}
        for table in filled
    ]
    order = rank(question, documents)
    best = filled[order[0].index] if order else None
    return sorted(filled, key=lambda table: table is not best)


def gather(query: Query) -> list[Material]:
    """Returns all materials, newest first, and of equal sources only the newest.

    Leaves out what Moat made of the data if the data is there too, unless the question names it.
    """
    found = list(_fetched(query))
    has_tables = any(material.tables for material in found)
    for entry in reversed(query.context):
        is_named = entry.name.lower() in query.question.lower()
        if not entry.is_own:
            found.append(_material(entry.name, entry.element, is_new=True))
        elif is_named or not has_tables:
            made = _material(entry.name, entry.element, is_new=is_named)
            found.append(_as_own(made, entry.description))
    return found


def _as_own(material: Material, description: str) -> Material:
    """Marks a material as made by Moat, and adds the rows that its description says are missing."""
    told = LEFT_OUT.search(description)
    cut = max(int(told[2]) - int(told[1]), 0) if told else 0
    documents = [
        replace(one, tables=tuple(replace(table, cut=table.cut + cut) for table in one.tables))
        for one in material.documents
    ]
    return replace(material, documents=tuple(documents), is_own=True)


def _fetched(query: Query) -> Iterator[Material]:
    seen: set[str] = set()
    for number, result in reversed(list(enumerate(query.results))):
        if result.function not in DATA_FUNCTIONS:
            continue
        is_new = result.turn == query.turn
        for place, element in enumerate(result.elements):
            source = result.sources[place] if place < len(result.sources) else None
            key = source.key if source else f"{result.function} {result.arguments}"
            if key in seen:
                continue
            seen.add(key)
            widget = query.widget_of(source) if source else None
            name = widget.name if widget else str(result.arguments.get("tool_name") or "Data")
            material = _material(name, element, source, widget, is_new=is_new)
            yield replace(material, is_current=query.is_current(number, place))


def _material(
    name: str,
    element: Element,
    source: Source | None = None,
    widget: Widget | None = None,
    *,
    is_new: bool,
) -> Material:
    documents: list[Document] = []
    problems = [element.problem] if element.problem else []
    for item in element.items:
        try:
            documents.append(read_item(item, item.filename or name))
        except Unreadable as error:
            problems.append(str(error))
    return Material(
        name,
        tuple(documents),
        tuple(problems),
        source,
        widget,
        is_new,
        citations=element.citations,
    )


def read_item(item: Item, name: str) -> Document:
    """Reads an item by its content and its declared type. Raises Unreadable."""
    if item.problem:
        raise Unreadable(item.problem)
    if item.fetched is not None and item.kind not in ("", "object"):
        return read(item.fetched, name, item.kind)
    content = item.content if item.fetched is None else decode(item.fetched)
    if item.fetched is None and item.url and not content:
        raise Unreadable(f"{name} came as a link; Moat opens no links. Attach the file itself.")
    return read_content(content, name, item.kind, item.read_as)
