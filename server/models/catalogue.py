"""The curated list of models, each judged for this machine; and Ollama's names for models."""

import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from server.errors import BadRequest, HubRefused
from server.face.models import Fit, HubModel, Machine, Setup, Suggestion
from server.models.fit import judge
from server.models.gguf.header import Header, LongArray
from server.models.repository import QUANTISATION

FILE = Path(__file__).resolve().parents[2] / "resources" / "catalogue.json"
BRISK_BYTES = 3 << 30
"""Weights read for each word; a processor of eight cores writes briskly up to about here."""
BRISK_CORES = 8
"""Counts where the speed of the machine was not measured."""
READING_PACE = 7.0
"""Tokens per second: slower than this, one waits for an answer while reading it."""


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
    shape: Shape | None = None
    head: dict[str, Any] = {}
    """In place of a shape: what the head of the file itself says."""
    active_parameters: int = 0
    projector: str = ""

    @property
    def bytes_per_word(self) -> float:
        return self.size_bytes * (self.active_parameters or self.parameters) / self.parameters

    @property
    def header(self) -> Header:
        if self.shape is None:
            return Header(3, self.head, (), 0, self.size_bytes)
        return self.shape.header(self.size_bytes, 7 if "Q8_0" in self.file else 15)

    def fit(self, machine: Machine, setup: Setup) -> Fit:
        return judge(self.header, setup, machine, self.size_bytes)


class Catalogue(BaseModel, extra="forbid"):
    version: int
    models: tuple[Entry, ...]


def kept_head(header: Header) -> dict[str, Any]:
    """What memory is judged by: the architecture's own values, without long lists."""
    own = (f"{header.architecture}.", "general.architecture", "general.file_type")
    head = {
        key: value
        for key, value in header.metadata.items()
        if key.startswith(own) and not isinstance(value, LongArray)
    }
    return head | {f"{header.architecture}.vocab_size": header.vocabulary}


@cache
def read() -> Catalogue:
    return Catalogue.model_validate_json(FILE.read_text("utf-8"))


def suggest(
    machine: Machine,
    setup: Setup,
    installed: Collection[str] = (),
    found: Iterable[Entry] = (),
    as_used: Callable[[str, Fit], Fit] = lambda _file, fit: fit,
) -> list[Suggestion]:
    """All entries with their verdicts, the recommended one marked; those `found` on the hub last.

    Those are never recommended: nobody has tried them. `as_used` puts in the real speed of a file.
    """
    entries = (*read().models, *found)
    judged = [(entry, as_used(entry.file, entry.fit(machine, setup))) for entry in entries]
    tried = [(entry, fit) for entry, fit in judged if entry.rank]
    best = recommended(machine, tried)
    made = []
    for entry, fit in judged:
        is_best = entry is best
        why = _explain(entry, tried) if is_best else ""
        suggestion = _suggestion(entry, fit, installed)
        made.append(replace(suggestion, recommended=is_best, why=why))
    return made


def _explain(best: Entry, judged: list[tuple[Entry, Fit]]) -> str:
    """Why no more able model is recommended, in one sentence."""
    own = next(fit for entry, fit in judged if entry is best)
    better = [(entry, fit) for entry, fit in judged if _is_more_able(entry, best)]
    fitting = [(entry, fit) for entry, fit in better if fit.verdict != "does not fit"]
    if not better:
        return "No model of this list is more able."
    if not fitting:
        return "It is the most able that fits: the others need more memory than is free."
    next_best, fit = min(fitting, key=lambda pair: pair[0].rank)
    if not fit.writes or fit.writes >= own.writes:
        return f"{next_best.title} is more able, but would run slowly here."
    return (
        f"{next_best.title} is more able, but would write about {fit.writes:.1f} tokens per second "
        f"here; this one writes about {own.writes:.1f}."
    )


def _is_more_able(entry: Entry, best: Entry) -> bool:
    return "tools" in entry.uses and entry.rank > best.rank


