"""Chats kept on this computer: one file each, written whole or not at all, and searchable."""

import json
import logging
import secrets
import time
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from app.charts.option import without_charts
from app.chat.attachments import Attachment, as_url, from_url, joined
from app.look.translate import tr
from server.chat import Message
from server.errors import AppError
from server.system import files

log = logging.getLogger(__name__)

_TITLE_LETTERS = 60


class ChatNotKept(AppError):
    code = "chat_not_kept"

    def __init__(self, error: OSError) -> None:
        super().__init__(f"The chat could not be kept: {error.strerror or error}.")


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
