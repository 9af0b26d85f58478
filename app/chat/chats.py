"""Chats kept on this computer: one file each, written whole or not at all, in a list."""

import json
import logging
import secrets
import time
from dataclasses import asdict, dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.charts.option import without_charts
from app.chat.attachments import Attachment, as_url, from_url, joined
from app.look import theme
from app.look.controls import LONGEST_HINT, Button, Label, reveal, row, short_name, shortened
from app.look.translate import tr
from server.chat import Message
from server.errors import AppError
from server.system import files
from server.system.limits import one_line

log = logging.getLogger(__name__)

_TITLE_LETTERS = 60


class ChatNotKept(AppError):
    code = "chat_not_kept"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The chat could not be saved: {error.strerror or error}.")


@dataclass(slots=True)
class Said:
    role: str
    text: str
    images: list[str] = field(default_factory=list)
    """As data: addresses."""
    image_names: list[str] = field(default_factory=list)
    """In the same order; chats of earlier versions have none."""
    more: dict[str, Any] = field(default_factory=dict)
    """What a newer version wrote beside it."""

    def attached(self) -> list[Attachment]:
        """The images that went along, to be shown and to go along again."""
        names = [*self.image_names, *[""] * len(self.images)]
        return [
            Attachment(name or tr("Image"), image=image)
            for url, name in zip(self.images, names, strict=False)
            if (image := from_url(url))
        ]


@dataclass(slots=True)
class Chat:
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    system: str = ""
    said: list[Said] = field(default_factory=list)
    changed_at: float = 0.0
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        first = next((one.text for one in self.said if one.role == "user"), "")
        line = first.strip().split("\n")[0]
        return line if len(line) <= _TITLE_LETTERS else f"{line[:_TITLE_LETTERS].rstrip()}…"

    def messages(self) -> list[Message]:
        """As they are sent: the system prompt first."""
        found = [Message("system", self.system)] if self.system.strip() else []
        return [*found, *(_message(one) for one in self.said)]

    def matches(self, text: str) -> bool:
        wanted = text.casefold()
        return any(wanted in one.text.casefold() for one in self.said)

    def as_markdown(self) -> str:
        heads = {"user": "You", "assistant": "Answer"}
        parts = [f"# {self.title}"]
        if self.system.strip():
            parts.append(f"> {self.system.strip()}")
        parts += [f"## {heads[one.role]}\n\n{one.text}" for one in self.said]
        return "\n\n".join(parts) + "\n"


class ChatStore:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def keep(self, chat: Chat) -> None:
        if not chat.said:
            return
        chat.changed_at = time.time()
        text = json.dumps(_told(asdict(chat)), ensure_ascii=False, indent=1)
        try:
            files.write_atomically(self._file(chat.id), text)
        except OSError as error:
            raise ChatNotKept(error) from error

    def forget(self, chat_id: str) -> None:
        try:
            self._file(chat_id).unlink(missing_ok=True)
        except OSError as error:
            raise ChatNotKept(error) from error

    def all(self) -> list[Chat]:
        """Newest first. A file that cannot be read is passed over and left where it is."""
        found = []
        for path in self._folder.glob("*.json"):
            try:
                found.append(_read(path))
            except (OSError, ValueError, KeyError, TypeError, AttributeError):
                log.warning("A kept chat cannot be read: %s", path.name)
        return sorted(found, key=lambda chat: -chat.changed_at)

    def _file(self, chat_id: str) -> Path:
        return self._folder / f"{chat_id}.json"


def asked(text: str, attached: list[Attachment]) -> Said:
    """A question with what goes along with it."""
    images = [(as_url(one.image), one.name) for one in attached if one.image]
    urls, names = [url for url, _ in images], [name for _, name in images]
    return Said("user", joined(text, attached), urls, names)


def _message(said: Said) -> Message:
    images = tuple(image for url in said.images if (image := from_url(url)))
    if said.role == "user":
        return Message("user", said.text, images)
    return Message("assistant", without_charts(said.text), images)


def _read(path: Path) -> Chat:
    told = json.loads(path.read_text(encoding="utf-8"))
    said = [
        Said(
            one["role"],
            str(one["text"]),
            [str(url) for url in one.get("images", [])],
            [str(name) for name in one.get("image_names", [])],
            _more(one, Said),
        )
        for one in told["said"]
    ]
    if not all(one.role in ("user", "assistant") for one in said):
        raise ValueError(path.name)
    more = _more(told, Chat)
    return Chat(path.stem, str(told["system"]), said, float(told["changed_at"]), more)


def _told(known: dict[str, Any]) -> dict[str, Any]:
    """A chat or something said in it, with what a newer version wrote beside it."""
    more = known.pop("more")
    if "said" in known:
        known["said"] = [_told(one) for one in known["said"]]
    return {**more, **known}


def _more(told: dict[str, Any], kind: type[Said] | type[Chat]) -> dict[str, Any]:
    known = {one.name for one in fields(kind)}
    return {name: value for name, value in told.items() if name not in known}


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
        self.list.setAccessibleName(tr("Saved chats"))
        self.list.itemActivated.connect(self._open)
        self.list.itemClicked.connect(self._open)
        self.list.currentItemChanged.connect(lambda *_: self._ask(asking=False))
        self.nothing = Label("", "muted", wrap=True)
        self.forget = Button(tr("Delete"), "trash", name=tr("Delete the selected chat"))
        self.forget.clicked.connect(lambda: self._ask(asking=True))
        self.sure = Button(tr("Delete"), "trash")
        self.sure.clicked.connect(self._forget)
        self.keep = Button(tr("Cancel"))
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
        empty = tr("No chat matches.") if text else tr("Chats are saved here, on this computer.")
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
        self.sure.setAccessibleName(tr("Confirm: delete {name}").format(name=title))
        self.keep.setAccessibleName(tr("Cancel: keep {name}").format(name=title))
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
