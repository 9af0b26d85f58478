import json
import math
import tracemalloc
from datetime import date
from typing import Any

import pytest

from server.data import tables
from server.data.tables import from_grid, from_json


def kinds(found: Any) -> dict[str, str]:
    table = from_json(found, "T")
    assert table is not None
    return {column.name: column.kind for column in table.columns}


def test_columns_are_typed_by_all_their_values() -> None:
    rows = [
        {"day": "2025-01-02", "price": 1.25, "name": "a", "note": None},
        {"day": "2025-01-03", "price": None, "name": 7, "note": ""},
    ]
    assert kinds(rows) == {"day": "date", "price": "number", "name": "text", "note": "empty"}


@pytest.mark.parametrize(
    ("text", "number"),
    [("1,234.5", 1234.5), ("$12", 12), ("12.5%", 12.5), ("(300)", -300), ("-4", -4)],
)
def test_amounts_written_as_text_are_numbers(text: str, number: float) -> None:
    table = from_json([{"a": text}, {"a": "n/a"}], "T")
    assert table is not None
    assert table.values("a") == [number, None]


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_beyond_all_others_is_text(number: int) -> None:
    table = from_json([{"a": number}, {"a": 1}], "T")
    assert table is not None
    assert table.values("a") == [str(number), "1"]
    assert kinds([{"a": number}, {"a": 1}]) == {"a": "text"}


@pytest.mark.parametrize("cells", [["$1,000", "€2,000", "¥500"], ["5%", 5], ["5%", "$5"]])
def test_amounts_of_several_units_stay_text(cells: list[Any]) -> None:
    table = from_json([{"a": cell} for cell in cells], "T")
    assert table is not None
    assert table.columns[0].kind == "text"


def test_identifiers_stay_text() -> None:
    assert kinds([{"id": "00123"}, {"id": "00456"}]) == {"id": "text"}


def test_epoch_milliseconds_under_a_time_name_are_dates() -> None:
    table = from_json([{"lastUpdated": 1737038636601}, {"lastUpdated": 1735689600000}], "T")
    assert table is not None
    assert table.values("lastUpdated") == ["2025-01-16 14:43:56", "2025-01-01"]


@pytest.mark.parametrize(
    "found",
    [
        [["a", "b"], [1, 2], [3, 4]],
        {"columns": ["a", "b"], "data": [[1, 2], [3, 4]]},
        {"a": [1, 3], "b": [2, 4]},
        {"results": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]},
        [{"a": 1, "b": 2}, {"a": 3, "b": 4}],
    ],
)
def test_every_shape_of_rows(found: Any) -> None:
    table = from_json(found, "T")
    assert table is not None
    assert table.records() == [{"a": 1, "b": 2}, {"a": 3, "b": 4}]


def test_a_figure_gives_its_points() -> None:
    figure = {"data": [{"x": [1, 2], "y": [3, 4], "name": "s"}], "layout": {}}
    table = from_json(figure, "T")
    assert table is not None
    assert table.rows == [(1, 3, "s"), (2, 4, "s")]


@pytest.mark.parametrize("found", [[], {}, "text", 3, None, [1, 2], {"a": {"b": 1}}, [[1], 2]])
def test_what_is_no_table(found: Any) -> None:
    assert from_json(found, "T") is None


def test_odd_cells_do_no_harm() -> None:
    table = from_grid(["a", "a", None], [[math.nan, True], [{"x": 1}, 2**70, 3, 4]], "T")
    assert [column.name for column in table.columns] == ["a", "a_2", "column", "column_2"]
    assert table.rows == [(None, "true", None, None), ('{"x": 1}', str(float(2**70)), 3, 4)]


def test_too_many_rows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    table = from_json([{"a": number} for number in range(5)], "T")
    assert table is not None
    assert (len(table.rows), table.cut) == (3, 2)


@pytest.mark.parametrize("name", ["consolidated_revenue", "lifetime value", "sentimentScore"])
def test_an_amount_whose_name_only_contains_a_word_of_time_stays_a_number(name: str) -> None:
    assert kinds([{name: 383285000000}]) == {name: "number"}


@pytest.mark.parametrize("name", ["Date", "trade_date", "asOfDate", "lastUpdated", "event time"])
def test_a_word_of_time_in_a_name_makes_epochs_dates(name: str) -> None:
    assert kinds([{name: 1737038636601}]) == {name: "date"}


def test_a_column_for_each_row_fills_no_memory() -> None:
    found = [{f"k{number}": 1} for number in range(3000)]
    tracemalloc.start()
    table = from_json(found, "T")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table is not None
    assert (len(table.columns), len(table.rows), table.cut_columns) == (200, 3000, 2800)
    assert peak < 40_000_000


