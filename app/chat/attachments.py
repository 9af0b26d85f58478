"""Files that go along with a question: text as it is, documents read by the server, images."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from app.look.translate import tr
from server.chat import Image
from server.errors import AppError
from server.face.core import Face

LARGEST = 512 * 1024
"""Of text: more does not fit into any model's context."""
LARGEST_IMAGE = 8 * 1024 * 1024
DOCUMENTS = (".pdf", ".docx", ".xlsx", ".html", ".htm")
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
    name: str
    text: str = ""
    image: Image | None = None
    notes: tuple[str, ...] = ()


async def read(path: Path, core: Face) -> Attachment:
    """By what the file is; an image only when the model that answers can see it."""
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
        if len(found.text.encode()) > LARGEST:
            raise _too_large(path)
        return Attachment(found.name, found.text, notes=found.notes)
    return _text(path)


def as_url(image: Image) -> str:
    return f"data:{image.mime};base64,{base64.b64encode(image.data).decode()}"


def from_url(text: str) -> Image | None:
    found = _DATA_URL.fullmatch(text)
    try:
        return Image(found[1], base64.b64decode(found[2])) if found else None
    except ValueError:
        return None


def joined(text: str, attached: list[Attachment]) -> str:
    """The question, then each file in a fence longer than any in it."""
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
    held = _bytes(path, LARGEST)
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name)) from error
    if "\0" in text:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name))
    return Attachment(path.name, text)


def _image(path: Path, mime: str) -> Attachment:
    held = _bytes(path, LARGEST_IMAGE)
    if not held.startswith(_MAGIC[mime]):
        raise NotAttached(tr("{name} is not a valid image.").format(name=path.name))
    return Attachment(path.name, image=Image(mime, held))


def _bytes(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise _too_large(path, most)
        return path.read_bytes()
    except OSError as error:
        raise NotAttached(
            tr("{name} could not be read: {why}.").format(name=path.name, why=error.strerror)
        ) from error


def _too_large(path: Path, most: int = LARGEST) -> NotAttached:
    size = f"{most // 1024} kB" if most < 1024**2 else f"{most // 1024**2} MB"
    return NotAttached(tr("{name} is larger than {size}.").format(name=path.name, size=size))