def recommended(machine: Machine, judged: list[tuple[Entry, Fit]]) -> Entry | None:
    """The best that runs well and, without a graphics card, also writes as fast as people read."""
    useful = [(entry, fit.verdict) for entry, fit in judged if "tools" in entry.uses]
    able = [entry for entry, verdict in useful if verdict == "runs well"]
    if not able:
        return min(
            (entry for entry, verdict in useful if verdict == "tight"),
            key=lambda entry: entry.size_bytes,
            default=None,
        )
    if not machine.engine_uses_gpu:
        writes = {entry.file: fit.writes for entry, fit in judged}
        brisk = BRISK_BYTES * min(1.0, machine.cores / BRISK_CORES)
        quick = [
            entry
            for entry in able
            if (writes[entry.file] >= READING_PACE)
            or (not writes[entry.file] and entry.bytes_per_word <= brisk)
        ]
        able = quick or sorted(able, key=lambda entry: entry.bytes_per_word)[:1]
    return max(able, key=lambda entry: entry.rank, default=None)


def _suggestion(entry: Entry, fit: Fit, installed: Collection[str]) -> Suggestion:
    return Suggestion(
        entry.repo,
        entry.file,
        entry.title,
        entry.good_at,
        entry.uses,
        entry.licence,
        entry.parameters,
        entry.size_bytes,
        entry.header.context_tokens,
        fit,
        installed=entry.file in installed,
        projector=entry.projector,
    )


HUBS = ("hf.co", "huggingface.co", "www.huggingface.co")
LIBRARIES = ("registry.ollama.ai", "ollama.com", "www.ollama.com")
SCHEME = re.compile(r"^https?://", re.IGNORECASE)
PART = re.compile(r"[A-Za-z0-9][A-Za-z0-9._\-]*")
WHERE = "Name a repository instead: hf.co/owner/repository, or hf.co/owner/repository:Q4_K_M."
Search = Callable[[str], Awaitable[list[HubModel]]]


class NotOnHub(HubRefused):
    code = "model_not_found"
    status = 404


@dataclass(frozen=True, slots=True)
class Wanted:
    """`repo` is owner/name, or a bare name that has to be looked for; `tag` may be empty."""

    repo: str
    tag: str = ""

    @property
    def is_bare(self) -> bool:
        return "/" not in self.repo

    @property
    def quantisation(self) -> str:
        found = QUANTISATION.findall(self.tag)
        return found[-1].upper() if found else ""

    @property
    def words(self) -> str:
        """The name with its size: llama3.2-1b."""
        size = QUANTISATION.sub("", self.tag).strip("-._")
        return f"{self.repo}-{size}" if size else self.repo


def read_name(name: str) -> Wanted:
    plain = SCHEME.sub("", name.strip()).strip("/")
    base, _, tag = plain.partition(":")
    host, *parts = base.split("/")
    if host.lower() not in (*HUBS, *LIBRARIES):
        host, parts = "", [host, *parts]
    if host.lower() not in HUBS and len(parts) > 1 and parts[0] == "library":
        parts = parts[1:]
    most = 2 if host.lower() in HUBS or len(parts) > 1 else 1
    if len(parts) != most or not all(PART.fullmatch(part) for part in parts) or "/" in tag:
        raise BadRequest(f"'{name}' is not the name of a model on the hub. {WHERE}", "model")
    return Wanted("/".join(parts), "" if tag == "latest" else tag)


async def find(name: str, search: Search) -> tuple[str, str]:
    """The repository and the file or quantisation in it; an empty one is chosen later."""
    wanted = read_name(name)
    if not wanted.is_bare:
        return wanted.repo, wanted.tag
    start = _condensed(wanted.words)
    for entry in read().models:
        if _begins(entry.repo, start):
            return entry.repo, wanted.quantisation or entry.file
    for text in dict.fromkeys((wanted.words, _spelled(wanted.words))):
        if found := _most_used(await search(text), start):
            return found, wanted.quantisation
    raise NotOnHub(f"model '{name}' not found on the hub. {WHERE}")


def _most_used(models: Iterable[HubModel], start: str) -> str:
    fitting = [one for one in models if _begins(one.repo, start)]
    return max(fitting, key=lambda one: one.downloads).repo if fitting else ""


def _begins(repo: str, start: str) -> bool:
    """Whether the repository's own name begins so, and not in the middle of a number."""
    name = _condensed(repo.partition("/")[2])
    return name.startswith(start) and not (start[-1:].isdigit() and name[len(start) :][:1] == ".")


def _condensed(text: str) -> str:
    return re.sub(r"[-_ ]", "", text.lower())


def _spelled(words: str) -> str:
    """As repositories write it: llama-3.2-1b."""
    return re.sub(r"([A-Za-z])(\d)", r"\1-\2", words)
