from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QColor, QImage

from app.look import theme
from app.look.machine import KEPT, Plot

Shown = Callable[[Any], Any]


def painted(plot: Plot, colour: str) -> int:
    """How many pixels are nearly of this colour."""
    wanted = QColor(colour)
    image: QImage = plot.grab().toImage()
    return sum(
        abs(image.pixelColor(x, y).green() - wanted.green()) < 12
        and abs(image.pixelColor(x, y).red() - wanted.red()) < 12
        for x in range(0, image.width(), 2)
        for y in range(image.height())
    )


async def test_it_draws_only_when_there_is_something(shown: Shown, qapp: object) -> None:
    plot = shown(Plot("accent"))
    plot.resize(300, 44)
    assert painted(plot, theme.LIGHT.accent) == 0
    for value in range(100):
        plot.add(float(value), "Speed")
    assert painted(plot, theme.LIGHT.accent) > 20
    assert plot.accessibleName() == "Speed"


async def test_it_keeps_the_last_values_only(shown: Shown, qapp: object) -> None:
    plot = shown(Plot("good"))
    for value in range(KEPT + 50):
        plot.add(float(value), "Memory")
    assert len(plot.values) == KEPT
    assert plot.values[0] == 50.0
