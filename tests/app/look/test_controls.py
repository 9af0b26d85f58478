from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.look import theme
from app.look.controls import Button, CopyButton, Label
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
