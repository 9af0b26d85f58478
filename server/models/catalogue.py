"""The curated list of models, each judged for this machine; and Ollama's names for models.

A person can have it refreshed: then the hub is asked for the models that many look at now.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError, model_validator

from server.errors import BadRequest, HubFailed, HubRefused, ModelDamaged
from server.face.models import Fit, HubModel, Machine, Setup, Suggestion
from server.models import repository
from server.models.fit import READING_PACE, judge
from server.models.gguf.header import Header, LongArray
from server.models.hub import Hub, TrendingModel
from server.models.repository import QUANTISATION
from server.observe import Value
from server.system.files import write_atomically
from server.tasks import spawn, stop

FILE = Path(__file__).resolve().parents[2] / "resources" / "catalogue.json"
BRISK_BYTES = 3 << 30
"""Weights read for each word; a processor of eight cores writes briskly up to about here."""
BRISK_CORES = 8
"""Counts where the speed of the machine was not measured."""


class Entry(BaseModel, extra="forbid"):
    repo: str
    file: str
    title: str
    good_at: str
    uses: tuple[str, ...]
    licence: str
    parameters: int
    size_bytes: int = 0
    bits_per_weight: float = 0.0
    """Where the exact size of the file is not known: the size is computed from it."""
    rank: int
    head: dict[str, Any]
    """What the head of the file itself says, as far as memory goes."""
    active_parameters: int = 0
    projector: str = ""
    projector_bytes: int = 0
    is_about: bool = False
    """A size is computed, not read from the hub. A download asks the hub for the real one."""

    @model_validator(mode="after")
    def _compute_size(self) -> "Entry":
        if not self.size_bytes:
            self.size_bytes = int(self.parameters * self.bits_per_weight / 8)
            self.is_about = True
        if not self.size_bytes:
            raise ValueError("neither the size nor the bits per weight are given")
        # A list of the head is a tuple again, as the reader of files gives it.
        self.head = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in self.head.items()
        }
        return self

    @property
    def download_bytes(self) -> int:
        """The model and the projector that comes along with it."""
        return self.size_bytes + self.projector_bytes

    @property
    def bytes_per_word(self) -> float:
        return self.size_bytes * (self.active_parameters or self.parameters) / self.parameters

    @property
    def header(self) -> Header:
        return Header(self.head, (), self.size_bytes)

    def fit(self, machine: Machine, setup: Setup) -> Fit:
        setup = replace(setup, projector_bytes=self.projector_bytes)
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
    # A publisher that renames a file often changes capitals only.
    here = {name.lower() for name in installed}
    judged = [(entry, as_used(entry.file, entry.fit(machine, setup))) for entry in entries]
    tried = [(entry, fit) for entry, fit in judged if entry.rank]
    best = recommended(machine, tried)
    made = []
    for entry, fit in judged:
        is_best = entry is best
        why = _explain(entry, tried) if is_best else ""
        suggestion = _suggestion(entry, fit, here)
        made.append(replace(suggestion, recommended=is_best, why=why))
    return made


def _explain(best: Entry, judged: list[tuple[Entry, Fit]]) -> str:
    """Why no more able model is recommended, in one sentence."""
    own = next(fit for entry, fit in judged if entry is best)
    able = [(entry, fit) for entry, fit in judged if "tools" in entry.uses]
    better = [(entry, fit) for entry, fit in able if entry.rank > best.rank]
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
        entry.download_bytes,
        entry.header.context_tokens,
        fit,
        installed=entry.file.lower() in installed,
        projector=entry.projector,
        is_about=entry.is_about,
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


log = logging.getLogger(__name__)

PUBLISHERS = (
    "ggml-org", "Qwen", "unsloth", "bartowski", "lmstudio-community", "google", "ibm-granite",
    "mistralai", "microsoft", "LiquidAI",
)  # fmt: skip
"""Who makes models, or makes GGUF files of the models of others, and is known for it."""
PER_PUBLISHER = 6
MOST = 12
LEAST_BYTES = 0.35
"""The bytes for each parameter of the smallest useful files."""
_KEPT = TypeAdapter(tuple[Entry, ...])


class CatalogueRefresh:
    """Asks the hub, and keeps what it found in `path`. `progress` is empty unless it asks."""

    def __init__(self, hub: Hub, path: Path, machine: Callable[[], Awaitable[Machine]]) -> None:
        self.progress: Value[str] = Value("")
        self._hub = hub
        self._path = path
        self._machine = machine
        self._task: asyncio.Task[tuple[Entry, ...]] | None = None

    def found(self) -> tuple[Entry, ...]:
        """What the last refresh found; nothing where its file cannot be read."""
        try:
            return _KEPT.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return ()

    async def run(self, setup: Setup) -> int:
        """Returns how many models are offered now. What was found before stays if this fails."""
        if self._task is not None:
            raise BadRequest("New models are being looked for already.", "refresh")
        self._task = task = spawn(self._look(setup), "catalogue-refresh")
        try:
            await asyncio.wait([task])
        finally:
            await stop(task)
            self._task = None
            self.progress.set("")
        if task.cancelled():
            raise BadRequest("Looking for new models was cancelled.", "refresh")
        entries = task.result()
        if not entries:
            raise HubFailed("The hub names no new model that fits this computer.")
        text = _KEPT.dump_json(entries, indent=1).decode()
        await asyncio.to_thread(write_atomically, self._path, text)
        return len(entries)

    async def cancel(self) -> None:
        await stop(self._task)

    async def _look(self, setup: Setup) -> tuple[Entry, ...]:
        machine = await self._machine()
        listed: list[list[TrendingModel]] = []
        for number, publisher in enumerate(PUBLISHERS, 1):
            total = len(PUBLISHERS)
            self.progress.set(f"Asking for the models of {publisher} ({number} of {total}).")
            listed.append(await self._hub.trending(publisher, PER_PUBLISHER))
        known = {_base(entry.repo) for entry in read().models}
        # One of each publisher, then the next of each: none of them crowds out the others.
        wanted: dict[str, TrendingModel] = {}
        for model in filter(None, chain.from_iterable(zip_longest(*listed))):
            room = max(machine.memory_bytes, *(card.total_bytes for card in machine.devices), 0)
            is_small = model.about.parameters * LEAST_BYTES < room
            if not model.about.gated and is_small and _base(model.about.repo) not in known:
                wanted.setdefault(_base(model.about.repo), model)
        chosen = list(wanted.values())[:MOST]
        found: list[Entry] = []
        for number, model in enumerate(chosen, 1):
            self.progress.set(f"Reading {model.about.repo} ({number} of {len(chosen)}).")
            entry = await self._entry(model, machine, setup)
            found += [entry] if entry else []
        return tuple(found)

    async def _entry(self, model: TrendingModel, machine: Machine, setup: Setup) -> Entry | None:
        """Returns None for a repository that cannot be read, or whose files do not fit here."""
        try:
            there = await self._hub.repository(model.about.repo)
            files, eyes = repository.group(there.files)
            if not files:
                return None
            header = await repository.read_head(self._hub, there, files[0])
        except (HubFailed, ModelDamaged, BadRequest) as error:
            log.info("%s is left out of the suggestions: %s", model.about.repo, error)
            return None
        best = repository.recommended(
            [replace(file, fit=judge(header, setup, machine, file.size_bytes)) for file in files]
        )
        seeing = repository.choose(eyes)
        if best is None:
            return None
        return Entry(
            repo=there.repo,
            file=best.name,
            title=_base(there.repo),
            good_at=f"Much asked for on the hub on {datetime.now(UTC).date()}.",
            uses=_uses(model, header, sees=seeing is not None),
            licence=there.licence or "unknown",
            parameters=model.about.parameters,
            size_bytes=best.size_bytes,
            rank=0,
            head=kept_head(header),
            projector=seeing.name if seeing else "",
            projector_bytes=seeing.size_bytes if seeing else 0,
        )


def _base(repo: str) -> str:
    """The model's name without its maker: several publish files of one model."""
    return repo.partition("/")[2].removesuffix("-GGUF").removesuffix("-gguf")


def _uses(model: TrendingModel, header: Header, *, sees: bool) -> tuple[str, ...]:
    if header.is_embedder:
        return ("embeddings",)
    template = {"tokenizer.chat_template": model.template}
    calls = Header(template).tool_style
    thinks = "think" in model.template
    found = (("tools", bool(calls)), ("thinking", thinks), ("vision", sees))
    return ("chat", *(use for use, has in found if has))
