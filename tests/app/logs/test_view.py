from collections.abc import Callable
from typing import Any

from app.logs.view import LogLines, LogView
from app.look import theme
from server.face.core import LogLine

Shown = Callable[[Any], Any]


def filled(*levels: str) -> LogLines:
    lines = LogLines()
    for number, level in enumerate(levels):
        lines.add(LogLine(float(number), level, "source", f"line {number}"))
    lines.filter("debug", "")
    lines.flush()
    return lines


async def test_errors_stand_out(shown: Shown) -> None:
    calm = shown(LogView(filled("debug", "debug"))).grab().toImage()
    alarmed = shown(LogView(filled("debug", "error"))).grab().toImage()

    def reds(image: Any) -> int:
        points = ((x, y) for x in range(0, image.width(), 1) for y in range(60))
        return sum(image.pixelColor(x, y).name() == theme.LIGHT.bad for x, y in points)

    assert reds(calm) == 0
    assert reds(alarmed) > 0


async def test_the_selected_lines_are_chosen_in_their_order(shown: Shown) -> None:
    view = shown(LogView(filled("info", "info", "info")))
    assert len(view.chosen()) == 3
    view.selectRow(1)
    assert [line.text for line in view.chosen()] == ["line 1"]