def test_wide_tables_have_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 12)
    table = from_json([dict.fromkeys("abc", number) for number in range(10)], "T")
    assert table is not None
    assert (len(table.rows), table.cut) == (4, 6)


def test_half_an_emoji_is_left_out() -> None:
    table = from_json([{"a\ud83d": "Up \ud83d", "b": ["\ud83d!"]}], "T")
    assert table is not None
    assert table.records() == [{"a": "Up ", "b": "!"}]


def test_endless_nesting_in_a_cell_is_shortened() -> None:
    deep = json.loads("[" * 900 + "]" * 900)
    for _ in range(5000):
        deep = [deep]
    table = from_json([{"a": deep, "b": 1}], "T")
    assert table is not None
    assert table.values("a") == ["[…]"]


@pytest.mark.parametrize("levels", [101, 500, 990, 1490, 9990, 100_000])
def test_what_is_too_deep_for_a_cell_is_the_same_on_every_python(levels: int) -> None:
    deep: list[object] = []
    names: dict[str, object] = {}
    for _ in range(levels - 1):
        deep, names = [1, deep, "x"], {"n": 1, "in": names}
    table = from_json([{"a": deep, "b": names}], "T")
    assert table is not None
    assert table.records() == [{"a": "[…]", "b": "{…}"}]


def test_a_cell_of_another_type_is_its_text() -> None:
    table = from_grid(["a"], [[date(2026, 1, 31)], [(1, 2)]], "T")
    assert table.values("a") == ['"2026-01-31"', "[1, 2]"]


def test_a_hundred_levels_in_a_cell_are_kept() -> None:
    table = from_json([{"a": json.loads("[" * 100 + "]" * 100), "b": 1}], "T")
    assert table is not None
    assert table.values("a") == ["[" * 100 + "]" * 100]


def test_names_stay_apart() -> None:
    table = from_grid(["a", "a", "a_2"], [[1, 2, 3]], "T")
    assert len({column.name for column in table.columns}) == 3


def test_exponents_are_numbers_and_long_digits_are_names() -> None:
    table = from_json([{"a": "1.5e-3", "b": "1" * 25}], "T")
    assert table is not None
    assert table.rows == [(0.0015, "1" * 25)]


@pytest.mark.parametrize(
    ("cells", "numbers", "unit", "is_scaled"),
    [
        (["$3.4T", "$950B"], [3_400_000_000_000, 950_000_000_000], "$", True),
        (["1.234,50", "12,25"], [1234.5, 12.25], "", False),
        (["12,5 %", "-3,25 %"], [12.5, -3.25], "%", False),
        (["1.234", "5.678"], [1.234, 5.678], "", False),
    ],
)
def test_amounts_keep_their_unit(
    cells: list[str], numbers: list[float], unit: str, is_scaled: bool
) -> None:
    table = from_grid(["a"], [[cell] for cell in cells], "T")
    assert table.values("a") == numbers
    (column,) = table.columns
    assert (column.kind, column.unit, column.is_scaled) == ("number", unit, is_scaled)


def test_terms_of_bonds_are_no_millions() -> None:
    table = from_grid(["term"], [["1M"], ["3M"], ["6M"]], "T")
    assert table.columns[0].kind == "text"


def test_a_header_of_several_rows_becomes_one() -> None:
    grid = [
        ["", "Domestic", "", "International", ""],
        ["(in thousands)", "2019", "2018", "2019", "2018"],
        ["", "", "(unaudited)", "", ""],
        ["Sales", "1,200", "1,100", "50", "40"],
        ["Costs", "900", "800", "30", "20"],
    ]
    table = from_json(grid, "T")
    assert table is not None
    assert [column.name for column in table.columns] == [
        "(in thousands)",
        "Domestic 2019 (unaudited)",
        "Domestic 2018 (unaudited)",
        "International 2019 (unaudited)",
        "International 2018 (unaudited)",
    ]
    assert table.rows[0] == ("Sales", 1200, 1100, 50, 40)
    records = from_json([dict(zip("\x00abcd", row, strict=True)) for row in grid[1:]], "T")
    assert records is not None
    assert [column.name for column in records.columns][1:] == list("abcd")


def test_rows_below_whole_names_are_data() -> None:
    rows = [{"name": "Acme", "founded": "1999"}, {"name": "", "founded": "2001"}]
    table = from_json(rows, "T")
    assert table is not None
    assert (len(table.rows), table.columns[1].name) == (2, "founded")


