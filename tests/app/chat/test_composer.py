from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.chat.composer import Composer

Shown = Callable[[Any], Any]


def ready(shown: Shown) -> tuple[Composer, list[str]]:
    composer = shown(Composer())
    composer.show_open("Write a message", is_open=True)
    sent: list[str] = []
    composer.sent.connect(sent.append)
    return composer, sent


async def test_enter_sends_and_empties(qtbot: QtBot, shown: Shown) -> None:
    composer, sent = ready(shown)
    qtbot.keyClicks(composer.editor, "  Hello ")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == ["Hello"]
    assert composer.editor.toPlainText() == ""


async def test_shift_enter_begins_a_line_and_it_grows(qtbot: QtBot, shown: Shown) -> None:
    composer, sent = ready(shown)
    low = composer.editor.height()
    qtbot.keyClicks(composer.editor, "one")
    for _ in range(3):
        qtbot.keyClick(composer.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert sent == []
    assert composer.editor.height() > low
    tall = composer.editor.height()
    composer.editor.setPlainText("line\n" * 100)
    assert composer.editor.height() < 4 * tall


async def test_nothing_is_not_sent(qtbot: QtBot, shown: Shown) -> None:
    composer, sent = ready(shown)
    assert not composer.button.isEnabled()
    qtbot.keyClicks(composer.editor, "   ")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []


async def test_while_an_answer_comes_the_button_stops(qtbot: QtBot, shown: Shown) -> None:
    composer, sent = ready(shown)
    composer.show_answering(answering=True)
    qtbot.keyClicks(composer.editor, "next")
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    with qtbot.waitSignal(composer.stopped, timeout=30_000):
        composer.button.click()
    composer.show_answering(answering=False)
    composer.button.click()
    assert sent == ["next"]


async def test_nothing_is_sent_while_it_is_held(qtbot: QtBot, shown: Shown) -> None:
    composer, sent = ready(shown)
    qtbot.keyClicks(composer.editor, "Hello")
    composer.hold(held=True)
    assert not composer.button.isEnabled()
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == []
    composer.hold(held=False)
    qtbot.keyClick(composer.editor, Qt.Key.Key_Return)
    assert sent == ["Hello"]
