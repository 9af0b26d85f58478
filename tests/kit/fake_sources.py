"""The sources of a fake core: tests set cards and passages, and it records the commands."""

from collections.abc import Callable

from server.face.core import FoundPassage, SourceCard
from server.observe import Value


class FakeSources:
    """Implements server.face.core.SourcesFace."""

    def __init__(self, take: Callable[..., None]) -> None:
        self.cards: Value[tuple[SourceCard, ...]] = Value(())
        self.passages: list[FoundPassage] = []
        self._take = take

    async def index(self, path: str) -> None:
        self._take("sources.index", path)
        self.cards.set((SourceCard(path, "ready", files=1, passages=3),))

    async def stop(self, path: str) -> None:
        self._take("sources.stop", path)

    async def forget(self, path: str) -> None:
        self._take("sources.forget", path)

    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        self._take("sources.find", paths, question, most)
        return self.passages
