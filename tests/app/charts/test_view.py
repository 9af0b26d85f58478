"""Charts as they are drawn: looked at pixel by pixel where a colour must be."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip

from app.charts.figure import Figure, Kind, Series
from app.charts.view import ChartView, slice_at
from app.look import theme
from tests.kit.contrast import contrast

Shown = Callable[[Any], Any]
LABELS = tuple(f"label {n}" for n in range(12))
VALUES = (
    Series("one", tuple(float(n) for n in range(12))),
    Series("two", (*(20.0 - n for n in range(11)), None)),
)


def colours(image: QImage) -> set[str]:
    return {
        image.pixelColor(x, y).name()
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    }


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("kind", ["line", "bar", "scatter", "pie", "donut"])
def test_every_kind_is_drawn_in_its_colours(
    kind: Kind, look: str, shown: Shown, qapp: QApplication
) -> None:
    theme.apply(qapp, look)
    try:
        view = shown(ChartView(Figure(kind, LABELS, VALUES, "Title", "across")))
        seen = colours(view.grab().toImage())
        wanted = theme.DARK if look == "dark" else theme.LIGHT
        assert {wanted.series_1, wanted.series_2, wanted.surface} <= seen
    finally:
        theme.apply(qapp, "light")


@pytest.mark.parametrize("stacked", [True, False])
@pytest.mark.parametrize("count", [1, 400])
def test_few_and_many_points_fit(count: int, stacked: bool, shown: Shown) -> None:
    labels = tuple(f"a rather long label {n}" for n in range(count))
    series = tuple(
        Series("name " * 9 + str(n), tuple((-1.0) ** at * at for at in range(count)))
        for n in range(14)
    )
    view = shown(ChartView(Figure("bar", labels, series, is_stacked=stacked)))
    view.resize(320, 300)
    assert not view.grab().isNull()


def test_arrow_keys_read_it_off(shown: Shown) -> None:
    view = shown(ChartView(Figure("line", ("a", "b"), (Series("s", (1.0, 2.0)),), "T")))
    view.setFocus()
    assert view.accessibleName() == "T"
    assert view.accessibleDescription().startswith("Line chart: T.")
    for key, at in ((Qt.Key.Key_Right, 0), (Qt.Key.Key_End, 1), (Qt.Key.Key_Right, 1)):
        QTest.keyClick(view, key)
        assert view.pointed == at
    assert view.accessibleDescription() == "b\ns: 2"
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.pointed == 0
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.pointed == 0


def test_the_pointer_reads_it_off_as_plain_text(shown: Shown) -> None:
    view = shown(ChartView(Figure("bar", ("<b>a</b>", "b"), (Series("s", (1.0, 2.0)),))))
    QTest.mouseMove(view, QPoint(view.width() // 4, view.height() // 2))
    assert view.pointed == 0
    assert "&lt;b&gt;" in QToolTip.text()
    QTest.mouseMove(view, QPoint(2, 2))
    assert view.pointed is None


def test_a_slice_is_found_by_its_angle() -> None:
    whole = Figure("pie", ("a", "b"), (Series("s", (75.0, 25.0)),))
    box = QRectF(0, 0, 100, 100)
    assert slice_at(whole, box, QPointF(60, 40)) == 0
    assert slice_at(whole, box, QPointF(40, 40)) == 1
    assert slice_at(whole, box, QPointF(0, 0)) is None


@pytest.mark.parametrize("look", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_every_series_can_be_seen(look: theme.Colours) -> None:
    """More than the 3:1 that WCAG asks of graphics; and no two are the same."""
    assert len(set(look.series)) == 8
    for colour in look.series:
        assert QColor(colour).isValid()
        assert contrast(colour, look.surface) >= 4.5
        assert contrast(colour, look.window) >= 4.5
