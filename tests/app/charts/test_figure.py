import pytest
from PySide6.QtWidgets import QApplication

from app.charts.figure import Figure, Series, describe, number, point_words

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
