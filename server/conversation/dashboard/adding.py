"""Putting a chart or table on the user's dashboard, when asked to and allowed to."""

import re
from collections.abc import Sequence
from uuid import uuid4

from server.chat import Json, ToolCall
from server.conversation import charts
from server.conversation.dashboard.fetching import Step, state_of
from server.conversation.dashboard.nouns import MAX_HOPS, Query
from server.conversation.means import Means
from server.conversation.tables import Table
from server.events import StatusNote

ADD = re.compile(
    r"\b(add|put|pin|place|create|save)\b.*\b(dashboard|widget)\b", re.IGNORECASE | re.DOTALL
)
FUNCTION = "add_generative_widget"
OPTION = "generative-ui"


async def add_widget(query: Query, means: Means, tables: Sequence[Table]) -> Step | None:
    """The call that adds it; None when nothing is to be added or nothing can be."""
    allowed = query.options.get(OPTION) and not query.plain_calls and query.hop < MAX_HOPS
    if not allowed or not ADD.search(query.question) or added(query) is not None:
        return None
    table = charts.best_table(query.question, tables)
    if table is None:
        return None
    chart = None
    if charts.is_wanted(query.question):
        chart = await charts.draw(means, query.question, table)
    arguments: Json
    if chart is not None:
        arguments = {
            "widget_type": "chart",
            "data": chart.rows,
            "chart": {"kind": chart.kind, "x": chart.x, "y": list(chart.y)},
        }
    else:
        arguments = {"widget_type": "table", "data": charts.thinned(table.records())}
    arguments |= {"name": table.name[:80], "description": f"Made from {table.name}"}
    call = ToolCall(uuid4().hex, FUNCTION, {**arguments, "state": state_of(query)})
    return Step(call, (StatusNote(f"Adding {table.name} to the dashboard"),))


def added(query: Query) -> str | None:
    """What became of it, in a sentence; None when nothing was added in this turn."""
    for result in query.new_results:
        if result.function != FUNCTION:
            continue
        name = result.arguments.get("name") or "The widget"
        problem = next((one.problem for one in result.elements if one.problem), "")
        if problem:
            return f"{name} could not be added to the dashboard: {problem}"
        return f"{name} is now on your dashboard."
    return None
