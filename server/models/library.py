"""The models on this machine: the starter, the models folder, and folders and files added to it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from server.errors import BadRequest, ModelDamaged, ModelNotFound, NoModel
from server.face import ModelCard
from server.models import starter
from server.models.gguf import shard_paths
from server.models.groups import PROJECTOR
from server.models.header import Header
from server.models.headers import Headers
from server.models.projectors import pair
from server.models.stores import StoredModel, models_in

SIZE_LABEL = re.compile(r"(?:(\d+)x)?([\d.]+)([KMBT])")
SCALE = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


class Library:
    def __init__(self, folders: Iterable[Path], headers: Headers | None = None) -> None:
        self._folders = tuple(folders)
        self._files: tuple[Path, ...] = ()
        self._headers = headers or Headers()
        self._extra: list[Path] = []
        self._cards: dict[str, ModelCard] = {}

    def look_in(self, folders: Iterable[Path], files: Iterable[Path]) -> None:
        """From the next look on, these."""
        self._folders, self._files = tuple(folders), tuple(files)

    def add(self, path: Path) -> str:
        """A model outside the folders, for this run; returns its name."""
        if path not in self._extra:
            self._extra.append(path)
        self.scan()
        return next(card.name for card in self._cards.values() if card.path == str(path))

    def scan(self) -> tuple[ModelCard, ...]:
        """Look at the folders again; what was found answers until the next look."""
        found: dict[str, ModelCard] = {}
        paths: set[Path] = set()
        listed = list(self._models())
        eyes = self._projectors(listed)
        for model in listed:
            if model.path not in paths and not self._is_projector(model.path):
                paths.add(model.path)
                name = _free_name(model, found)
                seeing = model.projector or eyes.get(model.path)
                card = self._card(name, model.path)
                found[name] = replace(card, projector=str(seeing) if seeing else "")
        starting = starter.find()
        if starting is not None:
            card = self._card(starter.NAME, starting, starter.LABEL, is_starter=True)
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

    def _models(self) -> Iterator[StoredModel]:
        for path in (*self._extra, *self._files):
            if path.is_file():
                yield StoredModel(path.stem, path)
                for eyes in path.parent.glob("*mmproj*.gguf"):
                    yield StoredModel(eyes.stem, eyes)
        for folder in self._folders:
            yield from models_in(folder)

    def _is_projector(self, path: Path) -> bool:
        header = self._headers.peek(path)
        return header.is_projector if header else bool(PROJECTOR.search(path.name))

    def _projectors(self, listed: list[StoredModel]) -> dict[Path, Path]:
        """The projector that lies beside a model, by the model's path."""
        folders: dict[Path, tuple[dict[Path, Header | None], dict[Path, Header]]] = {}
        for path in (one.path for one in listed):
            models, eyes = folders.setdefault(path.parent, ({}, {}))
            header = self._headers.peek(path)
            if header and header.is_projector:
                eyes[path] = header
            else:
                models[path] = header
        return {k: v for each in folders.values() for k, v in pair(*each).items()}

    def _card(
        self, name: str, path: Path, label: str = "", *, is_starter: bool = False
    ) -> ModelCard:
        header = self._headers.peek(path)
        return ModelCard(
            name,
            str(path),
            _size(path),
            label if header or label else "damaged, or not a model",
            is_starter,
            _parameters(header) if header else 0,
            header.context_tokens if header else 0,
            header.quantisation if header else "",
        )


def _size(path: Path) -> int:
    try:
        return sum(part.stat().st_size for part in shard_paths(path))
    except (OSError, ModelDamaged):
        return path.stat().st_size if path.exists() else 0


def _parameters(header: Header) -> int:
    """As the label in the file says (135M, 8x7B): counting needs the whole header."""
    match = SIZE_LABEL.fullmatch(str(header.metadata.get("general.size_label", "")))
    return int(int(match[1] or 1) * float(match[2]) * SCALE[match[3]]) if match else 0


def _free_name(model: StoredModel, taken: dict[str, ModelCard]) -> str:
    name, folder = model.name, model.path.parent
    while name in taken and folder.name:
        name, folder = f"{folder.name}/{name}", folder.parent
    return name


def delete(card: ModelCard, models: Path) -> int:
    """Removes the model's files, with a projector no other model beside it has; bytes freed."""
    path = Path(card.path)
    if not path.resolve().is_relative_to(models.resolve()):
        raise BadRequest("This model belongs to another program; delete it there.", "name")
    try:
        parts = list(shard_paths(path))
    except ModelDamaged:
        parts = [path]
    others = {one for one in path.parent.glob("*.gguf") if not PROJECTOR.search(one.name)}
    if card.projector and others <= set(parts):
        parts += [one for one in path.parent.glob("*.gguf") if PROJECTOR.search(one.name)]
    freed = 0
    for part in parts:
        freed += part.stat().st_size
        part.unlink()
    folder = path.parent
    while folder != models and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
    return freed
