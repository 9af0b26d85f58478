"""The keyboard reaches everything, and the help names what it can do."""

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QSettings, Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest

from app.chat.chats import Chat, ChatStore, Said
from app.shell.shortcuts import GoTo, Place, ShortcutHelp, shortcuts
from app.shell.window import PAGES, Window
from server.system import paths
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


@pytest.fixture
def window(core: FakeCore, memory: QSettings, shown: Shown) -> Window:
    made: Window = shown(Window(core, memory))
    return made


def press(window: Window, keys: str) -> None:
    """As the key would: what is bound to it in this window."""
    found = [one for one in window.findChildren(QShortcut) if one.key().toString() == keys]
    assert len(found) == 1, keys
    found[0].activated.emit()


async def test_each_page_has_its_number(window: Window) -> None:
    for number, page in enumerate(PAGES, 1):
        press(window, f"Ctrl+{number}")
        assert window.page().title == page.title
    press(window, "Ctrl+N")
    assert window.page().title == "Chat"
    press(window, "Ctrl+,")
    assert window.page().title == "Settings"


async def test_the_help_names_every_key_that_is_bound(window: Window) -> None:
    named = " ".join(one.keys for one in shortcuts())
    bound = {one.key().toString() for one in window.findChildren(QShortcut)}
    pages = {f"Ctrl+{number}" for number in range(1, len(PAGES) + 1)}
    assert bound - pages == {"Ctrl+N", "Ctrl+K", "Ctrl+,", "F1"}
    assert all(keys in named for keys in bound - pages)
    press(window, "F1")
    (help_shown,) = window.findChildren(ShortcutHelp)
    assert help_shown.isVisible()
    help_shown.close()


async def test_typing_finds_a_page_a_model_a_setting_and_a_chat(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    chat = Chat(said=[Said("user", "What is duration risk?"), Said("assistant", "It is …")])
    ChatStore(paths.find().data / "chats").keep(chat)
    window = shown(Window(core, memory))
    kinds = {place.kind for place in window.places()}
    assert kinds == {"Page", "Use this model", "Chat", "Settings"}
    go_to(window, "duration")
    assert window.page()._chat.id == chat.id
    go_to(window, "theme settings")
    assert window.page().title == "Settings"
    assert window.page().fields["window.theme"].isVisible()
    go_to(window, "hardware page")
    assert window.page().title == "Hardware"
    name = core.models.cards.get()[-1].name
    go_to(window, name)
    await until(lambda: core.model.get().name == name)


async def test_a_setting_is_found_by_the_words_its_own_search_knows(window: Window) -> None:
    go_to(window, "dark mode")
    assert window.page().title == "Settings"
    assert window.page().fields["window.theme"].isVisible()


async def test_what_is_named_comes_before_what_only_mentions_it(window: Window) -> None:
    dialog = GoTo(window.places(), window)
    dialog.text.setText("port")
    first = dialog.list.item(0).text()
    assert "port" in first.partition("·")[0].casefold()


def go_to(window: Window, text: str) -> None:
    press(window, "Ctrl+K")
    dialog = window.findChildren(GoTo)[-1]
    QTest.keyClicks(dialog.text, text)
    QTest.keyClick(dialog.text, Qt.Key.Key_Return)
    assert not dialog.isVisible()


async def test_the_arrows_choose_while_the_field_keeps_the_keyboard(
    window: Window,
) -> None:
    went: list[str] = []
    places = [Place(name, "Page", lambda name=name: went.append(name)) for name in "abc"]
    dialog = GoTo(places, window)
    dialog.show()
    QTest.keyClick(dialog.text, Qt.Key.Key_Down)
    assert dialog.list.currentRow() == 1
    QTest.keyClick(dialog.text, Qt.Key.Key_Return)
    assert went == ["b"]


async def test_what_nobody_has_is_said(window: Window) -> None:
    dialog = GoTo(window.places(), window)
    dialog.show()
    dialog.text.setText("zzzz")
    assert dialog.nothing.isVisible()
    QTest.keyClick(dialog.text, Qt.Key.Key_Return)
    assert dialog.isVisible()
    dialog.close()


async def test_escape_closes_a_message_and_then_a_panel(window: Window) -> None:
    press(window, "Ctrl+N")
    page = window.page()
    page.show_options.setChecked(True)
    window.show_failure("It broke.")
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.banner.isHidden()
    assert page.show_options.isChecked()
    QTest.keyClick(page.composer.editor, Qt.Key.Key_Escape)
    assert not page.show_options.isChecked()
    assert page.show_list.isChecked()
