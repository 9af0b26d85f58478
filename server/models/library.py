"""The models on this machine: the starter, the models folder, and folders the user added."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from server.errors import ModelNotFound, NoModel
from server.face import ModelCard
from server.models import starter


class Library:
    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._extra: list[Path] = []
        self._cards: dict[str, ModelCard] = {}

    def add(self, path: Path) -> str:
        """A model outside the folders, for this run; returns its name."""
        if path not in self._extra:
            self._extra.append(path)
        self.scan()
        return path.stem

    def scan(self) -> tuple[ModelCard, ...]:
        """Look at the folders again; what was found answers until the next look."""
        found: dict[str, ModelCard] = {}
        for path in self._files():
            if path.stem not in found:
                found[path.stem] = ModelCard(path.stem, str(path), path.stat().st_size)
        starting = starter.find()
        if starting is not None:
            size = starting.stat().st_size
            card = ModelCard(starter.NAME, str(starting), size, starter.LABEL, starter=True)
            found.setdefault(starter.NAME, card)
        self._cards = found
        return tuple(found.values())

    def find(self, name: str | None, default: str) -> ModelCard:
        """The named model; without a name the default, else the starter, else the first."""
        if not self._cards or (name and name not in self._cards):
            self.scan()
        cards = self._cards
        if not cards:
            raise NoModel
        if name:
            if name not in cards:
                raise ModelNotFound(name, tuple(cards))
            return cards[name]
        if default in cards:
            return cards[default]
        return next((card for card in cards.values() if card.starter), next(iter(cards.values())))

    def _files(self) -> Iterator[Path]:
        yield from (path for path in self._extra if path.is_file())
        for folder in self._folders:
            if folder.is_dir():
                yield from sorted(path for path in folder.rglob("*.gguf") if path.is_file())
