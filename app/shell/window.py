"""The main window: a sidebar, the pages, keyboard shortcuts, and what happens on closing."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QByteArray, QEvent, QObject, QSettings, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFormLayout,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.activity import ActivityPage
from app.chat.page import ChatPage
from app.connect.page import ConnectPage
from app.hardware import HardwarePage
from app.home import HomePage
from app.logs import LogsPage
from app.look import icons, theme
from app.look.controls import Banner, Label, PushButton, field, row, short_name, stack
from app.look.icons import LookPicture, Picture
from app.look.layouts import ShortScroll
from app.look.page import Page, SafeKeyboard
from app.look.summary import Summary, look_words, watch
from app.look.translate import tr
from app.models.page import ModelsPage
from app.plugins.page import PluginsPage
from app.plugins.questions import ApprovalCard, Asked, FormBox, Waiting, name_plugin
from app.settings import SettingsPage
from server.errors import AppError
from server.face.core import Face
from server.face.plugins import Approval, FormCard
from server.observe import Disconnect, Value

_MOST = 60
"""The most places that are listed."""
_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Shortcut:
    keys: str
    words: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place to go to: a page, a chat, a model or a setting."""

    words: str
    kind: str
    go: Callable[[], object]
    synonyms: str = ""
    """Other words that find it. They are not shown."""

    def matches(self, wanted: Sequence[str]) -> bool:
        known = f"{self.words} {self.kind} {self.synonyms}".casefold()
        return all(word in known for word in wanted)

    def is_named(self, wanted: Sequence[str]) -> bool:
        return all(word in self.words.casefold() for word in wanted)


def shortcuts() -> tuple[Shortcut, ...]:
    """Returns the shortcuts for the help. `Window._bind_keys` binds the same keys."""
    return (
        Shortcut("Ctrl+N", tr("New chat")),
        Shortcut("Ctrl+K", tr("Go to a page, chat, model or setting")),
        Shortcut("Ctrl+,", tr("Settings")),
        Shortcut("Ctrl+1 … Ctrl+9", tr("The pages, in the order of the sidebar")),
        Shortcut("Enter", tr("Send the message")),
        Shortcut("Shift+Enter", tr("New line in the message")),
        Shortcut("Esc", tr("Stop the answer, close a message or a panel")),
        Shortcut("Tab, Shift+Tab", tr("Next or previous control")),
        Shortcut("Enter, Space", tr("Press the button")),
        Shortcut("Ctrl+Q", tr("Quit Moat")),
        Shortcut("F1", tr("This list")),
    )


class ShortcutHelp(SafeKeyboard, QDialog):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        form = QFormLayout()
        form.setHorizontalSpacing(theme.HUGE)
        form.setVerticalSpacing(theme.MEDIUM)
        # Show the keys as the system and the language name them.
        native = QKeySequence.SequenceFormat.NativeText
        for one in shortcuts():
            parts = [QKeySequence(part).toString(native) or part for part in one.keys.split(" … ")]
            form.addRow(Label(" … ".join(parts), "section"), Label(one.words))
        column = stack(Label(tr("Keyboard shortcuts"), "headline"), form, spacing=theme.LARGE)
        column.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        self.setLayout(column)


