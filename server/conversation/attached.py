"""Documents that came with a conversation: read, and put into the messages they came with."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from server.chat import File, Image, Message
from server.dashboard.prompt import (
    CHARACTERS_PER_TOKEN,
    DEFAULT_WINDOW,
    MOST_TOKENS,
    MOST_TOKENS_ELSEWHERE,
    Prompt,
    document_text,
)
from server.data.documents import Document, Unreadable, read
from server.engine.base import ModelFacts

MOST_FILES = 8
SHARE_OF_WINDOW = 0.5
KINDS = {"text/csv": "csv", "text/html": "html", "text/tab-separated-values": "csv"}


@dataclass(slots=True)
class Attached:
    """The messages with their documents as text, and what is wrong with the newest documents."""

    messages: tuple[Message, ...]
    problems: list[str] = field(default_factory=list)
    is_about_files: bool = False
    """Whether documents came with the newest question."""


async def read_files(messages: Sequence[Message], facts: ModelFacts) -> Attached:
    """As much of the documents as half the model's window holds; the newest come first."""
    given = [file for message in messages for file in message.files]
    if not given:
        return Attached(tuple(messages))
    # Other threads answer meanwhile: a large file takes seconds to read.
    return await asyncio.to_thread(_read_files, messages, given[-MOST_FILES:], facts)


def _read_files(messages: Sequence[Message], given: list[File], facts: ModelFacts) -> Attached:
    users = [message for message in messages if message.role == "user"]
    question = users[-1].content if users else ""
    newest = users[-1].files if users else ()
    attached = Attached((), is_about_files=bool(newest))
    room = _characters(facts) // len(given)
    blocks: dict[int, str | Image] = {}
    for file in given:
        title = _title(file)
        try:
            document = _document(file, title)
        except Unreadable as error:
            blocks[id(file)] = _block(title, f"Problem: {error}")
            if any(file is one for one in newest):
                attached.problems.append(str(error))
        else:
            blocks[id(file)] = document.image or _block(title, _text(question, document, room))
    attached.messages = tuple(_with_files(message, blocks) for message in messages)
    return attached


def _document(file: File, title: str) -> Document:
    if file.problem:
        raise Unreadable(f"{title}: {file.problem}")
    mime = file.mime.partition(";")[0].strip().lower()
    return read(file.data, title, KINDS.get(mime, ""))


def _characters(facts: ModelFacts) -> int:
    window = (facts.context_tokens or DEFAULT_WINDOW) * SHARE_OF_WINDOW
    most = MOST_TOKENS.get(facts.device, MOST_TOKENS_ELSEWHERE)
    return int(min(window, most) * CHARACTERS_PER_TOKEN)


def _text(question: str, document: Document, room: int) -> str:
    prompt = Prompt()
    text = document_text(question, document, room, prompt) or "(no text)"
    return "\n".join([text, *(f"[Not all of it: {cut}.]" for cut in prompt.cuts)])


def _with_files(message: Message, blocks: dict[int, str | Image]) -> Message:
    """Each document in the place of its mark, or at the end where there is none."""
    content, images = message.content, list(message.images)
    for file in message.files:
        old = _block(_title(file), "(attached earlier; not read again)")
        block = blocks.get(id(file), old)
        begin = content.find(file.mark)
        end = begin + len(file.mark) if begin >= 0 else len(content)
        begin = begin if begin >= 0 else len(content)
        text = "" if isinstance(block, Image) else block
        content = content[:begin] + text + content[end:]
        longer = len(text) - (end - begin)
        images = [replace(one, at=one.at + longer * (one.at >= end)) for one in images]
        images += [replace(block, at=begin)] if isinstance(block, Image) else []
    images.sort(key=lambda image: image.at)
    return replace(message, content=content, images=tuple(images), files=())


def _block(title: str, text: str) -> str:
    return f'<data name="{title}">\n{text}\n</data>'


def _title(file: File) -> str:
    """A name comes from outside and must not end the tag it stands in."""
    name = "".join(one for one in file.name if one.isprintable() and one not in '"<>')
    return name or "The attached file"
