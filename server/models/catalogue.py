"""The curated list of models, a verdict on each for this machine, and Ollama's names for models.

A person can refresh the list: the hub is then asked for the models that are popular now.
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

from server.errors import BadRequest, EgressRefused, HubFailed, HubRefused, ModelDamaged
from server.face import Text
from server.face.models import Fit, HubModel, Machine, Setup, Suggestion
from server.models import repository
from server.models.fit import READING_PACE, judge
from server.models.gguf.header import Header, LongArray
from server.models.hub import Hub, TrendingModel
from server.models.repository import QUANTISATION
from server.observe import Value
from server.sentences import Sentence
from server.system.files import write_atomically
from server.tasks import spawn, stop

FILE = Path(__file__).resolve().parents[2] / "resources" / "catalogue.json"
BRISK_BYTES = 3 << 30
"""Bytes of weights read per token. Eight cores write briskly up to about this size."""
BRISK_CORES = 8
"""The cores that `BRISK_BYTES` assumes. Both count only if the machine's pace was not measured."""


class CatalogueEntry(BaseModel, extra="forbid"):
    repo: str
    file: str
    title: str
    good_at: Text
    uses: tuple[str, ...]
    licence: str
    parameters: int
    size_bytes: int = 0
    bits_per_weight: float = 0.0
    """Used to compute the file's size if the exact size is not known."""
    rank: int
    head: dict[str, Any]
    """The metadata from the file's header that memory estimates need."""
    active_parameters: int = 0
    projector: str = ""
    projector_bytes: int = 0
    is_about: bool = False
    """Whether the size is computed. A download asks the hub for the real size."""

    @model_validator(mode="after")
    def _compute_size(self) -> "CatalogueEntry":
        if not self.size_bytes:
            self.size_bytes = int(self.parameters * self.bits_per_weight / 8)
            self.is_about = True
        if not self.size_bytes:
            raise ValueError("neither the size nor the bits per weight are given")
        # JSON turns tuples into lists. The GGUF reader returns tuples.
        self.head = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in self.head.items()
        }
        return self

    @property
    def download_bytes(self) -> int:
        """The size of the model and of the projector that is downloaded with it."""
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
    models: tuple[CatalogueEntry, ...]


def kept_head(header: Header) -> dict[str, Any]:
    """Returns the metadata for memory estimates: the architecture's values without long arrays."""
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
    found: Iterable[CatalogueEntry] = (),
    as_used: Callable[[str, Fit], Fit] = lambda _file, fit: fit,
) -> list[Suggestion]:
    """Returns all entries with their verdicts and marks the recommended one.

    Models `found` on the hub come last and are never recommended, because nobody has tried them.
    `as_used` replaces the predicted speed of a file by its measured speed.
    """
    entries = (*read().models, *found)
    # Publishers who rename a file often change only its capitals.
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


def _explain(best: CatalogueEntry, judged: list[tuple[CatalogueEntry, Fit]]) -> str:
    """Explains in one sentence why no more capable model is recommended."""
    own = next(fit for entry, fit in judged if entry is best)
    able = [(entry, fit) for entry, fit in judged if "tools" in entry.uses]
    better = [(entry, fit) for entry, fit in able if entry.rank > best.rank]
    fitting = [(entry, fit) for entry, fit in better if fit.verdict != "does not fit"]
    if not better:
        return Sentence("No model in this list is more capable.")
    if not fitting:
        return Sentence(
            "It is the most capable that fits: the others need more memory than is free."
        )
    next_best, fit = min(fitting, key=lambda pair: pair[0].rank)
    if not fit.writes or fit.writes >= own.writes:
        return Sentence("{0} is more capable, but would run slowly here.", next_best.title)
    return Sentence(
        "{0} is more capable, but would write about {1:.1f} tokens per second "
        "here; this one writes about {2:.1f}.",
        next_best.title,
        fit.writes,
        own.writes,
    )


def recommended(
    machine: Machine, judged: list[tuple[CatalogueEntry, Fit]]
) -> CatalogueEntry | None:
    """Returns the ablest model that runs well.

    Without a graphics card it must also write as fast as people read. Falls back to the smallest
    model that fits tightly; None if no model with tools fits.
    """
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


def _suggestion(entry: CatalogueEntry, fit: Fit, installed: Collection[str]) -> Suggestion:
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
WHERE = Sentence(
    "Name a repository instead: hf.co/owner/repository, or hf.co/owner/repository:Q4_K_M."
)
Search = Callable[[str], Awaitable[list[HubModel]]]


class NotOnHub(HubRefused):
    code = "model_not_found"
    status = 404


@dataclass(frozen=True, slots=True)
class Wanted:
    """A requested model: `repo` is owner/name or a bare name to search for; `tag` may be empty."""

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
        """The name with its size, such as llama3.2-1b."""
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
    """Returns the repository and a file or quantisation in it; an empty one is chosen later."""
    wanted = read_name(name)
    if not wanted.is_bare:
        return wanted.repo, wanted.tag
    start = _condensed(wanted.words)
    for entry in read().models:
        if _begins(entry.repo, start):
            return entry.repo, wanted.quantisation or entry.file
    # Repositories write llama-3.2-1b where Ollama writes llama3.2-1b.
    spelled = re.sub(r"([A-Za-z])(\d)", r"\1-\2", wanted.words)
    for text in dict.fromkeys((wanted.words, spelled)):
        if found := _most_used(await search(text), start):
            return found, wanted.quantisation
    raise NotOnHub(f"model '{name}' not found on the hub. {WHERE}")


