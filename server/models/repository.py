"""Turns a repository's files into choices: one per quantisation, split files joined, projectors."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from server.errors import BadRequest, ModelDamaged
from server.face.models import HubFile
from server.models import names
from server.models.gguf.files import SHARD
from server.models.gguf.header import Header
from server.models.gguf.parse import HeaderCut, peek
from server.models.gguf.plausible import defect
from server.models.hub import Hub, RemoteFile, Repository
from server.sentences import Sentence

PEEK_BYTES = 512 * 1024
"""Bytes read from the beginning of a file on the hub to judge it."""

QUANTISATION = re.compile(
    r"(?i)(?:^|[-._/])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|BF16|F16|F32|FP16|MXFP4(?:_MOE)?|TQ\d_\d))"
    r"(?=$|[-._/])"
)


def group(files: Iterable[RemoteFile]) -> tuple[tuple[HubFile, ...], tuple[HubFile, ...]]:
    """Returns models and projectors, the smallest first. Incomplete sets of parts are left out."""
    sets: dict[str, list[RemoteFile]] = {}
    for file in files:
        if file.path.endswith(".gguf") and _is_allowed(file.path):
            sets.setdefault(_first_part(file.path), []).append(file)
    made = [
        _choice(name, sorted(parts, key=lambda part: part.path))
        for name, parts in sets.items()
        if _is_whole(name, parts)
    ]
    made.sort(key=lambda file: (file.size_bytes, file.name))
    models = tuple(file for file in made if not is_projector(file.name))
    return models, tuple(file for file in made if is_projector(file.name))


async def read_head(hub: Hub, found: Repository, file: HubFile) -> Header:
    """Reads the header of a file on the hub, as strictly as that of a local file."""
    data = await hub.beginning(found.repo, found.revision, file.parts[0], PEEK_BYTES)
    try:
        header = peek(data, file.size_bytes, file.name)
    except HeaderCut:
        raise ModelDamaged(file.name, Sentence("it ends in the middle of its header")) from None
    if wrong := defect(header):
        raise ModelDamaged(file.name, wrong)
    return header


def is_projector(path: str) -> bool:
    """Whether the file's name says that it is a projector, the vision part of a model."""
    lowered = path.lower()
    name = lowered.rpartition("/")[2]
    is_named_first = lowered.startswith("mmproj") or "/mmproj" in lowered
    return is_named_first or ("mmproj" in name and name.endswith(".gguf"))


def is_listed(name: str) -> bool:
    """Whether a file represents a model: it is not a projector, and is the first of its parts."""
    match = SHARD.match(name)
    return not is_projector(name) and (match is None or int(match["number"]) == 1)


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


PREFERRED = ("F16", "BF16", "Q8_0", "F32")
"""Projectors are small beside the model, so precision goes before size. F32 gains nothing."""
PLAIN_WORDS = re.compile(r"mmproj|model|gguf|[-._ ]+")


def choose_projector(projectors: Sequence[HubFile]) -> HubFile | None:
    """Returns the projector with the preferred precision, if there is any."""
    order = {name: rank for rank, name in enumerate(PREFERRED)}
    return min(projectors, key=lambda file: order.get(file.quantisation, len(order)), default=None)


def pair_projectors(
    models: Mapping[Path, Header | None], projectors: Mapping[Path, Header]
) -> dict[Path, Path]:
    """Returns the projector that belongs to each model of a folder, if there is one."""
    plain = {_plain(path) for path in models}
    found = {}
    for model, header in models.items():
        fitting = [
            path
            for path, projector in projectors.items()
            if _fits(header, projector) and (len(plain) == 1 or _is_named_like(path, model))
        ]
        if fitting:
            found[model] = min(fitting, key=_rank)
    return found


def _fits(model: Header | None, projector: Header) -> bool:
    """Whether the projector's output is as wide as the model's embeddings, as far as known."""
    width = model.number("embedding_length") if model else 0
    made = projector.number("vision.projection_dim")
    return not width or not made or width == made


def _is_named_like(projector: Path, model: Path) -> bool:
    own, other = _plain(projector), _plain(model)
    return bool(own) and (own in other or other in own)


def _plain(path: Path) -> str:
    """Returns the name without quantisation, punctuation and words that every such file has."""
    return PLAIN_WORDS.sub("", QUANTISATION.sub("", path.stem).lower())


def _rank(path: Path) -> tuple[int, str]:
    kind = quantisation(path.name)
    return (PREFERRED.index(kind) if kind in PREFERRED else len(PREFERRED), path.name)


def size_of(paths: Iterable[str]) -> int:
    """Returns the total bytes of the files that exist."""
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))  # noqa: PTH113, PTH202


ORDER = {"runs well": 0, "tight": 1, "unknown": 2, "does not fit": 3}
GOOD_ENOUGH = ("Q4_K_M", "UD-Q4_K_XL", "Q5_K_M", "Q6_K", "Q8_0", "MXFP4", "Q4_0")
"""The quantisations to recommend, the best first."""


def recommended(judged: Sequence[HubFile]) -> HubFile | None:
    """Returns the usual quantisation among those with the best verdict; None if nothing fits."""
    able = [file for file in judged if file.fit.verdict != "does not fit"]
    if not able:
        return None
    best = min(ORDER[file.fit.verdict] for file in able)
    able = [file for file in able if ORDER[file.fit.verdict] == best]
    for wanted in GOOD_ENOUGH:
        for file in able:
            if file.quantisation == wanted:
                return file
    return able[len(able) // 2]


def find_choice(
    models: Sequence[HubFile], projectors: Sequence[HubFile], name: str
) -> HubFile | None:
    """Finds a choice by a file's name or by a quantisation.

    Publishers rename files. If the name is gone, the only file of the same quantisation is taken.
    """
    choice = next((file for file in (*models, *projectors) if file.name == name), None)
    choice = choice or next((file for file in models if file.quantisation == name.upper()), None)
    if choice or is_projector(name) or not quantisation(name):
        return choice
    alike = [file for file in models if file.quantisation == quantisation(name)]
    return alike[0] if len(alike) == 1 else None


def files_of(
    found: Repository,
    choice: HubFile | None,
    models: Sequence[HubFile],
    projectors: Sequence[HubFile],
) -> tuple[RemoteFile, ...]:
    """Returns the files of a choice: the model first, then a projector if there is one."""
    if choice is None:
        names = ", ".join(file.quantisation or file.name for file in models) or "none"
        raise BadRequest(
            Sentence("There is no such file in {0}. There are: {1}.", found.repo, names), "file"
        )
    projector = choose_projector(projectors) if choice in models else None
    wanted = (*choice.parts, *(projector.parts if projector else ()))
    by_path = {file.path: file for file in found.files}
    return tuple(by_path[path] for path in wanted)
