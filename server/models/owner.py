"""Whose a model's file is, and so whether it may be deleted here."""

from collections.abc import Iterable
from pathlib import Path

from server.errors import BadRequest
from server.face.core import ModelCard, Owner


def owner_of(card: ModelCard, models: Path, files: Iterable[str]) -> Owner:
    """`models` is our folder, `files` are those that were added where they lie."""
    if card.path in files:
        return "listed"
    return "ours" if card.starter or _is_ours(card, models) else "other"


def check_deletable(card: ModelCard, models: Path, files: Iterable[str] = ()) -> None:
    if card.starter:
        raise BadRequest("The starter model is part of the program.", "name")
    if owner_of(card, models, files) == "other":
        raise BadRequest("This model belongs to another program; delete it there.", "name")


def _is_ours(card: ModelCard, models: Path) -> bool:
    try:
        return Path(card.path).resolve().is_relative_to(models.resolve())
    except (OSError, RuntimeError):
        return False
