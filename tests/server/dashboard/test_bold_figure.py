"""Which figures of a plan's queries are bold, where the second opinion is the same query."""

import json
from datetime import date

import pytest

from server.dashboard.bold_figure import figure_by_query
from server.dashboard.plan import Planner
from server.dashboard.query import Element, Item, Query, Result, Said, Source, Widget
from tests.kit.engines import ScriptedEngine, says

HARBOURS = Widget("o", "har", "Harbours", uuid="u1")
SHIPS = [
    {"harbour": "Turku", "ships": 4, "average_wait": 2.5, "day": "2026-05-01"},
    {"harbour": "Turku", "ships": 8, "average_wait": 1.5, "day": "2026-05-02"},
    {"harbour": "Gdansk", "ships": 9, "average_wait": 3.5, "day": "2026-05-01"},
]
TURKU, GDANSK = "FROM harbours WHERE harbour = 'Turku'", "FROM harbours WHERE harbour = 'Gdansk'"


async def bold(question: str, sql: str, rows: object = SHIPS) -> str:
    """Empty where the figure is told without bold."""
    source = Source("o", "har", "u1", {})
    data = Element((Item(json.dumps(rows)),))
    state = {"plan": [{"read": [{"widget": "harbours", "parameters": {}}]}]}
    result = Result("get_widget_data", {}, (source,), (data,), 1, state)
    said = (Said("user", question, 1),)
    query = Query(said, question, 1, (HARBOURS,), (result,), state=state)
    engine = ScriptedEngine(says(json.dumps({"sql": sql})))
    planner = Planner(query, engine, date(2026, 6, 1))
    await planner.resume()
    await planner.results.run(sql)
    return (await figure_by_query(planner)).strip("*\n")


@pytest.mark.parametrize(
    ("question", "sql", "shown"),
    [
        ("Ships of Gdansk?", f"SELECT ships {GDANSK}", "Ships: 9"),
        ("Ships of Gdansk?", f"SELECT SUM(ships) AS ships {GDANSK}", "Ships: 9"),
        ("Sum of the ships of Turku?", f"SELECT SUM(ships) AS ships {TURKU}", "Ships: 12"),
        ("Average ships of Turku?", f"SELECT AVG(ships) AS ships {TURKU}", "Ships: 6"),
        ("How many harbours?", "SELECT COUNT(*) AS count FROM harbours", "Count: 3"),
        ("Most ships of Turku?", f"SELECT ships {TURKU} ORDER BY ships DESC LIMIT 1", "Ships: 8"),
        ("Average wait of Gdansk?", f"SELECT average_wait {GDANSK}", "Average wait: 3.5"),
    ],
)
async def test_one_row_or_an_aggregate_that_is_asked_for_is_bold(
    question: str, sql: str, shown: str
) -> None:
    assert await bold(question, sql) == shown


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        # Any of several rows; the wrong end of an order.
        ("Ships of Turku?", f"SELECT ships {TURKU} LIMIT 1"),
        ("Ships of Turku?", f"SELECT ships {TURKU} ORDER BY ships DESC LIMIT 1"),
        ("Most ships of Turku?", f"SELECT ships {TURKU} ORDER BY ships LIMIT 1"),
        # The aggregate of one row, one that nobody asks for, and another than is asked for.
        ("Average ships of Gdansk?", f"SELECT AVG(ships) AS ships {GDANSK}"),
        ("Most ships of Gdansk?", f"SELECT MAX(ships) AS ships {GDANSK}"),
        ("Ships of Turku?", f"SELECT SUM(ships) AS ships {TURKU}"),
        ("Average ships of Turku?", f"SELECT SUM(ships) AS ships {TURKU}"),
        # All rows, where the question names one.
        ("Sum of the ships of Gdansk?", "SELECT SUM(ships) AS gdansk FROM harbours"),
        # Another figure: an average, a ratio, a sum with signs, a rounded one.
        ("Wait of Gdansk?", f"SELECT average_wait {GDANSK}"),
        ("Ships of Gdansk?", f"SELECT ships / average_wait AS ships {GDANSK}"),
        ("Ships of Gdansk?", f"SELECT -ships AS ships {GDANSK}"),
        ("Average ships of Turku?", f"SELECT CAST(AVG(ships) AS INTEGER) AS ships {TURKU}"),
        ("Increase of the ships of Turku?", f"SELECT MAX(ships) - MIN(ships) AS ships {TURKU}"),
    ],
)  # fmt: skip
async def test_what_a_query_computes_besides_is_not_bold(question: str, sql: str) -> None:
    assert await bold(question, sql) == ""


CASH = [
    {"item": "Operating free cash flow", "amount": 9},
    {"item": "Free cash flow", "amount": 7},
    {"item": "Additions of Turku Holding", "amount": 2},
    {"item": "Additions of Gdansk Holding", "amount": 3},
]


@pytest.mark.parametrize(
    ("question", "rows", "shown"),
    [
        ("Average free cash flow?", ("Operating free cash flow", "Free cash flow"), ""),
        ("Average free cash flow?", ("Free cash flow", "Additions of Turku Holding"), ""),
        ("Average additions of Turku and Gdansk?", tuple(one["item"] for one in CASH[2:]), "2.5"),
        ("Free cash flow?", ("Free cash flow",), "7"),
        ("Cash flow?", ("Free cash flow",), ""),
        ("Additions of Gdansk?", ("Additions of Gdansk Holding",), "3"),
    ],
)
async def test_rows_that_the_question_does_not_name_alone_are_not_bold(
    question: str, rows: tuple[str, ...], shown: str
) -> None:
    listed = ", ".join(f"'{one}'" for one in rows)
    taken = "AVG(amount)" if len(rows) > 1 else "amount"
    sql = f"SELECT {taken} AS amount FROM harbours WHERE item IN ({listed})"
    assert await bold(question, sql, CASH) == (f"Amount: {shown}" if shown else "")


async def test_the_last_row_is_the_last_in_time() -> None:
    by = "SELECT ships FROM harbours WHERE harbour = 'Turku' ORDER BY {} DESC LIMIT 1"
    assert await bold("Last ships of Turku?", by.format("day")) == "Ships: 8"
    assert await bold("Last ships of Turku?", by.format("ships")) == ""


async def test_a_sum_over_a_total_is_not_bold() -> None:
    rows = [*SHIPS, {"harbour": "Total", "ships": 21, "average_wait": 0, "day": "2026-05-03"}]
    sql = "SELECT SUM(ships) AS ships FROM harbours"
    assert await bold("Sum of the ships?", sql) == "Ships: 21"
    assert await bold("Sum of the ships?", sql, rows) == ""
