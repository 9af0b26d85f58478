from dataclasses import replace

import pytest

from server.asking.ask import Means
from server.dashboard.additions import add_widget, is_note, note_call, outcome
from server.dashboard.query import Element, Query, Result
from server.data.tables import from_grid
from tests.contract.openbb.talking import TalkingEngine

TABLE = from_grid(["date", "close"], [["2025-01-01", 1.0], ["2025-01-02", 2.0]], "Prices")
QUERY = Query((), "Add a line chart of close to my dashboard", 1, options={"generative-ui": True})
MEANS = Means(TalkingEngine())


async def test_a_chart_goes_on_the_dashboard_when_asked_and_allowed() -> None:
    step = await add_widget(QUERY, MEANS, TABLE)
    assert step is not None
    arguments = step.call.arguments
    assert arguments["widget_type"] == "chart"
    assert arguments["chart"] == {"kind": "line", "x": "date", "y": ["close"]}
    assert len(arguments["data"]) == 2
    assert arguments["description"] == "Made from Prices: close by date"


async def test_without_a_chart_the_rows_go_there() -> None:
    query = replace(QUERY, asked="Put this on my dashboard")
    step = await add_widget(query, MEANS, TABLE)
    assert step is not None
    assert step.call.arguments["widget_type"] == "table"
    assert step.call.arguments["description"] == "Made from Prices: 2 rows"


@pytest.mark.parametrize(
    "asked",
    [
        "Füge das meinem Dashboard hinzu",
        "Ajoute ça au tableau de bord",
        "Añade esto a mi panel",
        "把这个添加到仪表板",
    ],
)
async def test_it_is_asked_for_in_any_of_our_languages(asked: str) -> None:
    query = replace(QUERY, asked=asked)
    assert query.wants_widget
    assert await add_widget(query, MEANS, TABLE) is not None


async def test_nothing_is_added_unasked_unallowed_or_twice() -> None:
    done = Result("add_generative_widget", {"name": "Prices"}, (), (Element(),), 1)
    for query in (
        replace(QUERY, asked="Draw a chart"),
        replace(QUERY, options={}),
        replace(QUERY, plain_calls=True),
        replace(QUERY, results=(done,)),
    ):
        assert not query.wants_widget
    assert await add_widget(QUERY, MEANS, None) is None


def test_what_became_of_it_is_said() -> None:
    assert outcome(QUERY.additions) == ""
    result = Result("add_generative_widget", {"name": "Prices"}, (), (Element(),), 1)
    assert (
        outcome(replace(QUERY, results=(result,)).additions) == "Prices is now on your dashboard."
    )
    failed = replace(result, elements=(Element(problem="no room"),))
    assert outcome(replace(QUERY, results=(failed,)).additions) == (
        "Prices could not be added to the dashboard: no room"
    )


async def test_a_note_keeps_the_answer_and_not_the_rows() -> None:
    query = replace(QUERY, asked="Put a note about this on my dashboard")
    assert (query.wants_note, query.wants_widget) == (True, False)
    arguments = note_call(query, "Prices", "**It rose.**\n").arguments
    assert (arguments["widget_type"], arguments["data"]) == ("note", "**It rose.**")
    assert arguments["name"] == "Note on Prices"
    assert arguments["state"]
    done = Result("add_generative_widget", arguments, (), (Element(),), 1)
    after = replace(query, results=(done,))
    assert (list(map(is_note, after.additions)), after.wants_note) == ([True], False)
    assert not replace(query, options={}).wants_note
