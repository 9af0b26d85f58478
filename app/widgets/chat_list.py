"""The kept chats: newest first, searchable, one click to open."""

from html import escape

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app import theme
from app.chats import Chat
from app.widgets.controls import Button, Label, row
from app.words import tr

_ID = Qt.ItemDataRole.UserRole


class ChatList(QWidget):
    opened = Signal(str)
    forgotten = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._chats: list[Chat] = []
        self._current = ""
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search chats"))
        self.search.setAccessibleName(tr("Search chats"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Kept chats"))
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.currentItemChanged.connect(lambda *_: self._update())
        self.nothing = Label("", "muted", wrap=True)
        self.forget = Button(tr("Delete"), "trash", name=tr("Delete the chosen chat"))
        self.forget.clicked.connect(self._forget)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        column.setSpacing(theme.SMALL)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        column.addLayout(row(self.forget, 0))
        self._filter()

    def show_chats(self, chats: list[Chat], current: str) -> None:
        self._chats, self._current = chats, current
        self._filter()

    def _filter(self) -> None:
        text = self.search.text().strip()
        self.list.clear()
        for chat in self._chats:
            if not text or chat.matches(text):
                item = QListWidgetItem(chat.title)
                item.setData(_ID, chat.id)
                # As markup on purpose: Qt would take a title that looks like markup for some.
                item.setToolTip(f"<p>{escape(chat.title)}</p>")
                self.list.addItem(item)
                if chat.id == self._current:
                    self.list.setCurrentItem(item)
        empty = tr("No chat matches.") if text else tr("Chats are kept here, on this computer.")
        self.nothing.tell("" if self.list.count() else empty)
        self._update()

    def _update(self) -> None:
        self.forget.setEnabled(self.list.currentItem() is not None)

    def _open(self, item: QListWidgetItem) -> None:
        self.opened.emit(item.data(_ID))

    def _forget(self) -> None:
        if item := self.list.currentItem():
            self.forgotten.emit(item.data(_ID))
