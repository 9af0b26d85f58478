"""Files and folders that chats search: the nouns and commands of the index on this machine."""

from dataclasses import dataclass
from typing import Literal, Protocol

from server.observe import Value

SourcePhase = Literal["reading", "ready", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A file or folder and how far its indexing is."""

    path: str
    phase: SourcePhase = "reading"
    done: int = 0
    total: int = 0
    """Files: those that are read, of those to be read."""
    files: int = 0
    passages: int = 0
    """What the index holds of it."""
    notes: tuple[str, ...] = ()
    """What could not be read."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage with its place: a page of a paged file, a sheet of a workbook."""

    name: str
    path: str
    page: int
    """Counts from 1; 0: the file has no pages."""
    sheet: str
    text: str


class SourcesFace(Protocol):
    cards: Value[tuple[SourceCard, ...]]

    async def index(self, path: str) -> None:
        """Reads what is new or changed in a file or folder, in the background."""
        ...

    async def stop(self, path: str) -> None:
        """Ends the reading. What was read stays."""
        ...

    async def forget(self, path: str) -> None: ...
    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        """Returns the passages nearest to the question, after what has changed was read."""
        ...
