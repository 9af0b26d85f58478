"""The window: pages, notices; the keyboard reaches everything, and the help lists the keys."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, QSettings, Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSlider,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.chat.chats import Chat, ChatStore, Said
from app.chat.page import ChatPage
from app.look import theme
from app.look.controls import Button, PushButton
from app.shell.window import PAGES, GoTo, Place, ShortcutHelp, Window, shortcuts
from app.welcome import WelcomePage
from scripts.scenes.welcome import NoAutostart
from server.errors import AppError, DiskFull, HubFailed
from server.face.core import Knock, ModelStatus, ServerStatus
from server.face.plugins import OptionCard
from server.settings import OPENBB_ORIGINS
from server.system import paths
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import FORM, ORDER, PORTFOLIO
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
    assert bound - pages == {"Ctrl+N", "Ctrl+K", "Ctrl+,", "Ctrl+Q", "F1"}
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
    window.show_failure(AppError("It broke."))
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.banner.isHidden()
    assert page.show_options.isChecked()
    QTest.keyClick(page.composer.editor, Qt.Key.Key_Escape)
    assert not page.show_options.isChecked()
    assert page.show_list.isChecked()


OPTIONS = tuple(OptionCard(kind, f"A {kind}", kind) for kind in ("text", "file", "folders"))
CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QAbstractSpinBox,
    QAbstractItemView,
    QSlider,
)


INNER = (QComboBox, QLineEdit, QAbstractSpinBox, QTableView)


def controls(window: Window) -> list[QWidget]:
    """What one can press or write in, without the inner parts of Qt's own widgets."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and not isinstance(widget.parent(), INNER)
        and widget.window() is window
    ]


async def test_every_page_can_be_turned_to(core: FakeCore, memory: QSettings, shown: Shown) -> None:
    window = shown(Window(core, memory))
    for button, page in zip(window.buttons, PAGES, strict=True):
        button.click()
        assert isinstance(window.page(), page)
        assert button.isChecked()


async def test_the_sidebar_tells_the_state(core: FakeCore, memory: QSettings, shown: Shown) -> None:
    window = shown(Window(core, memory))
    assert (window._words.text(), window._where.text()) == ("Ready", "127.0.0.1:7777")
    core.server.set(ServerStatus("failed", reason="No."))
    assert (window._words.text(), window._where.text()) == (
        "Needs attention",
        "The server is not running",
    )