def _most_used(models: Iterable[HubModel], start: str) -> str:
    fitting = [model for model in models if _begins(model.repo, start)]
    return max(fitting, key=lambda model: model.downloads).repo if fitting else ""


def _begins(repo: str, start: str) -> bool:
    """Whether the repository's name starts with `start`, which must not end inside a number."""
    name = _condensed(repo.partition("/")[2])
    return name.startswith(start) and not (start[-1:].isdigit() and name[len(start) :][:1] == ".")


def _condensed(text: str) -> str:
    return re.sub(r"[-_ ]", "", text.lower())


def _spelled(words: str) -> str:
    """Spells a name as repositories do: llama3.2-1b becomes llama-3.2-1b."""
    return re.sub(r"([A-Za-z])(\d)", r"\1-\2", words)


log = logging.getLogger(__name__)

PUBLISHERS = (
    "ggml-org", "Qwen", "unsloth", "bartowski", "lmstudio-community", "google", "ibm-granite",
    "mistralai", "microsoft", "LiquidAI",
)  # fmt: skip
"""Well-known publishers of models, or of GGUF files made from the models of others."""
PER_PUBLISHER = 6
MOST = 12
LEAST_BYTES = 0.35
"""Bytes per parameter of the smallest useful files."""
_KEPT = TypeAdapter(tuple[CatalogueEntry, ...])


class CatalogueRefresh:
    """A search for new models on the hub, kept in `path`. `progress` is empty while it is idle."""

    def __init__(self, hub: Hub, path: Path, machine: Callable[[], Awaitable[Machine]]) -> None:
        self.progress: Value[str] = Value("")
        self._hub = hub
        self._path = path
        self._machine = machine
        self._task: asyncio.Task[tuple[CatalogueEntry, ...]] | None = None

    def found(self) -> tuple[CatalogueEntry, ...]:
        """Returns the entries of the last refresh, or nothing if their file cannot be read."""
        try:
            return _KEPT.validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return ()

    async def run(self, setup: Setup) -> int:
        """Asks the hub and returns the number of models found. On failure the earlier ones stay."""
        if self._task is not None:
            raise BadRequest(Sentence("New models are being looked for already."), "refresh")
        self._task = task = spawn(self._look(setup), "catalogue-refresh")
        try:
            await asyncio.wait([task])
        finally:
            await stop(task)
            self._task = None
            self.progress.set("")
        if task.cancelled():
            raise BadRequest(Sentence("Looking for new models was cancelled."), "refresh")
        entries = task.result()
        if not entries:
            raise HubFailed(Sentence("The hub names no new model that fits this computer."))
        text = _KEPT.dump_json(entries, indent=1).decode()
        await asyncio.to_thread(write_atomically, self._path, text)
        return len(entries)

    async def cancel(self) -> None:
        await stop(self._task)

    async def _look(self, setup: Setup) -> tuple[CatalogueEntry, ...]:
        machine = await self._machine()
        listed: list[list[TrendingModel]] = []
        for number, publisher in enumerate(PUBLISHERS, 1):
            total = len(PUBLISHERS)
            self.progress.set(
                Sentence("Asking for the models of {0} ({1} of {2}).", publisher, number, total)
            )
            listed.append(await self._hub.trending(publisher, PER_PUBLISHER))
        known = {_base(entry.repo) for entry in read().models}
        # Takes the first model of each publisher, then the second: none crowds out the others.
        wanted: dict[str, TrendingModel] = {}
        for model in filter(None, chain.from_iterable(zip_longest(*listed))):
            room = max(machine.memory_bytes, *(card.total_bytes for card in machine.devices), 0)
            is_small = model.about.parameters * LEAST_BYTES < room
            if not model.about.gated and is_small and _base(model.about.repo) not in known:
                wanted.setdefault(_base(model.about.repo), model)
        chosen = list(wanted.values())[:MOST]
        found: list[CatalogueEntry] = []
        for number, model in enumerate(chosen, 1):
            self.progress.set(
                Sentence("Reading {0} ({1} of {2}).", model.about.repo, number, len(chosen))
            )
            entry = await self._entry(model, machine, setup)
            found += [entry] if entry else []
        return tuple(found)

    async def _entry(
        self, model: TrendingModel, machine: Machine, setup: Setup
    ) -> CatalogueEntry | None:
        """Builds an entry; None if the repository cannot be read or no file fits this machine."""
        try:
            there = await self._hub.repository(model.about.repo)
            files, projectors = repository.group(there.files)
            if not files:
                return None
            header = await repository.read_head(self._hub, there, files[0])
        except (HubFailed, EgressRefused, ModelDamaged, BadRequest) as error:
            log.info("%s is left out of the suggestions: %s", model.about.repo, error)
            return None
        best = repository.recommended(
            [replace(file, fit=judge(header, setup, machine, file.size_bytes)) for file in files]
        )
        seeing = repository.choose_projector(projectors)
        if best is None:
            return None
        return CatalogueEntry(
            repo=there.repo,
            file=best.name,
            title=_base(there.repo),
            good_at=Sentence("Popular on the hub on {0}.", datetime.now(UTC).date()),
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
    """Returns the model's name without its owner: several publishers offer files of one model."""
    return repo.partition("/")[2].removesuffix("-GGUF").removesuffix("-gguf")


def _uses(model: TrendingModel, header: Header, *, sees: bool) -> tuple[str, ...]:
    if header.is_embedder:
        return ("embeddings",)
    template = {"tokenizer.chat_template": model.template}
    calls = Header(template).tool_style
    thinks = "think" in model.template
    found = (("tools", bool(calls)), ("thinking", thinks), ("vision", sees))
    return ("chat", *(use for use, has in found if has))
