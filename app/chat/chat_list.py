"""The kept chats: newest first, searchable, one click to open."""

from html import escape

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.chat.chats import Chat
from app.look import theme
from app.look.controls import LONGEST_HINT, Button, Label, reveal, row, short_name, shortened
from app.look.translate import tr
from server.system.limits import one_line

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
        self.search.textChanged.connect(lambda _: self._filter(self._chosen()))
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Kept chats"))
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.currentItemChanged.connect(lambda *_: self._ask(asking=False))
        self.nothing = Label("", "muted", wrap=True)
        self.forget = Button(tr("Delete"), "trash", name=tr("Delete the chosen chat"))
        self.forget.clicked.connect(lambda: self._ask(asking=True))
        self.sure = Button(tr("Delete"), "trash")
        self.sure.clicked.connect(self._forget)
        self.keep = Button(tr("Keep"))
        self.keep.clicked.connect(lambda: self._ask(asking=False))
        self.question = Label("", "small", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.MEDIUM, theme.MEDIUM, theme.MEDIUM, theme.MEDIUM)
        column.setSpacing(theme.SMALL)
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        column.addWidget(self.question)
        column.addLayout(row(self.forget, self.sure, self.keep, 0))
        self._filter()

    def show_chats(self, chats: list[Chat], current: str) -> None:
        """The chosen one stays chosen, until another chat is opened."""
        has_changed = current != self._current
        self._chats, self._current = chats, current
        self._filter(current if has_changed else self._chosen())

    def _filter(self, wanted: str = "") -> None:
        text = self.search.text().strip()
        asked = self._chosen() if self.sure.isVisibleTo(self) else ""
        found = [chat for chat in self._chats if not text or chat.matches(text)]
        chosen = wanted if wanted in {chat.id for chat in found} else self._current
        with QSignalBlocker(self.list):
            self.list.clear()
            for chat in found:
                item = QListWidgetItem(short_name(chat.title))
                item.setData(_ID, chat.id)
                # As markup on purpose: Qt would take a title that looks like markup for some.
                item.setToolTip(f"<p>{escape(shortened(one_line(chat.title), LONGEST_HINT))}</p>")
                self.list.addItem(item)
                if chat.id == chosen:
                    self.list.setCurrentItem(item)
        empty = tr("No chat matches.") if text else tr("Chats are kept here, on this computer.")
        self.nothing.tell("" if self.list.count() else empty)
        self._ask(asking=bool(asked) and asked == self._chosen())

    def _chosen(self) -> str:
        item = self.list.currentItem()
        return str(item.data(_ID)) if item else ""

    def _ask(self, *, asking: bool) -> None:
        """Whether the chosen one is to go; the answer is about no other."""
        item = self.list.currentItem()
        title = item.text() if item else ""
        words = tr("This deletes “{title}” for good.").format(title=title)
        self.question.tell(words if asking else "")
        self.sure.setAccessibleName(tr("Really delete {name}").format(name=title))
        self.keep.setAccessibleName(tr("Keep {name}").format(name=title))
        reveal(self.sure, shown=asking)
        reveal(self.keep, shown=asking)
        reveal(self.forget, shown=not asking)
        self.forget.setEnabled(item is not None)

    def _open(self, item: QListWidgetItem) -> None:
        self.opened.emit(item.data(_ID))

    def _forget(self) -> None:
        chosen = self._chosen()
        self._ask(asking=False)
        self.forgotten.emit(chosen)
