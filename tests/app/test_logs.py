import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.logs import LogLines, LogsPage, LogView
from app.look import theme
from server.face.core import LogLine
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

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


def line(number: int, level: str = "info", text: str = "") -> LogLine:
    return LogLine(1_700_000_000 + number, level, "server.core.core", text or f"line {number}")


def texts(page: LogsPage) -> list[str]:
    return [one.text for one in page.lines.lines()]


async def test_lines_come_live(core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    core.logged.emit(line(1))
    core.logged.emit(line(2))
    await until(lambda: texts(page) == ["line 1", "line 2"])
    assert page.count.text() == "2 lines"


async def test_what_was_logged_before_is_recalled_once(core: FakeCore, shown: Shown) -> None:
    core.earlier = [line(1), line(2)]
    page = shown(LogsPage(core))
    core.logged.emit(line(2))
    core.logged.emit(line(3))
    await until(lambda: texts(page) == ["line 1", "line 2", "line 3"])


async def test_an_empty_list_says_why(core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    assert page.empty.text() == "No lines yet."
    page.lines.add(LogLine(1.0, "info", "engine", "loaded"))
    page.lines.flush()
    assert page.empty.isHidden()
    page.lines.filter("error", "")
    assert page.empty.text() == "No line matches the filter."


@pytest.mark.parametrize("spoken", ["de", "zh"])
async def test_the_bar_fits_into_the_smallest_window(
    core: FakeCore, shown: Shown, speak: Callable[[str], None], spoken: str
) -> None:
    speak(spoken)
    page = shown(LogsPage(core))
    page.pause.setChecked(True)
    assert page.minimumSizeHint().width() <= theme.SMALLEST_WINDOW[0] - theme.SIDEBAR_WIDTH


async def test_levels_and_text_filter(qtbot: QtBot, core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    for number, level in enumerate(("debug", "info", "warning", "error")):
        core.logged.emit(line(number, level))
    await until(lambda: texts(page) == ["line 1", "line 2", "line 3"])
    page.level.setCurrentIndex(0)
    assert texts(page) == ["line 0", "line 1", "line 2", "line 3"]
    page.level.setCurrentIndex(3)
    assert texts(page) == ["line 3"]
    page.level.setCurrentIndex(0)
    qtbot.keyClicks(page.search, "LINE 2")
    await until(lambda: texts(page) == ["line 2"])


async def test_pause_keeps_what_comes_for_later(core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    page.pause.click()
    core.logged.emit(line(1))
    await until(lambda: "1 new" in page.count.text())
    assert texts(page) == []
    assert page.pause.text() == "Resume"
    page.pause.click()
    assert texts(page) == ["line 1"]


async def test_all_or_the_selected_lines_are_copied(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    page = shown(LogsPage(core))
    core.logged.emit(line(1))
    core.logged.emit(line(2, "warning"))
    await until(lambda: len(texts(page)) == 2)
    page.copy.click()
    assert len(QGuiApplication.clipboard().text().splitlines()) == 2
    page.view.setCurrentIndex(page.lines.index(1))
    page.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.endswith("warning server.core.core: line 2")
    assert page.detail.text() == copied
    assert page.detail.isVisible()


async def test_the_list_can_be_cleared(core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    core.logged.emit(line(1))
    await until(lambda: texts(page))
    page.clear.click()
    assert texts(page) == []


async def test_a_flood_of_lines_is_shown_in_few_steps(core: FakeCore, shown: Shown) -> None:
    """Nothing is lost, and the page has few changes to draw. `make bench` measures the gaps."""
    page = shown(LogsPage(core))
    steps: list[int] = []
    page.view.model().rowsInserted.connect(lambda _parent, first, last: steps.append(last - first))
    for tick in range(300):
        for number in range(100):
            core.logged.emit(line(tick * 100 + number))
        await asyncio.sleep(0)
    await until(lambda: len(texts(page)) == 30_000)
    assert 1 <= len(steps) <= 300
    assert page.view.verticalScrollBar().value() == page.view.verticalScrollBar().maximum()


async def test_reading_further_up_is_not_disturbed(core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    for number in range(500):
        core.logged.emit(line(number))
    await until(lambda: len(texts(page)) == 500)
    bar = page.view.verticalScrollBar()
    await until(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    bar.setValue(10)
    core.logged.emit(line(501))
    await until(lambda: len(texts(page)) == 501)
    assert bar.value() == 10


async def test_ctrl_c_copies(qtbot: QtBot, core: FakeCore, shown: Shown) -> None:
    page = shown(LogsPage(core))
    core.logged.emit(line(7))
    await until(lambda: texts(page))
    QGuiApplication.clipboard().clear()
    page.view.setFocus()
    qtbot.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    await until(lambda: "line 7" in QGuiApplication.clipboard().text())
