import json

import pytest

from server.asking.ask import Means
from server.dashboard import charts
from server.dashboard.charts import build, draw
from server.data.tables import from_grid
from tests.kit.engines import ScriptedEngine, says

PRICES = from_grid(
    ["date", "open", "close"],
    [["2025-01-02", 2.0, 3.0], ["2025-01-01", 1.0, None], ["2025-01-03", 4.0, 5.0]],
    "Prices",
)
SECTORS = from_grid(["sector", "share"], [["A", 10], ["B", 70], ["C", 20]], "Sectors")


async def drawn(question: str, table: object, *scripts: str) -> charts.Chart | None:
    engine = ScriptedEngine(*(says(script) for script in scripts))
    return await draw(Means(engine), question, table)  # type: ignore[arg-type]


async def test_a_named_column_over_time_is_a_line_sorted_and_without_gaps() -> None:
    chart = await drawn("Plot the close", PRICES)
    assert chart is not None
    assert (chart.kind, chart.x, chart.y) == ("line", "date", ("close",))
    assert chart.rows == [
        {"date": "2025-01-02", "close": 3.0},
        {"date": "2025-01-03", "close": 5.0},
    ]


async def test_where_nothing_is_named_the_model_picks_under_a_grammar() -> None:
    answer = json.dumps({"kind": "scatter", "columns": ["open"]})
    chart = await drawn("Draw a chart", PRICES, answer)
    assert chart is not None
    assert (chart.kind, chart.y) == ("scatter", ("open",))


async def test_a_model_that_answers_nonsense_gets_the_plainest_chart() -> None:
    chart = await drawn("Draw a chart", PRICES, "nonsense")
    assert chart is not None
    assert (chart.kind, chart.y) == ("line", ("open",))


async def test_a_pie_of_the_largest() -> None:
    chart = await drawn("a pie chart of share by sector", SECTORS)
    assert chart is not None
    assert (chart.kind, chart.x, chart.y) == ("pie", "sector", ("share",))
    assert [row["sector"] for row in chart.rows] == ["B", "C", "A"]


async def test_the_smallest_slices_of_a_pie_are_one() -> None:
    table = from_grid(["name", "share"], [[f"n{n}", n] for n in range(1, 21)], "T")
    chart = await drawn("a pie chart of share by name", table)
    assert chart is not None
    assert len(chart.rows) == 12
    assert chart.rows[-1] == {"name": "Other", "share": sum(range(1, 10))}


async def test_several_entities_over_time_become_series() -> None:
    rows = [[f"2025-01-0{day}", name, day] for day in (1, 2) for name in ("X", "Y")]
    chart = await drawn("Chart the close", from_grid(["date", "symbol", "close"], rows, "L"))
    assert chart is not None
    assert chart.y == ("X", "Y")
    assert chart.rows[0] == {"date": "2025-01-01", "X": 1, "Y": 1}


async def test_without_numbers_there_is_no_chart() -> None:
    assert await drawn("chart it", from_grid(["a"], [["x"]], "T")) is None


def test_many_points_are_thinned_and_the_ends_kept() -> None:
    table = from_grid(["n", "v"], [[n, n] for n in range(10_000)], "T")
    chart = build(table, "line", "n", ["v"])
    assert chart is not None
    assert len(chart.rows) == 500
    assert (chart.rows[0]["n"], chart.rows[-1]["n"]) == (0, 9999)
    assert chart.about == "v by n, 500 of 10000 rows"


@pytest.mark.parametrize(("x", "y"), [("nothing", "close"), ("date", "date"), ("date", "nothing")])
def test_keys_that_are_no_columns_draw_nothing(x: str, y: str) -> None:
    assert build(PRICES, "line", x, [y]) is None


async def test_no_row_of_several_at_a_time_is_lost() -> None:
    rows = [["2025-01-01", "Food", 10], ["2025-01-01", "Food", 20], ["2025-01-01", "Rent", 500]]
    table = from_grid(["date", "category", "amount"], rows, "Spent")
    chart = await drawn("line chart of amount", table)
    assert chart is not None
    assert [row["amount"] for row in chart.rows] == [10, 20, 500]


async def test_rows_that_never_came_are_told_of_series_too() -> None:
    rows = [[f"2025-01-0{day}", name, day] for day in (1, 2) for name in ("X", "Y")]
    table = from_grid(["date", "symbol", "close"], rows, "L", cut=1000)
    chart = await drawn("Chart the close", table)
    assert chart is not None
    assert chart.about == "X, Y by date, 2 of 1002 rows"


@pytest.mark.parametrize("first", ["name", "date"])
async def test_a_slice_is_all_that_bears_its_name(first: str) -> None:
    rows = [["1", "Tech", 40], ["2", "Energy", 60], ["3", "Tech", 30]]
    days = [[f"2025-01-0{row[0]}", *row[1:]] for row in rows] if first == "date" else rows
    chart = await drawn(
        "pie chart of value by sector", from_grid([first, "sector", "value"], days, "H")
    )
    assert chart is not None
    assert chart.rows == [{"sector": "Tech", "value": 70}, {"sector": "Energy", "value": 60}]
    assert chart.about == "value by sector, added up"
