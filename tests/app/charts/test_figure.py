import json
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from app.charts.figure import (
    Figure,
    Series,
    describe,
    figure_of,
    number,
    parts,
    point_words,
    without_charts,
    written,
)
from server.chat import Json
from server.data.charts import build
from server.events import Artifact
from server.flows.steps import USUAL_CHART

SALES = Figure(
    "line", ("2023", "2024"), (Series("A", (1.0, 9.0)), Series("B", (None, None))), "Sales"
)
PARTS = Figure("pie", ("x", "y"), (Series("w", (30.0, 10.0)),))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (0.25, "0.25"), (999.5, "999.5"), (12_500, "12,500"), (3.4e6, "3.4 M"),
        (-2e9, "-2 B"), (7.25e12, "7.25 T"), (1e-9, "1e-09"), (1e18, "1e+18"),
    ],
)  # fmt: skip
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_a_chart_is_told_in_words(qapp: QApplication) -> None:
    assert describe(SALES) == (
        "Line chart: Sales. 2 points from 2023 to 2024. A: lowest 1 at 2023, highest 9 at 2024."
    )
    assert describe(PARTS) == "Pie chart. x 75%, y 25%."


def test_a_point_is_read_off() -> None:
    assert point_words(SALES, 1) == "2024\nA: 9\nB: -"
    assert point_words(PARTS, 0) == "x\nw: 30  (75.0%)"


ROWS: list[Json] = [{"year": "2024", "a": 1, "b": 4.5}, {"year": "2025", "a": None, "b": 2}]


def option(kind: str, **choice: Any) -> Json:
    return build(ROWS, {**USUAL_CHART, "chart": kind, "title": "T", **choice})


def drawn(made: Json) -> Figure:
    figure = figure_of(made)
    assert figure is not None
    return figure


@pytest.mark.parametrize("kind", ["line", "bar", "scatter"])
def test_what_a_flow_renders_is_drawn(kind: str) -> None:
    figure = drawn(option(kind, stacked=True, scale="log"))
    assert figure.kind == kind
    assert (figure.title, figure.across) == ("T", "year")
    assert figure.labels == ("2024", "2025")
    assert [one.name for one in figure.series] == ["a", "b"]
    assert figure.series[0].values == (1.0, None)
    assert (figure.is_log, figure.is_stacked) == (True, True)


def test_slices_without_a_part_are_left_out() -> None:
    figure = drawn(option("pie", ring=True))
    assert figure.kind == "donut"
    assert figure.labels == ("2024",)


def test_numbers_along_the_axis_of_points() -> None:
    rows: list[Json] = [{"x": 3, "y": 1}, {"x": 9.5, "y": 2}]
    made = build(rows, {**USUAL_CHART, "chart": "scatter"})
    assert drawn(made).places == (3.0, 9.5)
    assert drawn({**made, "series": [{**made["series"][0], "type": "line"}]}).places == ()


