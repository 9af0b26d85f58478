"""Adds a chart, a table or a note to the user's dashboard, if the user asks and allows it."""

import re
from collections.abc import Sequence
from uuid import uuid4

from server.asking.ask import Means
from server.chat import Json, ToolCall
from server.dashboard import charts
from server.dashboard.next_call import Step, state_of
from server.dashboard.query import MAX_HOPS, Query
from server.data.tables import Table
from server.events import StatusNote

ADDING = re.compile(
    r"\b(?:add|put|pin|place|create|save|füge?|hefte?|setze?|lege?|speichere?|erstelle?"
    r"|ajoute[rz]?|mets|mettez|épingle[rz]?|place[rz]|crée[rz]?|enregistre[rz]?"
    r"|añad[ea]|añadir|agreg(?:a|ar|ue)|pon|poner|fija|crea|guarda)\b|添加|加到|加入|放到|放在|放入|保存|创建",
    re.IGNORECASE,
)
TARGET = re.compile(
    r"dashboard|widget|tableau de bord|tablero|panel|cuadro de mando|仪表|看板|面板", re.IGNORECASE
)
"""Words for a place on the dashboard. Nothing is added unless the question has one of them."""
NOTE = re.compile(r"\b(?:notes?|notiz(?:en)?|notas?)\b|笔记|便签|备注", re.IGNORECASE)
LONGEST_NOTE = 20_000
FUNCTION = "add_generative_widget"
OPTION = "generative-ui"


async def add_widget(query: Query, means: Means, tables: Sequence[Table]) -> Step | None:
    """Returns the call that adds a chart or a table; None if nothing should or can be added."""
    if not _is_wanted(query) or NOTE.search(query.question):
        return None
    table = charts.best_table(query.question, tables)
    if table is None:
        return None
    chart = None
    if charts.is_wanted(query.question):
        chart = await charts.draw(means, query.question, table)
    arguments: Json
    about = f"Made from {table.name}"
    if chart is not None:
        about += f": {chart.about}"
        arguments = {
            "widget_type": "chart",
            "data": chart.rows,
            "chart": {"kind": chart.kind, "x": chart.x, "y": list(chart.y)},
        }
    else:
        rows = charts.thinned(table.records())
        arguments = {"widget_type": "table", "data": rows}
        about += f": {charts.share(rows, table)}"
    arguments |= {"name": table.name[:80], "description": about}
    call = ToolCall(uuid4().hex, FUNCTION, {**arguments, "state": state_of(query)})
    return Step(call, (StatusNote(f"Adding {table.name} to the dashboard"),))


def is_note_wanted(query: Query) -> bool:
    """Whether the user wants the answer itself on the dashboard, as a note."""
    return _is_wanted(query) and NOTE.search(query.question) is not None


def words_of_note(query: Query) -> str:
    """Returns the words of the question about the note. They say nothing about the data."""
    if not is_note_wanted(query):
        return ""
    return " ".join(
        match[0] for words in (ADDING, NOTE, TARGET) for match in words.finditer(query.question)
    )


def note_call(query: Query, about: str, text: str) -> ToolCall:
    arguments: Json = {
        "widget_type": "note",
        "data": text.strip()[:LONGEST_NOTE],
        "name": f"Note on {about[:60]}" if about else "Note",
        "description": query.question[:200],
    }
    return ToolCall(uuid4().hex, FUNCTION, {**arguments, "state": state_of(query)})


def is_note_added(query: Query) -> bool:
    return any(
        result.function == FUNCTION and result.arguments.get("widget_type") == "note"
        for result in query.new_results
    )


def _is_wanted(query: Query) -> bool:
    allowed = query.options.get(OPTION) and not query.plain_calls and query.hop < MAX_HOPS
    return bool(allowed and _asks_to_add(query.question)) and added(query) is None


def _asks_to_add(question: str) -> bool:
    adding = ADDING.search(question)
    return adding is not None and TARGET.search(question, adding.end()) is not None


def added(query: Query) -> str | None:
    """Returns a sentence on what was added in this turn, or on the failure, or None."""
    for result in query.new_results:
        if result.function != FUNCTION:
            continue
        name = result.arguments.get("name") or "The widget"
        problem = next((one.problem for one in result.elements if one.problem), "")
        if problem:
            return f"{name} could not be added to the dashboard: {problem}"
        return f"{name} is now on your dashboard."
    return None
