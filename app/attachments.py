"""Files that go along with a question: read as text, with a limit, named in the message."""

from dataclasses import dataclass
from pathlib import Path

from app.words import tr
from server.errors import AppError

LARGEST = 512 * 1024


class NotAttached(AppError):
    code = "not_attached"


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    text: str


def read(path: Path) -> Attachment:
    try:
        held = path.read_bytes()
    except OSError as error:
        raise NotAttached(
            tr("{name} could not be read: {why}.").format(name=path.name, why=error.strerror)
        ) from error
    if len(held) > LARGEST:
        raise NotAttached(tr("{name} is larger than 512 kB.").format(name=path.name))
    try:
        text = held.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name)) from error
    if "\0" in text:
        raise NotAttached(tr("{name} is not a text file.").format(name=path.name))
    return Attachment(path.name, text)


def joined(text: str, attached: list[Attachment]) -> str:
    """The question, then each file in a fence longer than any in it."""
    parts = [text]
    for one in attached:
        fence = "```"
        while fence in one.text:
            fence += "`"
        kind = "csv" if one.name.lower().endswith(".csv") else ""
        parts.append(f"{one.name}:\n{fence}{kind}\n{one.text.rstrip()}\n{fence}")
    return "\n\n".join(parts)
