"""Adds a chart, a table or a note to the user's dashboard, if the user asks and allows it."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from server.asking.ask import Means
from server.chat import Json, ToolCall
from server.dashboard import charts
from server.dashboard.next_call import Step, state_of
from server.dashboard.query import ADD_WIDGET, Query, Result
from server.data.tables import Table
from server.events import Artifact, StatusNote

LONGEST_NOTE = 20_000


async def add_widget(query: Query, means: Means, table: Table | None) -> Step | None:
    """Returns the call that adds a chart or a table; None if there is none to add."""
    if table is None:
        return None
    chart = await charts.draw(means, query.question, table) if query.wishes.chart else None
    made = chart.artifact if chart is not None else charts.show(table)
    about = f"Made from {table.name}: {made.description}"
    made = replace(made, name=table.name, description=about)
    call = ToolCall(uuid4().hex, ADD_WIDGET, {**as_widget(made), "state": state_of(query)})
    return Step(call, (StatusNote(f"Adding {table.name} to the dashboard"),))


def as_widget(made: Artifact) -> Json:
    """Returns the arguments that add a chart or a table to the dashboard."""
    content = {"data" if key == "rows" else key: value for key, value in made.content.items()}
    about = {"name": made.name[:80], "description": made.description}
    return {"widget_type": made.kind, **content, **about}


def note_call(query: Query, about: str, text: str) -> ToolCall:
    arguments: Json = {
        "widget_type": "note",
        "data": text.strip()[:LONGEST_NOTE],
        "name": f"Note on {about[:60]}" if about else "Note",
        "description": query.question[:200],
    }
    return ToolCall(uuid4().hex, ADD_WIDGET, {**arguments, "state": state_of(query)})


def is_note(addition: Result) -> bool:
    return addition.arguments.get("widget_type") == "note"


def outcome(additions: Sequence[Result]) -> str:
    """Returns a sentence on what was put on the dashboard first, or on the failure, or ""."""
    if not additions:
        return ""
    first = additions[0]
    name = first.arguments.get("name") or "The widget"
    problem = next((one.problem for one in first.elements if one.problem), "")
    if problem:
        return f"{name} could not be added to the dashboard: {problem}"
    return f"{name} is now on your dashboard."
