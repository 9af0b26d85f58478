"""Models that other programs keep on this machine, used where they lie."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from server.face.models import FoundFolder
from server.models.gguf.files import SHARD
from server.models.repository import size_of
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
    """Where programs keep their models unless told otherwise."""
    yield "LM Studio", home / ".lmstudio" / "models"
    yield "LM Studio", home / ".cache" / "lm-studio" / "models"
    ollama = variables.get("OLLAMA_MODELS")
    yield "Ollama", Path(ollama) if ollama else home / ".ollama" / "models"
    yield "Ollama", Path("/usr/share/ollama/.ollama/models")
    cache = variables.get("HF_HUB_CACHE") or variables.get("HUGGINGFACE_HUB_CACHE")
    hugging = variables.get("HF_HOME")
    default = Path(hugging) / "hub" if hugging else home / ".cache" / "huggingface" / "hub"
    yield "Hugging Face cache", Path(cache) if cache else default
    yield "llama.cpp", home / ".cache" / "llama.cpp"
    yield "Jan", home / ".local" / "share" / "Jan" / "data" / "llamacpp" / "models"


def find(home: Path, variables: Mapping[str, str], used: frozenset[str]) -> list[FoundFolder]:
    found = []
    for program, folder in candidates(home, variables):
        models = list(models_in(folder))
        if models:
            size = size_of(str(model.path) for model in models)
            known = str(folder) in used
            found.append(FoundFolder(program, str(folder), len(models), size, known))
    return found


def models_in(folder: Path) -> Iterator[StoredModel]:
    """The models of a folder, by the names their keeper gives them."""
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
    """All below it that can be reached; pathlib would raise for what cannot."""
    for place, folders, names in os.walk(folder):
        # A name that begins with a dot is somebody's unfinished business.
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
            eyes = _blob(folder, layers, PROJECTOR_LAYER)
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            continue
        parts = manifest.relative_to(folder / "manifests").parts
        if blob:
            short = parts[2:] if parts[:2] == LIBRARY and len(parts) > 2 else parts
            name = "/".join(short[:-1]) + ":" + short[-1]
            yield StoredModel(one_line(name), blob, eyes)


def _blob(folder: Path, layers: list[dict[str, str]], kind: str) -> Path | None:
    digests = [str(one["digest"]) for one in layers if one["mediaType"] == kind]
    blob = folder / "blobs" / (digests[0] if digests else "").replace(":", "-")
    is_there = os.path.isfile(blob) and blob.parent == folder / "blobs"  # noqa: PTH113
    return blob if digests and is_there else None