class GoTo(SafeKeyboard, QDialog):
    """A dialog to find a place by typing a few letters. The arrows choose, and Enter goes there."""

    def __init__(self, places: Sequence[Place], parent: QWidget) -> None:
        super().__init__(parent)
        self.take_focus_itself()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Go to"))
        self.resize(*theme.DIALOG_SIZE)
        self._places = places
        self._found: list[Place] = []
        words = tr("Go to a page, chat, model or setting")
        self.text = field(words, words)
        self.text.installEventFilter(self)
        self.text.textChanged.connect(self._find)
        self.text.returnPressed.connect(self._go)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Places found"))
        self.list.itemActivated.connect(lambda _: self._go())
        self.list.itemClicked.connect(lambda _: self._go())
        self.nothing = Label(tr("Nothing found."), "muted")
        column = QVBoxLayout(self)
        column.setSpacing(theme.MEDIUM)
        for part in (self.text, self.nothing, self.list):
            column.addWidget(part)
        self._find("")
        self.text.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Lets the arrow keys move in the list while the focus stays in the field."""
        is_key = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if is_key and event.key() in _MOVES:  # type: ignore[attr-defined]
            self.list.keyPressEvent(event)  # type: ignore[arg-type]
            return True
        return super().eventFilter(watched, event)

    def _find(self, text: str) -> None:
        wanted = text.casefold().split()
        found = [place for place in self._places if place.matches(wanted)]
        found.sort(key=lambda place: not place.is_named(wanted))
        self._found = found[:_MOST]
        self.list.clear()
        for place in self._found:
            self.list.addItem(QListWidgetItem(f"{short_name(place.words)}   ·   {place.kind}"))
        self.list.setCurrentRow(0 if self._found else -1)
        self.nothing.setVisible(not self._found)

    def _go(self) -> None:
        row = self.list.currentRow()
        if 0 <= row < len(self._found):
            self.accept()
            self._found[row].go()


PAGES: tuple[type[Page], ...] = (
    HomePage,
    ChatPage,
    ConnectPage,
    ModelsPage,
    HardwarePage,
    PluginsPage,
    ActivityPage,
    LogsPage,
    SettingsPage,
)


_GEOMETRY = "window/geometry"
_PAGE = "window/page"
_MOST_ASKING = 0.6
"""The most of the window's height that messages and questions may take above the page."""


class NavButton(PushButton):
    """A button of the sidebar, for one page."""

    def __init__(self, page: type[Page]) -> None:
        super().__init__(f"  {tr(page.title)}")
        self.page = page
        self.setCheckable(True)
        self.setAutoExclusive(True)
        # A click must not leave the focus ring on the button.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setIconSize(QSize(theme.ICON, theme.ICON))
        self.setAccessibleName(tr(page.title))
        self.toggled.connect(self._draw)
        self._draw()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() in theme.LOOK_CHANGES:
            self._draw()

    def _draw(self) -> None:
        colours = theme.colours_of(QGuiApplication.palette())
        colour = colours.accent if self.isChecked() else colours.muted
        self.setIcon(icons.icon(self.page.icon, colour, theme.ICON))


