"""Files that are sent with a question: texts as they are, documents read by the server, images."""

import base64
import re
from dataclasses import dataclass, replace
from pathlib import Path

from app.look.translate import tr
from server.chat import DOCUMENTS, TEXTS, Image
from server.errors import AppError
from server.face.core import Face

LARGEST = 512 * 1024
"""The largest text in bytes: more does not fit into any model's context."""
BYTES_PER_TOKEN = 3
MOST_OF_CONTEXT = 0.5
"""The share of the context for one file. The rest is for the question, answer and history."""
LARGEST_IMAGE = 8 * 1024 * 1024
IMAGES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
    ".webp": "image/webp", ".bmp": "image/bmp",
}  # fmt: skip
_MAGIC = {
    "image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff", "image/gif": b"GIF8",
    "image/webp": b"RIFF", "image/bmp": b"BM",
}  # fmt: skip
_DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,(.*)", re.DOTALL)


class NotAttached(AppError):
    code = "not_attached"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that is sent with a question."""

    name: str
    text: str = ""
    image: Image | None = None
    notes: tuple[str, ...] = ()
    size: int = 0
    path: str = ""
    is_searched: bool = False
    """Whether it does not fit into the model's context. Then passages from it are sent instead."""


def name_filters() -> str:
    """Returns the filters for the file dialog. Any other file may be text, too."""
    known = " ".join(f"*{kind}" for kind in (*DOCUMENTS, *TEXTS, *IMAGES))
    return f"{tr('Documents, text and images')} ({known});;{tr('All files')} (*)"


async def read(path: Path, core: Face) -> Attachment:
    """Reads a file by its kind. Raises NotAttached, also for an image the model cannot see."""
    kind = path.suffix.lower()
    if kind in IMAGES:
        if not core.model.get().sees_images:
            words = tr("{name} is an image, and the model in use cannot read images.")
            raise NotAttached(words.format(name=path.name))
        return _image(path, IMAGES[kind])
    if kind in DOCUMENTS:
        found = await core.read_document(str(path))
        if not found.text.strip():
            told = " ".join(found.notes) or tr("{name} contains no text.").format(name=path.name)
            raise NotAttached(told)
        attached = Attachment(found.name, found.text, notes=found.notes, size=_size(path))
    else:
        attached = _text(path)
    is_searched = attached.is_searched or not fits(attached.text, core.model.get().context_tokens)
    return replace(attached, path=str(path), is_searched=is_searched)


def fits(text: str, context_tokens: int) -> bool:
    """Whether a model can read the text at once. An unknown context (0) counts as large."""
    size = len(text.encode("utf-8", "replace"))
    most = context_tokens * MOST_OF_CONTEXT * BYTES_PER_TOKEN if context_tokens else LARGEST
    return size <= min(most, LARGEST)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def as_url(image: Image) -> str:
    return f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}"


def from_url(text: str) -> Image | None:
    found = _DATA_URL.fullmatch(text)
    try:
        return Image(found[1], base64.b64decode(found[2])) if found else None
    except ValueError:
        return None


def joined(text: str, attached: list[Attachment]) -> str:
    """Returns the question, then each file in a fence longer than any fence in it."""
    parts = [text]
    for one in attached:
        if one.image is not None:
            continue
        fence = "```"
        while fence in one.text:
            fence += "`"
        kind = "csv" if one.name.lower().endswith(".csv") else ""
        parts.append(f"{one.name}:\n{fence}{kind}\n{one.text.rstrip()}\n{fence}")
    return "\n\n".join(parts)


def _text(path: Path) -> Attachment:
    is_searched = _size(path) > LARGEST
    held = _beginning(path) if is_searched else _bytes(path, LARGEST)
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name)) from error
    if "\0" in text:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name))
    return Attachment(
        path.name, "" if is_searched else text, size=_size(path), is_searched=is_searched
    )


def _beginning(path: Path) -> bytes:
    """Returns enough to see whether the file is text, up to the last complete character."""
    try:
        with path.open("rb") as file:
            held = file.read(4096)
    except OSError as error:
        raise _unread(path, error) from error
    whole = held.decode("utf-8", "ignore").encode()
    return whole if len(whole) >= len(held) - 3 else held


def _image(path: Path, mime: str) -> Attachment:
    held = _bytes(path, LARGEST_IMAGE)
    if not held.startswith(_MAGIC[mime]):
        raise NotAttached(tr("{name} is not a valid image.").format(name=path.name))
    return Attachment(path.name, image=Image(mime, held), size=len(held))


def _bytes(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            words = tr("{name} is larger than {size}.")
            raise NotAttached(words.format(name=path.name, size=f"{most // 1024**2} MB"))
        return path.read_bytes()
    except OSError as error:
        raise _unread(path, error) from error


def _unread(path: Path, error: OSError) -> NotAttached:
    words = tr("{name} could not be read: {why}.")
    return NotAttached(words.format(name=path.name, why=error.strerror))
