"""The files of a repository as choices: by quantisation, split files as one, projectors apart."""

import re
from collections.abc import Iterable

from server.errors import BadRequest
from server.face.models import HubFile
from server.models import names
from server.models.gguf.files import SHARD
from server.models.hub import RemoteFile

QUANTISATION = re.compile(
    r"(?i)(?:^|[-._/])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32|FP16|MXFP4(?:_MOE)?|TQ\d_\d))"
    r"(?=$|[-._/])"
)


def group(files: Iterable[RemoteFile]) -> tuple[tuple[HubFile, ...], tuple[HubFile, ...]]:
    """Models and projectors, each the smallest first; broken sets of parts are left out."""
    sets: dict[str, list[RemoteFile]] = {}
    for file in files:
        if file.path.endswith(".gguf") and _is_allowed(file.path):
            sets.setdefault(_first_part(file.path), []).append(file)
    made = [
        _choice(name, sorted(parts, key=lambda one: one.path))
        for name, parts in sets.items()
        if _is_whole(name, parts)
    ]
    made.sort(key=lambda one: (one.size_bytes, one.name))
    models = tuple(one for one in made if not is_projector(one.name))
    return models, tuple(one for one in made if is_projector(one.name))


def is_projector(path: str) -> bool:
    """By its name only: the part of a model that sees."""
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    is_named_first = lowered.startswith("mmproj") or "/mmproj" in lowered
    return is_named_first or ("mmproj" in name and name.endswith(".gguf"))


def quantisation(path: str) -> str:
    found = QUANTISATION.findall(path.removesuffix(".gguf"))
    return found[-1].upper() if found else ""


def _choice(name: str, parts: list[RemoteFile]) -> HubFile:
    paths = tuple(part.path for part in parts)
    return HubFile(name, quantisation(name), paths, sum(part.size_bytes for part in parts))


def _is_whole(name: str, parts: list[RemoteFile]) -> bool:
    match = SHARD.match(name.rpartition("/")[2])
    return len(parts) == (int(match["count"]) if match else 1)


def _first_part(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    match = SHARD.match(name)
    return f"{folder}{slash}{match['stem']}-00001-of-{match['count']}.gguf" if match else path


def _is_allowed(path: str) -> bool:
    try:
        names.file(path)
    except BadRequest:
        return False
    return True
