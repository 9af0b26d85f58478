from collections.abc import Callable
from typing import Any

from pytestqt.qtbot import QtBot

from app.look.banner import Banner
from app.look.controls import Button
from tests.kit.until import until

Shown = Callable[[Any], Any]


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