@pytest.mark.parametrize(
    "made",
    [
        None, [], {}, {"dataset": {"source": []}, "series": []},
        {"dataset": {"source": ROWS}, "series": [{"type": "map"}]},
        {"dataset": {"source": [{"a": "x"}]}, "series": [{"type": "bar"}]},
        {"dataset": {"source": [{"a": "x", "b": "y"}]}, "series": [{"type": "bar"}]},
        {"dataset": {"source": [{"a": "x", "b": float("nan")}]}, "series": [{"type": "bar"}]},
        {"dataset": {"source": [{"a": "x", "b": 10**400}]}, "series": [{"type": "bar"}]},
        {"dataset": 3, "series": "bar"},
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_no_figure(made: Any) -> None:
    assert figure_of(made) is None


def test_an_answer_is_told_apart_into_text_and_charts() -> None:
    chart = f"```echarts\n{json.dumps(option('bar'))}\n```"
    before, figure, after = parts(f"Look:\n\n{chart}\n\nSo it is.")
    assert (before, after) == ("Look:", "So it is.")
    assert isinstance(figure, Figure)
    assert parts("Only text.\n") == ["Only text.\n"]
    assert parts('Look:\n\n```echarts\n{"title') == ["Look:\n\n"]
    broken = "```echarts\n{}\n```"
    assert parts(broken) == [broken]
    assert parts("") == []


def test_the_model_is_not_sent_its_charts() -> None:
    chart = f"```echarts\n{json.dumps(option('bar'))}\n```"
    assert without_charts(f"A\n\n{chart}\n\nB") == "A\n\nB"


def test_artifacts_become_part_of_the_text() -> None:
    chart = {"kind": "line", "x": "year", "y": ["a", "b"]}
    text = written(Artifact("chart", "Sales", "", {"rows": ROWS, "chart": chart}))
    (figure,) = parts(text)
    assert isinstance(figure, Figure)
    assert (figure.title, len(figure.series)) == ("Sales", 2)
    ring = {"kind": "donut", "x": "year", "y": ["b"]}
    (figure,) = parts(written(Artifact("chart", "", "", {"rows": ROWS, "chart": ring})))
    assert isinstance(figure, Figure)
    assert figure.kind == "donut"
    table = written(Artifact("table", "t", "", {"rows": [{"a|b": "x\ny"}]}))
    assert table == "| a\\|b |\n| --- |\n| x y |"
    assert written(Artifact("text", "t", "", {"text": "note"})) == "note"
    assert written(Artifact("chart", "", "", {"rows": [], "chart": chart})) == ""


@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "pie"])
def test_numbers_beyond_all_measure_are_no_points(kind: str) -> None:
    rows: list[Json] = [{"x": "a", "y": 1.5}, {"x": "b", "y": -(10**400)}, {"x": "c", "y": 1e308}]
    figure = drawn(build(rows, {**USUAL_CHART, "chart": kind, "title": "T"}))
    known = [value for _, value in figure.series[0].known()]
    assert known == [1.5]


@pytest.mark.parametrize("y", [[], 3, None, "year"])
def test_a_chart_without_columns_is_its_table(y: Any) -> None:
    for kind in ("pie", "line"):
        chart = {"kind": kind, "x": "year", "y": y}
        text = written(Artifact("chart", "Sales", "", {"rows": ROWS, "chart": chart}))
        assert text.startswith("| year | a | b |")


def test_only_where_a_chart_was_the_gap_is_closed() -> None:
    chart = f"```echarts\n{json.dumps(option('bar'))}\n```"
    code = "```python\nimport a\n\n\n\nx = a\n```\n"
    assert without_charts(code) == code
    assert without_charts(f"{chart}\n\n\nA\n\n\nB\n\n{chart}\n{chart}") == "A\n\n\nB"


def test_a_table_says_what_it_leaves_out(speak: Callable[[str], None]) -> None:
    rows = [{"i": n} for n in range(2100)]
    lines = written(Artifact("table", "t", "", {"rows": rows})).split("\n")
    assert (lines[51], lines[52], lines[53:]) == ("| 49 |", "", ["2,050 more rows"])
    assert written(Artifact("table", "t", "", {"rows": rows[:51]})).endswith("\n\n1 more row")
    assert written(Artifact("table", "t", "", {"rows": rows[:50]})).endswith("| 49 |")
    speak("de")
    assert written(Artifact("table", "t", "", {"rows": rows[:52]})).endswith("2 weitere Zeilen")


def test_a_table_has_the_columns_of_all_its_rows() -> None:
    rows = [{"a": 1}, {"a": 2, "b": 3}]
    text = written(Artifact("table", "t", "", {"rows": rows}))
    assert text == "| a | b |\n| --- | --- |\n| 1 |  |\n| 2 | 3 |"


def test_no_label_steers_the_screen() -> None:
    sly = "\u202egnp.exe\x1b[2J\u2066\n"
    rows = [{sly: sly, "a" + sly: 1}, {sly: "b", "a" + sly: 2}]
    made: Json = {
        "title": {"text": sly},
        "dataset": {"source": rows},
        "xAxis": {"type": "category", "name": sly},
        "series": [{"type": "bar", "name": sly, "encode": {"x": sly, "y": "a" + sly}}],
    }
    figure = drawn(made)
    shown = [figure.title, figure.across, *figure.labels, *(one.name for one in figure.series)]
    assert shown == ["gnp.exe[2J", "gnp.exe[2J", "gnp.exe[2J", "b", "gnp.exe[2J"]
    table = written(Artifact("table", "T", "", {"rows": rows}))
    assert "\u202e" not in table
    assert "\x1b" not in table
