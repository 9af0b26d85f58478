"""The list of saved chats: grouped by date, with search, rename, pin and delete in place."""

import time
from collections.abc import Sequence
from datetime import date
from html import escape

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from app.chat.chats import Chat
from app.look import theme
from app.look.controls import (
    LONGEST_HINT,
    Button,
    Label,
    reveal,
    row,
    search_field,
    short_name,
    shortened,
    stack,
)
from app.look.translate import tr
from server.system.limits import one_line

_ID = Qt.ItemDataRole.UserRole
_WEEK, _MONTH = 7, 30


def group_words(chat: Chat, today: date) -> str:
    """Returns the heading that a chat is listed under."""
    if chat.pinned:
        return tr("Pinned")
    days = (today - date.fromtimestamp(chat.changed_at)).days
    if days <= 0:
        return tr("Today")
    if days == 1:
        return tr("Yesterday")
    if days <= _WEEK:
        return tr("Previous 7 days")
    return tr("Previous 30 days") if days <= _MONTH else tr("Older")


class RowActions(QWidget):
    """The buttons at the end of a row: pin, rename and delete."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("rowActions")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.item: QListWidgetItem | None = None
        self.pin = Button("", "pin", "icon", name=tr("Pin"))
        self.rename = Button("", "edit", "icon", name=tr("Rename"))
        self.forget = Button("", "trash", "icon", name=tr("Delete"))
        for button in (self.pin, self.rename, self.forget):
            button.setProperty("scale", "small")
        self.setLayout(row(self.pin, self.rename, self.forget, spacing=0))
        self.hide()

    def show_chat(self, item: QListWidgetItem, *, pinned: bool) -> None:
        self.item = item
        title = item.text()
        self.pin.set_icon(
            "pin", (tr("Unpin {name}") if pinned else tr("Pin {name}")).format(name=title)
        )
        self.rename.set_icon("edit", tr("Rename {name}").format(name=title))
        self.forget.set_icon("trash", tr("Delete {name}").format(name=title))
        self.adjustSize()


class ChatList(QWidget):
    """The list of saved chats. Its signals carry the id of a chat."""

    opened = Signal(str)
    forgotten = Signal(str)
    renamed = Signal(str, str)
    pinned = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self._chats: Sequence[Chat] = ()
        self._current = ""
        self._is_renaming = False
        self.search = search_field(tr("Search chats"))
        self.search.textChanged.connect(lambda _: self._filter(self._chosen()))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Saved chats"))
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.row_actions = RowActions(self.list.viewport())
        self.nothing = Label("", "muted", wrap=True)
        self.sure = Button(tr("Delete"), "trash")
        self.keep = Button(tr("Cancel"))
        self.question = Label("", "small", wrap=True)
        asked = row(self.sure, self.keep, 0)
        parts = (self.search, self.nothing, self.list, self.question, asked)
        column = stack(*parts, spacing=theme.SMALL, grows=self.list)
        column.setContentsMargins(*([theme.MEDIUM] * 4))
        self.setLayout(column)
        self._connect()
        self._filter()

    def _connect(self) -> None:
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.currentItemChanged.connect(lambda *_: self._ask(asking=False))
        self.list.currentItemChanged.connect(lambda *_: self._place_actions())
        self.list.itemEntered.connect(self._place_actions)
        self.list.verticalScrollBar().valueChanged.connect(lambda _: self._place_actions())
        self.list.itemChanged.connect(
            lambda item: self.renamed.emit(item.data(_ID), one_line(item.text()).strip())
        )
        self.list.itemDelegate().closeEditor.connect(
            self._end_renaming, Qt.ConnectionType.QueuedConnection
        )
        for watched in (self.list, self.list.viewport()):
            watched.installEventFilter(self)
        self.row_actions.pin.clicked.connect(self._pin)
        self.row_actions.rename.clicked.connect(self._begin_renaming)
        self.row_actions.forget.clicked.connect(self._choose_to_forget)
        self.sure.clicked.connect(self._forget)
        self.keep.clicked.connect(lambda: self._ask(asking=False))

    def show_chats(self, chats: Sequence[Chat], current: str) -> None:
        """Shows the chats. The selection stays, unless another chat was opened."""
        has_changed = current != self._current
        self._chats, self._current = chats, current
        self._filter(current if has_changed else self._chosen())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        if watched is self.list and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Delete) and self._chosen():
                self._place_actions(self.list.currentItem())
                is_rename = event.key() == Qt.Key.Key_F2
                (self._begin_renaming if is_rename else self._choose_to_forget)()
                return True
        moves = (QEvent.Type.Leave, QEvent.Type.Resize, QEvent.Type.FocusIn, QEvent.Type.FocusOut)
        if event.type() in moves:
            self._place_actions()
        return super().eventFilter(watched, event)

    def _filter(self, wanted: str = "") -> None:
        if self._is_renaming:  # It would remove the field that the person is typing in.
            return
        text = self.search.text().strip()
        asked = self._chosen() if self.sure.isVisibleTo(self) else ""
        found = [chat for chat in self._chats if not text or chat.matches(text)]
        found.sort(key=lambda chat: not chat.pinned)
        chosen = wanted if wanted in {chat.id for chat in found} else self._current
        self.row_actions.item = None
        with QSignalBlocker(self.list):
            self.list.clear()
            self._fill(found, chosen)
        empty = tr("No chat matches.") if text else tr("Chats are saved here, on this computer.")
        self.nothing.tell("" if self.list.count() else empty)
        self._ask(asking=bool(asked) and asked == self._chosen())
        self._place_actions()

    def _fill(self, found: Sequence[Chat], chosen: str) -> None:
        today, heading = date.fromtimestamp(time.time()), ""
        for chat in found:
            if (words := group_words(chat, today)) != heading:
                heading = words
                head = QListWidgetItem(words)
                head.setFlags(Qt.ItemFlag.NoItemFlags)
                head.setForeground(self.palette().placeholderText())
                self.list.addItem(head)
            item = QListWidgetItem(short_name(chat.title))
            item.setData(_ID, chat.id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
            # Use markup on purpose: Qt would interpret a title that looks like markup.
            item.setToolTip(f"<p>{escape(shortened(one_line(chat.title), LONGEST_HINT))}</p>")
            self.list.addItem(item)
            if chat.id == chosen:
                self.list.setCurrentItem(item)

    def _chosen(self) -> str:
        item = self.list.currentItem()
        return str(item.data(_ID)) if item else ""

    def _place_actions(self, entered: QListWidgetItem | None = None) -> None:
        """Shows the buttons at the row under the pointer, else at the current row with focus."""
        item = entered
        if item is None and self.list.viewport().underMouse():
            pointer = self.list.viewport().mapFromGlobal(self.cursor().pos())
            item = self.list.itemAt(pointer)
        is_chat = item is not None and item.data(_ID)
        focus = self.window().focusWidget() or self
        if not is_chat and (self.list.hasFocus() or self.row_actions.isAncestorOf(focus)):
            item = self.list.currentItem()
        chat_id = item.data(_ID) if item else None
        chat = next((chat for chat in self._chats if chat.id == chat_id), None)
        if item is None or chat is None or self._is_renaming:
            self.row_actions.hide()
            return
        self.row_actions.show_chat(item, pinned=chat.pinned)
        place = self.list.visualItemRect(item)
        left = place.right() - self.row_actions.width() - theme.TINY
        top = place.center().y() - self.row_actions.height() // 2
        self.row_actions.move(left, top)
        self.row_actions.show()
        self.row_actions.raise_()

    def _pin(self) -> None:
        item = self.row_actions.item
        wanted = str(item.data(_ID)) if item else ""
        if chat := next((chat for chat in self._chats if chat.id == wanted), None):
            self.pinned.emit(chat.id, not chat.pinned)

    def _begin_renaming(self) -> None:
        if item := self.row_actions.item:
            self._is_renaming = True
            self.row_actions.hide()
            self.list.setFocus()
            self.list.editItem(item)

    def _end_renaming(self) -> None:
        self._is_renaming = False
        self._filter(self._chosen())

    def _choose_to_forget(self) -> None:
        if item := self.row_actions.item:
            self.list.setCurrentItem(item)
            self._ask(asking=True)

    def _ask(self, *, asking: bool) -> None:
        """Asks whether to delete the selected chat, or withdraws the question."""
        item = self.list.currentItem()
        title = item.text() if item else ""
        words = tr("This deletes “{title}” for good.").format(title=title)
        self.question.tell(words if asking else "")
        self.sure.setAccessibleName(tr("Confirm: delete {name}").format(name=title))
        self.keep.setAccessibleName(tr("Cancel: keep {name}").format(name=title))
        reveal(self.sure, shown=asking)
        reveal(self.keep, shown=asking)

    def _open(self, item: QListWidgetItem) -> None:
        if item.data(_ID):
            self.opened.emit(item.data(_ID))

    def _forget(self) -> None:
        chosen = self._chosen()
        self._ask(asking=False)
        self.forgotten.emit(chosen)