class Window(SafeKeyboard, QWidget):
    """The main window. `closed` is emitted when the person closes it; the session acts on it."""

    closed = Signal()
    wants_quit = Signal()

    def __init__(self, core: Face, memory: QSettings) -> None:
        super().__init__()
        self._core = core
        self._memory = memory
        self.take_focus_itself()
        self.setWindowTitle("Moat")
        self.setWindowIcon(icons.app_icon())
        self.setMinimumSize(*theme.SMALLEST_WINDOW)
        self.resize(*theme.WINDOW_SIZE)
        self._pages: dict[str, Page] = {}
        self.buttons = [NavButton(page) for page in PAGES]
        self.banner = Banner("bad")
        self.notice = Banner("info")
        self.approvals: Waiting[Approval, ApprovalCard] = Waiting(ApprovalCard)
        self.forms: Waiting[FormCard, FormBox] = Waiting(FormBox)
        self._messages = QWidget()
        self._asks = ShortScroll(self._messages, self.approvals, self.forms)
        self._stack = QStackedWidget()
        self._is_welcoming = False
        self._look = LookPicture(theme.LOOK_SIDE)
        self._words = Label("", "section", wrap=True)
        self._where = Label("", "small", wrap=True)
        self._ends = ends = [watch(core, self.show_summary)]
        self._lay_out()
        self._connect()
        self._bind_keys()
        self.destroyed.connect(lambda: [end() for end in ends])
        self._remember()

    def turn_to(self, title: str) -> None:
        """Shows a page. Does nothing during the welcome, where there is no sidebar to return by."""
        if self._is_welcoming:
            return
        self._stack.setCurrentWidget(self._built(title))
        for button in self.buttons:
            button.setChecked(button.page.title == title)
        self._memory.setValue(_PAGE, title)
        (self.page().first or self).setFocus()

    def welcome(self, page: Page) -> None:
        """Shows this page alone, without the sidebar, until `farewell`."""
        page.failed.connect(self.show_failure)
        self._stack.addWidget(page)
        self._stack.setCurrentWidget(page)
        self._bar.hide()
        self._is_welcoming = True

    def farewell(self, page: Page) -> None:
        self._is_welcoming = False
        self._bar.show()
        self.turn_to("Chat")
        self._stack.removeWidget(page)
        page.deleteLater()

    def page(self) -> Page:
        current = self._stack.currentWidget()
        assert isinstance(current, Page)
        return current

    def raise_to_front(self) -> None:
        if self.isMinimized():
            self.showNormal()
        self.show()
        self.raise_()
        self.activateWindow()

    def show_summary(self, summary: Summary) -> None:
        self._look.show_look(summary.look)
        self._words.setText(look_words(summary.look))
        address = self._core.server.get().address
        self._where.setText(address.partition("//")[2] or summary.headline)

    def show_failure(self, error: AppError) -> None:
        self.banner.fail(tr("Something went wrong"), error)
        self.banner.show()
        self._show_messages()

    def show_notice(self, sentence: str) -> None:
        self.notice.tell("", sentence)
        self.notice.show()
        self._show_messages()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._memory.setValue(_GEOMETRY, self.saveGeometry())
        event.accept()
        self.closed.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._asks.set_most(round(self.height() * _MOST_ASKING))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        first = self.page().first or self
        if self._is_welcoming and isinstance(first, PushButton):
            first.await_enter()
        else:
            first.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Handles Esc that no control used: hides a message, else closes something on the page."""
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self.banner.isHidden():
            self._dismiss(self.banner)
        elif not self.notice.isHidden():
            self._dismiss(self.notice)
        else:
            self.page().close_something()

    def go_to(self) -> None:
        if not self._is_welcoming:
            GoTo(self.places(), self).open()

    def places(self) -> list[Place]:
        """Returns everything to go to: pages, models, chats and settings."""
        found = [
            Place(tr(page.title), tr("Page"), partial(self.turn_to, page.title)) for page in PAGES
        ]
        chat, settings = self._built("Chat"), self._built("Settings")
        assert isinstance(chat, ChatPage)
        assert isinstance(settings, SettingsPage)
        found += [
            Place(card.name, tr("Use this model"), partial(self._use, card.name))
            for card in self._core.models.cards.get()
        ]
        found += [
            Place(title, tr("Chat"), partial(self._open_chat, chat_id))
            for chat_id, title in chat.saved()
        ]
        return found + [
            Place(
                field.title.text(), tr("Settings"), partial(self._open_setting, name), field.words
            )
            for name, field in settings.fields.items()
        ]

    def _use(self, name: str) -> None:
        self.page().run(self._core.load_model(name))

    def _open_chat(self, chat_id: str) -> None:
        self._turn_to_chat().open_saved(chat_id)

    def _turn_to_chat(self) -> ChatPage:
        self.turn_to("Chat")
        page = self.page()
        assert isinstance(page, ChatPage)
        return page

    def _open_setting(self, name: str) -> None:
        self.turn_to("Settings")
        page = self.page()
        assert isinstance(page, SettingsPage)
        page.show_setting(name)

    def _new_chat(self) -> None:
        if not self._is_welcoming:
            self._turn_to_chat().clear()

    def _bind_keys(self) -> None:
        """Binds the shortcuts that `shortcuts()` lists."""
        keys: dict[str, Callable[[], object]] = {
            "Ctrl+N": self._new_chat,
            "Ctrl+K": self.go_to,
            "Ctrl+,": partial(self.turn_to, "Settings"),
            "Ctrl+Q": self.wants_quit.emit,
            "F1": lambda: ShortcutHelp(self).open(),
        }
        for number, page in enumerate(PAGES, 1):
            keys[f"Ctrl+{number}"] = partial(self.turn_to, page.title)
        for text, act in keys.items():
            QShortcut(QKeySequence(text), self).activated.connect(act)

    def _show_waiting(
        self, widget: Waiting[Asked, Any], source: Value[tuple[Asked, ...]]
    ) -> Disconnect:
        """Shows the questions that wait for a person, with the names of their plugins."""
        cards = self._core.plugins.cards
        return source.connect(
            lambda waiting: widget.show_waiting(
                tuple(name_plugin(one, cards.get()) for one in waiting)
            )
        )

    def _answer(self, widget: Waiting[Any, Any], answer: Callable[[], Awaitable[None]]) -> None:
        """Sends an answer. If it is refused or lost, the question opens again."""

        async def send() -> None:
            try:
                await answer()
            except AppError:
                widget.open_again()
                raise

        self.page().run(send())

    def _built(self, title: str) -> Page:
        """Returns a page. Builds it when it is first needed."""
        if title not in self._pages:
            page = next(page for page in PAGES if page.title == title)(self._core)
            page.failed.connect(self.show_failure)
            page.wants_page.connect(self.turn_to)
            page.remember(self._memory)
            self._pages[title] = page
            self._stack.addWidget(page)
        return self._pages[title]

    def _remember(self) -> None:
        geometry = self._memory.value(_GEOMETRY)
        if isinstance(geometry, QByteArray):
            self.restoreGeometry(geometry)
        last = str(self._memory.value(_PAGE, ""))
        titles = [page.title for page in PAGES]
        self.turn_to(last if last in titles else titles[0])

    def _connect(self) -> None:
        for button, page in zip(self.buttons, PAGES, strict=True):
            button.clicked.connect(lambda _=False, title=page.title: self.turn_to(title))
        plugins = self._core.plugins
        self.approvals.answered.connect(
            lambda number, decision: self._answer(
                self.approvals, partial(plugins.answer_approval, number, decision, "")
            )
        )
        self.forms.answered.connect(
            lambda *given: self._answer(self.forms, partial(plugins.answer_form, *given))
        )
        self._ends.append(self._show_waiting(self.approvals, plugins.approvals))
        self._ends.append(self._show_waiting(self.forms, plugins.forms))
        self.banner.dismissed.connect(lambda: self._dismiss(self.banner))
        self.notice.dismissed.connect(lambda: self._dismiss(self.notice))

    def _show_messages(self) -> None:
        self._messages.show()
        self._asks.show_top()

    def _dismiss(self, strip: Banner) -> None:
        strip.hide()
        self._messages.setHidden(self.banner.isHidden() and self.notice.isHidden())

    def _lay_out(self) -> None:
        messages = stack(self.notice, self.banner, spacing=theme.SMALL)
        side = theme.PAGE_MARGIN
        messages.setContentsMargins(side, theme.MEDIUM, side, 0)
        self._messages.setLayout(messages)
        right = stack(self._asks, self._stack, spacing=0, grows=self._stack)
        # Let it become smaller than a page wants: questions have precedence.
        self._stack.setMinimumHeight(1)
        for hidden in (self.notice, self.banner, self._messages):
            hidden.hide()
        self._bar = self._sidebar()
        self.setLayout(row(self._bar, right, spacing=0, grows=right))

    def _sidebar(self) -> QFrame:
        bar = QFrame()
        bar.setObjectName("sidebar")
        bar.setFixedWidth(theme.SIDEBAR_WIDTH)
        brand = row(
            Picture("moat", theme.BRAND_SIDE), Label("Moat", "brand"), 0, spacing=theme.MEDIUM
        )
        brand.setContentsMargins(theme.SMALL, 0, 0, theme.LARGE)
        group = QButtonGroup(bar)
        for button in self.buttons:
            group.addButton(button)
        words = stack(self._words, self._where, spacing=0)
        foot = row(self._look, words, spacing=theme.MEDIUM, grows=words)
        foot.setContentsMargins(theme.SMALL, 0, 0, 0)
        column = stack(brand, *self.buttons, 0, foot)
        column.setContentsMargins(theme.MEDIUM, theme.PAGE_MARGIN - 4, theme.MEDIUM, theme.LARGE)
        bar.setLayout(column)
        return bar
