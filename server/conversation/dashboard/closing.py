"""What follows an answer: where it comes from, and what one might ask next."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice

from server.chat import Json
from server.conversation import quotes
from server.conversation.charts import is_wanted
from server.conversation.dashboard.gather import Material
from server.conversation.dashboard.nouns import Query
from server.events import Citations, Suggestions

MOST_CITED = 8
MOST_PAGES = 3
MOST_SUGGESTED = 3
QUOTES_S = 5.0
"""After so long, pages are cited without the place of the sentence on them."""


def cite(
    materials: Sequence[Material], pages: dict[str, tuple[int, ...]], question: str
) -> Citations:
    """One source per material that held data, with its arguments and the pages read."""
    sources = islice(_all_sources(materials, pages, question), MOST_CITED)
    return Citations(tuple(sources))


def _all_sources(
    materials: Sequence[Material], pages: dict[str, tuple[int, ...]], question: str
) -> Iterator[Json]:
    """One by one, so that nothing is looked for that is not cited."""
    end = time.monotonic() + QUOTES_S
    for material in materials:
        if material.source is None or material.is_empty:
            continue
        yield from _sources(material, pages, question, end)
        for one in material.citations:
            yield {"name": material.name, "given": one}


def suggest(query: Query, materials: Sequence[Material]) -> Suggestions:
    """Made from what is there: the columns read, and widgets not looked at yet."""
    found: list[str] = []
    for table in (table for material in materials for table in material.tables):
        numbers, dates = table.of_kind("number"), table.of_kind("date")
        if numbers and dates and not is_wanted(query.question):
            found.append(f"Draw a line chart of {numbers[0].name} in {table.name}")
        if numbers:
            found.append(f"What is the highest {numbers[-1].name} in {table.name}?")
    read = {material.name for material in materials}
    others = [widget.name for widget in query.widgets if widget.name not in read]
    found += [f"What does {name} show?" for name in others[:2] if not name.startswith("file-")]
    return Suggestions(tuple(dict.fromkeys(one[:120] for one in found))[:MOST_SUGGESTED])


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
        boxes = quotes.find(document, page, question) if time.monotonic() < end else ()
        yield {
            **base,
            "details": {"Filename": document.name, "Page": page},
            "boxes": [asdict(box) for box in boxes],
        }
    if not paged:
        details = {"Name": material.name}
        details |= {key.replace("_", " ").title(): str(value) for key, value in arguments.items()}
        yield {**base, "details": details}
