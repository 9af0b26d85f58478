from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QApplication, QFrame, QWidget
from pytestqt.qtbot import QtBot

from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    CodeBox,
    CopyButton,
    Label,
    Remark,
    Rows,
    Segments,
    Slider,
)
from app.look.model_rows import DownloadRow
from app.look.page import Page
from server.errors import AppError, OutOfMemory
from server.face.models import Download
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def test_what_comes_from_elsewhere_is_never_markup(shown: Shown) -> None:
    label = shown(Label("<b>not bold</b>"))
    assert label.textFormat() == Qt.TextFormat.PlainText


async def test_copying_is_confirmed_for_a_moment(shown: Shown) -> None:
    button = shown(CopyButton("the text", lambda: "some text"))
    button.click()
    assert QGuiApplication.clipboard().text() == "some text"
    assert (button.text(), button.accessibleName()) == ("Copied", "Copied the text")
    await until(lambda: button.text() == "Copy")
    assert button.accessibleName() == "Copy the text"


async def test_a_button_without_words_has_a_name_and_a_hint(shown: Shown) -> None:
    button = shown(Button("Close", "close", "icon", name="Close this"))
    assert button.text() == ""
    assert (button.accessibleName(), button.toolTip()) == ("Close this", "Close this")


async def test_icons_follow_the_look(shown: Shown, qapp: QApplication) -> None:
    button = shown(Button("Copy", "copy"))
    light = button.icon().pixmap(18).toImage()
    theme.apply(qapp, "dark")
    await until(lambda: button.icon().pixmap(18).toImage() != light)
    theme.apply(qapp, "light")
    await until(lambda: button.icon().pixmap(18).toImage() == light)


async def test_a_label_with_nothing_to_say_takes_no_room(shown: Shown) -> None:
    label = shown(Label("x"))
    label.tell("")
    assert not label.isVisible()


async def test_a_screen_reader_is_told_the_value_in_words(shown: Shown, qapp: object) -> None:
    slider = shown(Slider("Context", lambda value: f"{value:,} tokens", "How much it reads."))
    slider.offer((2048, 4096, 8192), 4096)
    assert slider.slider.accessibleName() == "Context: 4,096 tokens"
    slider.slider.setValue(2)
    assert slider.slider.accessibleName() == "Context: 8,192 tokens"
    assert slider.slider.accessibleDescription() == "How much it reads."


async def test_it_tells_and_takes_no_room_for_what_is_missing(shown: Shown) -> None:
    banner = shown(Banner("bad", closes=False))
    banner.tell("Title", "Text", "Advice")
    assert [part.isVisible() for part in (banner.title, banner.text, banner.advice)] == [True] * 3
    banner.tell("", "Only this")
    assert not banner.title.isVisible()
    assert not banner.advice.isVisible()
    assert banner.accessibleName() == "Only this"


async def test_the_words_get_the_width(shown: Shown) -> None:
    banner = shown(Banner("warn", text="A sentence that fits well into one line."))
    assert banner.text.width() > banner.width() * 0.8


async def test_it_can_be_dismissed(qtbot: QtBot, shown: Shown) -> None:
    banner = shown(Banner("info", text="Hello."))
    with qtbot.waitSignal(banner.dismissed, timeout=30_000):
        banner.close_button.click()


async def test_buttons_stand_in_their_order(shown: Shown) -> None:
    banner = shown(Banner("bad", closes=False))
    first, second = Button("Try again"), Button("Open the log")
    banner.add_button(first)
    banner.add_button(second)
    await until(lambda: 0 < first.x() < second.x())


def test_a_remark_says_what_failed_and_what_is_technical_on_request(shown: Shown) -> None:
    remark = shown(Remark())
    error = OutOfMemory("It does not fit.")
    error.__cause__ = MemoryError("mmap")
    remark.fail(error)
    assert remark.text() == "It does not fit. Close other programs, or choose a smaller model."
    assert remark.words.property("role") == "bad"
    assert not remark.details.text.isVisible()
    remark.details.switch.click()
    assert remark.details.text.text() == "out_of_memory\nMemoryError: mmap"
    assert remark.details.text.isVisible()
    remark.tell("It works")
    assert remark.words.property("role") == "small"
    assert not remark.details.isVisible()
    remark.tell("")
    assert not remark.isVisible()


def test_a_remark_has_no_button_where_nothing_is_technical(shown: Shown) -> None:
    remark = shown(Remark())
    remark.fail(AppError("Give it a name."))
    assert remark.isVisible()
    assert remark.details is None


def test_a_failed_download_has_its_details(shown: Shown) -> None:
    failed = Download("1", "m", "r", "failed", reason="It broke.", details="disk_failed\nOSError")
    page = Page(FakeCore())
    line = shown(DownloadRow(failed, page, page.core.models))
    line.show_download(failed)
    assert line.state.text() == "It broke."
    assert line.state.details.text.text() == failed.details


async def test_rows_are_in_the_order_of_their_items_with_dividers_between(shown: Shown) -> None:
    rows: Rows[str, Label] = Rows(lambda item: item, Label)
    page = QWidget()
    page.setLayout(rows.layout)
    shown(page)
    for items in ("bc", "abc", "c", "acb", "b", ""):
        rows.show(items)
        assert [row.text() for row in rows.rows] == list(items)
        lines = [rows.layout.itemAt(place).widget() for place in range(rows.layout.count())]
        assert [line.findChild(Label).text() for line in lines] == list(items)
        dividers = [line.findChild(QFrame, "divider") for line in lines]
        assert [not one.isHidden() for one in dividers] == [
            place > 0 for place in range(len(items))
        ]


async def test_a_segment_has_room_for_its_words_in_bold(shown: Shown) -> None:
    """The chosen one is bold. As wide as its plain words, it lost its last letter."""
    segments = shown(Segments("Lists", ("Auf diesem Computer", "Andere Server")))
    (first, other), bold = segments.buttons, QFont(segments.buttons[0].font())
    bold.setWeight(QFont.Weight.DemiBold)
    for button in (first, other):
        padding = button.sizeHint().width() - QFontMetrics(bold).horizontalAdvance(button.text())
        assert padding >= 2 * theme.SMALL
        assert button.width() >= button.sizeHint().width()


@pytest.mark.parametrize("line", ["short", "long " * 100])
async def test_all_lines_of_a_code_box_are_seen(shown: Shown, line: str) -> None:
    box = shown(CodeBox("code", most_lines=20))
    for lines in (1, 18, 20):
        box.show_text("\n".join([line] * lines))
        await until(lambda: bool(box.horizontalScrollBar().maximum()) == (line != "short"))
        await until(lambda: not box.verticalScrollBar().maximum())
    box.show_text("\n".join([line] * 21))
    await until(lambda: box.verticalScrollBar().maximum())