def test_objects_in_cells_become_columns() -> None:
    found = [
        {"symbol": "A", "price": {"last": 1, "currency": "USD"}, "tags": ["x", 2, None, True]},
        {"symbol": "B", "price": {"last": 2.5, "change": {"day": -1}}, "tags": []},
        {"symbol": "C", "price": None},
    ]
    table = from_json(found, "T")
    assert table is not None
    assert [column.name for column in table.columns] == [
        "symbol", "price.last", "price.currency", "tags", "price.change.day", "price",
    ]  # fmt: skip
    assert table.rows[0] == ("A", 1, "USD", "x, 2, true", None, None)
    assert table.rows[1] == ("B", 2.5, None, None, -1, None)
    assert table.of_kind("number")[0].name == "price.last"


def test_one_object_of_objects_is_a_list_of_fields() -> None:
    table = from_json({"symbol": "A", "price": {"last": 1, "currency": "USD"}}, "T")
    assert table is not None
    assert table.rows == [("symbol", "A"), ("price.last", "1"), ("price.currency", "USD")]


def test_a_flattened_name_takes_no_other_column() -> None:
    table = from_json([{"a": {"b": 1}, "a.b": 2}], "T")
    assert table is not None
    assert table.records() == [{"a.b_2": 1, "a.b": 2}]


def test_wide_and_deep_objects_stay_one_cell() -> None:
    wide = {f"k{number}": number for number in range(tables.MOST_NESTED + 1)}
    deep: dict[str, Any] = {"end": 1}
    for _ in range(10):
        deep = {"in": deep}
    table = from_json([{"wide": wide, "deep": deep, "rows": [{"a": 1}]}], "T")
    assert table is not None
    assert [column.name for column in table.columns] == ["wide", "deep.in.in.in.in", "rows"]
    assert table.values("rows") == ['[{"a": 1}]']


def test_long_lists_are_shortened() -> None:
    table = from_json([{"a": list(range(1000))}], "T")
    assert table is not None
    assert str(table.values("a")[0]).endswith("99, …")


def test_an_amount_may_have_its_measure_behind_it() -> None:
    rows = [
        {"size": "180,200 t", "wait": "4.2 d", "rate": "1.234,5 USD/t"},
        {"size": "57,800 t", "wait": "12 d", "rate": "87,25 USD/t"},
        {"size": None, "wait": "0.9 d", "rate": "3 USD/t"},
    ]
    table = from_json(rows, "T")
    assert table is not None
    assert table.rows == [(180_200, 4.2, 1234.5), (57_800, 12, 87.25), (None, 0.9, 3)]
    assert [column.unit for column in table.columns] == ["t", "d", "USD/t"]
    assert not any(column.is_scaled for column in table.columns)


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["10 years", "2 years"], "text"),
        (["400 mg", "500 mg"], "text"),
        (["4.2 d", "3 weeks"], "text"),
        (["1.5 Mio", "2.25 Mio"], "number"),
        (["$3.4 t", "$1.2 t"], "number"),
    ],
)
def test_names_with_a_number_and_powers_of_ten_are_no_measures(cells: list[str], kind: str) -> None:
    table = from_json([{"a": cell, "b": 1} for cell in cells], "T")
    assert table is not None
    assert table.columns[0].kind == kind
    assert table.columns[0].unit in ("", "$")


def test_seconds_since_1970_are_days_in_a_column_of_times() -> None:
    rows = [{"ETA": 1_795_478_400, "day_volume": 1_795_478_400, "Fälligkeit": 1_795_478_401}]
    table = from_json(rows, "T")
    assert table is not None
    assert table.rows == [("2026-11-24", 1_795_478_400, "2026-11-24 00:00:01")]


def test_an_object_of_objects_is_a_table() -> None:
    fields = from_json({"solvency": {"cet1": 0.1427}, "liquidity": {"lcr": 1.432}}, "T")
    assert fields is not None
    assert fields.rows == [("solvency.cet1", 0.1427), ("liquidity.lcr", 1.432)]
    rows = from_json({"A": {"price": 1, "name": "x"}, "B": {"price": 2, "name": "y"}}, "T")
    assert rows is not None
    assert rows.records() == [
        {"key": "A", "price": 1, "name": "x"},
        {"key": "B", "price": 2, "name": "y"},
    ]


def test_whole_days_since_1970_are_days_whatever_their_column_is_called() -> None:
    day = 86_400_000
    rows = [
        {"last_change": 20_000 * day, "raised": 20_000 * day + 1, "seen": 86_400 * number}
        for number in (20_001, 20_002, 20_003)
    ]
    table = from_json(rows, "T")
    assert table is not None
    assert [column.kind for column in table.columns] == ["date", "number", "date"]
    assert table.rows[0][0] == "2024-10-04"
