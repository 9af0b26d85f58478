"""The eyes of a model lie in a file of their own (mmproj): which one belongs to it."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from server.face.models import HubFile
from server.models.gguf.header import Header
from server.models.repository import QUANTISATION

PREFERRED = ("F16", "BF16", "Q8_0", "F32")
"""Small beside the model, so rather exact than small; F32 gains nothing."""
PLAIN_WORDS = re.compile(r"mmproj|model|gguf|[-._ ]+")


def choose(projectors: Sequence[HubFile], wanted: str = "") -> HubFile | None:
    """Of those in a repository: the named one, else the usual precision."""
    for one in projectors:
        if wanted and one.name == wanted:
            return one
    order = {name: rank for rank, name in enumerate(PREFERRED)}
    return min(projectors, key=lambda one: order.get(one.quantisation, len(order)), default=None)


def pair(models: Mapping[Path, Header | None], eyes: Mapping[Path, Header]) -> dict[Path, Path]:
    """For the models of a folder the projector beside each, where one fits it."""
    plain = {_plain(path) for path in models}
    found = {}
    for model, header in models.items():
        fitting = [
            path
            for path, seeing in eyes.items()
            if _fits(header, seeing) and (len(plain) == 1 or _is_named_like(path, model))
        ]
        if fitting:
            found[model] = min(fitting, key=_rank)
    return found


def _fits(model: Header | None, eyes: Header) -> bool:
    """Its rows must be as wide as the model's own."""
    width = model.number("embedding_length") if model else 0
    made = eyes.number("vision.projection_dim")
    return not width or not made or width == made


def _is_named_like(eyes: Path, model: Path) -> bool:
    own, other = _plain(eyes), _plain(model)
    return bool(own) and (own in other or other in own)


def _plain(path: Path) -> str:
    """The name without quantisation, signs and the words every such file has."""
    return PLAIN_WORDS.sub("", QUANTISATION.sub("", path.stem).lower())


def _rank(path: Path) -> tuple[int, str]:
    said = QUANTISATION.findall(path.stem)
    kind = said[-1].upper() if said else ""
    return (PREFERRED.index(kind) if kind in PREFERRED else len(PREFERRED), path.name)


def size_of(paths: Iterable[str]) -> int:
    """Bytes of the files that are there."""
    return sum(os.path.getsize(path) for path in paths if os.path.isfile(path))  # noqa: PTH113, PTH202
