"""The curated list: a dozen good models, each judged for this machine, one recommended."""

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from server.face.models import Fit, Machine, Setup, Suggestion
from server.models.fit import judge
from server.models.gguf.header import Header

FILE = Path(__file__).resolve().parents[2] / "resources" / "catalogue.json"
BRISK_BYTES = 3 << 30
"""Weights read for each word; a processor of eight cores writes briskly up to about here."""
BRISK_CORES = 8


class Shape(BaseModel, extra="forbid"):
    architecture: str
    layers: int
    width: int
    heads: int
    key_heads: int
    key: int
    forward: int
    vocabulary: int
    context: int
    experts: int = 0
    experts_used: int = 0

    def header(self, size_bytes: int, quantisation: int) -> Header:
        """What the file's own header would say, as far as memory goes."""
        own = {
            "block_count": self.layers,
            "embedding_length": self.width,
            "attention.head_count": self.heads,
            "attention.head_count_kv": self.key_heads,
            "attention.key_length": self.key,
            "attention.value_length": self.key,
            "feed_forward_length": self.forward,
            "vocab_size": self.vocabulary,
            "context_length": self.context,
            "expert_count": self.experts,
            "expert_used_count": self.experts_used,
        }
        metadata: dict[str, Any] = {
            f"{self.architecture}.{key}": value for key, value in own.items()
        }
        metadata |= {"general.architecture": self.architecture}
        metadata |= {"general.file_type": quantisation}
        return Header(3, metadata, (), 0, size_bytes)


class Entry(BaseModel, extra="forbid"):
    repo: str
    file: str
    title: str
    good_at: str
    uses: tuple[str, ...]
    licence: str
    parameters: int
    size_bytes: int
    rank: int
    shape: Shape
    active_parameters: int = 0
    projector: str = ""

    @property
    def bytes_per_word(self) -> float:
        return self.size_bytes * (self.active_parameters or self.parameters) / self.parameters

    def fit(self, machine: Machine, setup: Setup) -> Fit:
        quantisation = 7 if "Q8_0" in self.file else 15
        header = self.shape.header(self.size_bytes, quantisation)
        return judge(header, setup, machine, self.size_bytes)


class Catalogue(BaseModel, extra="forbid"):
    version: int
    models: tuple[Entry, ...]


@cache
def read() -> Catalogue:
    return Catalogue.model_validate_json(FILE.read_text("utf-8"))


def suggest(machine: Machine, setup: Setup, installed: Collection[str] = ()) -> list[Suggestion]:
    """All entries with their verdicts, the recommended one marked."""
    made = [(entry, _suggestion(entry, machine, setup, installed)) for entry in read().models]
    best = recommended(machine, [(entry, one.fit) for entry, one in made])
    return [replace(one, recommended=entry is best) for entry, one in made]


def recommended(machine: Machine, judged: list[tuple[Entry, Fit]]) -> Entry | None:
    """The best that runs well and, without a graphics card, also writes briskly."""
    useful = [(entry, fit.verdict) for entry, fit in judged if "tools" in entry.uses]
    able = [entry for entry, verdict in useful if verdict == "runs well"]
    if not able:
        return min(
            (entry for entry, verdict in useful if verdict == "tight"),
            key=lambda entry: entry.size_bytes,
            default=None,
        )
    if not machine.engine_uses_gpu:
        brisk = BRISK_BYTES * min(1.0, machine.cores / BRISK_CORES)
        quick = [entry for entry in able if entry.bytes_per_word <= brisk]
        able = quick or sorted(able, key=lambda entry: entry.bytes_per_word)[:1]
    return max(able, key=lambda entry: entry.rank, default=None)


def _suggestion(
    entry: Entry, machine: Machine, setup: Setup, installed: Collection[str]
) -> Suggestion:
    return Suggestion(
        entry.repo,
        entry.file,
        entry.title,
        entry.good_at,
        entry.uses,
        entry.licence,
        entry.parameters,
        entry.size_bytes,
        entry.shape.context,
        entry.fit(machine, setup),
        installed=entry.file in installed,
        projector=entry.projector,
    )
