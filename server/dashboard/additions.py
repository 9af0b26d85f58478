"""Adds a chart, a table or a note to the user's dashboard, if the user asks and allows it."""

from dataclasses import replace
from uuid import uuid4

from server.asking.ask import Means
from server.chat import Json, ToolCall
from server.dashboard import charts
from server.dashboard.next_call import Step, state_of
from server.dashboard.query import MAX_HOPS, Query
from server.data.tables import Table
from server.events import Artifact, StatusNote

LONGEST_NOTE = 20_000
FUNCTION = "add_generative_widget"
OPTION = "generative-ui"


async def add_widget(query: Query, means: Means, table: Table | None) -> Step | None:
    """Returns the call that adds a chart or a table; None if nothing should or can be added."""
    if not _is_wanted(query) or query.wishes.note or table is None:
        return None
    chart = await charts.draw(means, query.question, table) if query.wishes.chart else None
    made = chart.artifact if chart is not None else charts.show(table)
    about = f"Made from {table.name}: {made.description}"
    made = replace(made, name=table.name, description=about)
    call = ToolCall(uuid4().hex, FUNCTION, {**as_widget(made), "state": state_of(query)})
    return Step(call, (StatusNote(f"Adding {table.name} to the dashboard"),))


def as_widget(made: Artifact) -> Json:
    """Returns the arguments that add a chart or a table to the dashboard."""
    content = {"data" if key == "rows" else key: value for key, value in made.content.items()}
    about = {"name": made.name[:80], "description": made.description}
    return {"widget_type": made.kind, **content, **about}


def is_note_wanted(query: Query) -> bool:
    """Whether the user wants the answer itself on the dashboard, as a note."""
    return _is_wanted(query) and query.wishes.note


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
    return bool(allowed) and query.wishes.adding and added(query) is None


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