async def test_a_failed_command_is_told_until_dismissed(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    core.refuse = AppError("The disk is full.")
    window.page().hero.switch.click()
    await until(window.banner.isVisible)
    assert window.banner.text.text() == "The disk is full."
    window.banner.close_button.click()
    assert not window.banner.isVisible()


async def test_size_and_page_are_remembered(
    core: FakeCore, memory: QSettings, qapp: object
) -> None:
    window = Window(core, memory)
    window.show()
    window.resize(783, 611)
    window.turn_to("Logs")
    closed: list[str] = []
    window.closed.connect(lambda: closed.append("closed"))
    window.close()
    assert closed == ["closed"]
    again = Window(core, memory)
    assert (again.width(), again.height()) == (783, 611)
    assert again.page().title == "Logs"
    for one in (window, again):
        one.deleteLater()


async def test_every_control_has_a_name_and_is_reached_by_keyboard(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    core.plugins.cards.set(
        (replace(PORTFOLIO, options=OPTIONS, secrets=("KEY",), question="What?"),)
    )
    core.plugins.approvals.set((ORDER,))
    core.plugins.forms.set((FORM,))
    for page in PAGES:
        window.turn_to(page.title)
    found = controls(window)
    assert len(found) > 60
    nameless = [type(one).__name__ for one in found if not one.accessibleName()]
    assert nameless == []
    unreachable = [
        one.accessibleName()
        for one in found
        if not one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.focusProxy() is None
    ]
    assert unreachable == []


@pytest.mark.parametrize("title", [page.title for page in PAGES])
async def test_tab_walks_through_all_of_a_page(
    title: str, qtbot: QtBot, core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    window.turn_to(title)
    window.activateWindow()
    await until(window.isActiveWindow)
    wanted = {
        one
        for one in controls(window)
        if one.isVisible() and one.isEnabled() and window.page().isAncestorOf(one)
    }
    window.buttons[0].setFocus()
    met = set()
    for _ in range(len(controls(window)) + 10):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        met.add(QApplication.focusWidget())
    # Of a group of which one holds, Tab meets that one; the arrow keys reach the others.
    groups = {one.group() for one in met if isinstance(one, QAbstractButton) and one.group()}
    for one in wanted - met:
        assert isinstance(one, QAbstractButton), one.accessibleName()
        assert one.group() in groups, one.accessibleName()


class Watcher(QObject):
    """Notes every window that opens."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.opened.append(type(watched).__name__)
        return False


async def test_no_part_of_the_window_opens_as_a_window_of_its_own(
    memory: QSettings, qapp: QApplication, qtbot: QtBot
) -> None:
    watcher = Watcher()
    qapp.installEventFilter(watcher)
    core = FakeCore()
    window = Window(core, memory)
    qtbot.addWidget(window)
    window.show()
    for page in PAGES:
        window.turn_to(page.title)
    core.server.set(ServerStatus("failed", reason="No."))
    core.notices.set(("One.", "Two."))
    core.model.set(ModelStatus("loading", "m", 0.1))
    window.show_failure(AppError("No."))
    qapp.removeEventFilter(watcher)
    assert watcher.opened == ["Window"]


async def test_the_look_changes_while_it_is_open(
    core: FakeCore, memory: QSettings, shown: Shown, qapp: QApplication
) -> None:
    window = shown(Window(core, memory))
    light = window.grab().toImage().pixelColor(2, 2)
    theme.apply(qapp, "dark")
    await until(lambda: window.grab().toImage().pixelColor(2, 2).lightness() < 60)
    theme.apply(qapp, "light")
    await until(lambda: window.grab().toImage().pixelColor(2, 2) == light)


async def test_no_word_of_the_state_is_cut_in_the_sidebar(
    core: FakeCore, memory: QSettings, shown: Shown, speak: Callable[[str], None]
) -> None:
    speak("de")
    core.server.set(ServerStatus("failed", reason="No."))
    window = shown(Window(core, memory))
    QApplication.processEvents()
    for label in (window._words, window._where):
        room = label.contentsRect()
        needed = label.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, label.text())
        assert needed.width() <= room.width()
        assert needed.height() <= room.height()


@pytest.mark.parametrize("page", ["Chat", "Home", "Logs"])
async def test_what_asks_is_never_squeezed_and_leaves_room_for_the_page(
    page: str, core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    window.resize(*theme.SMALLEST_WINDOW)
    window.turn_to(page)
    fields = {f"Field {n}": {"type": "string", "description": "About it."} for n in range(15)}
    core.plugins.forms.set((replace(FORM, schema=json.dumps({"properties": fields})),))
    core.plugins.approvals.set((replace(ORDER, body="\n".join(map(str, range(30)))),))
    window.show_failure(AppError("Something did not work."))
    for one in (*window.forms.list.rows, *window.approvals.list.rows, window.banner):
        await until(lambda one=one: one.height() >= max(1, one.minimumSizeHint().height()))
    assert window.size().toTuple() == theme.SMALLEST_WINDOW
    assert window.page().height() >= 0.39 * window.height()
    bar = window._asks.verticalScrollBar()
    bar.setValue(bar.maximum())
    window.show_failure(AppError("Once more."))
    assert bar.value() == 0


async def test_what_asks_takes_no_more_room_than_it_needs(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    whole = window.page().height()
    core.plugins.approvals.set((ORDER,))
    await until(lambda: window.page().height() < whole)
    (card,) = window.approvals.list.rows
    await until(lambda: card.height() == card.minimumSizeHint().height())
    assert window._asks.verticalScrollBar().maximum() == 0
    assert window._asks.height() < card.height() + 2 * theme.PAGE_MARGIN
    core.plugins.approvals.set(())
    await until(lambda: window.page().height() == whole)


ASKING = ("https://a.example", "https://b.example", "https://c.example")


@pytest.mark.parametrize("active", [True, False], ids=["in front", "behind"])
@pytest.mark.parametrize("how", ["allowed", "gone", "hidden", "disabled", "deleted"])
async def test_the_keyboard_never_falls_on_another_button(
    core: FakeCore, memory: QSettings, shown: Shown, qtbot: QtBot, how: str, *, active: bool
) -> None:
    window = shown(Window(core, memory))
    window.turn_to("Connect")
    core.knocks.set(tuple(Knock(at, one, "GET", "x", "origin") for at, one in enumerate(ASKING)))
    buttons = [one for one in window.page().findChildren(Button) if one.text() == "Allow"]
    await come_to_front(window)
    await until(lambda: all(button.isVisible() for button in buttons))
    buttons[0].setFocus()
    assert QApplication.focusWidget() is buttons[0]
    other = shown(QLineEdit())
    if not active:
        await come_to_front(other)
    take_away(core, buttons[0], how)
    if how == "allowed":
        await until(lambda: len(core.settings.get().server.origins) > len(OPENBB_ORIGINS))
    await come_to_front(window)
    before = core.settings.get().server.origins
    assert not isinstance(QApplication.focusWidget(), QAbstractButton)
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return):
        qtbot.keyClick(QApplication.focusWidget(), key)
    assert core.settings.get().server.origins == before
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is not window


async def come_to_front(window: QWidget) -> None:
    window.raise_()
    window.activateWindow()
    await until(window.isActiveWindow)


def take_away(core: FakeCore, button: Button, how: str) -> None:
    match how:
        case "allowed":
            button.click()
        case "gone":
            core.knocks.set(core.knocks.get()[1:])
        case "hidden":
            button.hide()
        case "disabled":
            button.setEnabled(False)
        case "deleted":
            shiboken6.delete(button)


async def test_the_technical_side_of_a_failure_is_behind_details(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    error = HubFailed("Cannot reach huggingface.co.")
    error.__cause__ = OSError(111, "Connection refused")
    window.show_failure(error)
    details = window.banner.details
    assert window.banner.text.text() == "Cannot reach huggingface.co."
    assert details.switch.isVisible()
    assert not details.text.isVisible()
    details.switch.click()
    assert details.text.isVisible()
    said = "hub_failed\nConnectionRefusedError: [Errno 111] Connection refused"
    assert details.text.text() == said
    window.show_failure(DiskFull("The disk is full."))
    assert not details.text.isVisible()
    assert window.banner.advice.text() == "Free some space and try again."
    window.show_failure(AppError("This name is taken."))
    assert not details.isVisible()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space])
async def test_enter_presses_the_button_that_one_went_to(
    core: FakeCore, memory: QSettings, shown: Shown, qtbot: QtBot, key: Qt.Key
) -> None:
    window = shown(Window(core, memory))
    await come_to_front(window)
    plugins = next(one for one in window.buttons if one.page.title == "Plugins")
    plugins.setFocus(Qt.FocusReason.TabFocusReason)
    other = shown(QLineEdit())
    await come_to_front(other)
    await come_to_front(window)
    qtbot.keyClick(plugins, key)
    assert window.page().title == "Plugins"


async def test_enter_begins_on_the_welcome_page(
    core: FakeCore, memory: QSettings, shown: Shown, qtbot: QtBot, tmp_path: Path
) -> None:
    window = Window(core, memory)
    page = WelcomePage(core, NoAutostart(), tmp_path)
    window.welcome(page)
    page.done.connect(lambda: window.farewell(page))
    other = shown(QLineEdit())
    await come_to_front(other)
    shown(window)
    await come_to_front(window)
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    await until(lambda: window.page().title == "Chat")


async def test_enter_presses_no_button_that_the_program_went_to(
    core: FakeCore, memory: QSettings, shown: Shown, qtbot: QtBot
) -> None:
    window = shown(Window(core, memory))
    await come_to_front(window)
    plugins = next(one for one in window.buttons if one.page.title == "Plugins")
    plugins.setFocus()
    qtbot.keyClick(plugins, Qt.Key.Key_Return)
    qtbot.keyClick(plugins, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert window.page().title == "Home"


async def test_every_button_of_the_window_knows_enter(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    for page in PAGES:
        window.turn_to(page.title)
        assert all(isinstance(one, PushButton) for one in window.findChildren(QPushButton))


async def test_the_column_of_chats_covers_no_chat_by_itself(
    core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    window.turn_to("Chat")
    page = window.page()
    window.resize(*theme.WINDOW_SIZE)
    await until(page.middle.left.isVisible)
    window.resize(900, 600)
    await until(lambda: not page.middle.left.isVisible())
    page.show_list.click()
    assert page.middle.left.isVisible()
    page.show_list.click()
    window.resize(*theme.WINDOW_SIZE)
    await until(page.middle.left.isVisible)


def test_the_column_of_chats_is_as_it_was_left(
    qtbot: QtBot, core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    def chat_of(window: Window) -> ChatPage:
        window.resize(1400, 800)
        window.turn_to("Chat")
        page = window.page()
        assert isinstance(page, ChatPage)
        return page

    page = chat_of(shown(Window(core, memory)))
    edge, before = page.middle.left.edge, page.middle.left.width()
    qtbot.mousePress(edge, Qt.MouseButton.LeftButton, pos=QPoint(2, 40))
    qtbot.mouseMove(edge, QPoint(52, 40))
    assert page.middle.left.width() == before + 50
    again = chat_of(shown(Window(core, memory)))
    assert (again.show_list.isChecked(), again.middle.left.width()) == (True, before + 50)
    again.show_list.click()
    memory.setValue("chat/list_width", "broken")
    third = chat_of(shown(Window(core, memory)))
    assert (third.show_list.isChecked(), third.middle.left.wide) == (False, theme.PANEL_WIDTH)
