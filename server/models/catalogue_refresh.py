"""New models for the catalogue: what is asked for on the hub now. Only a person begins this."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, zip_longest
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from server.errors import BadRequest, HubFailed, ModelDamaged
from server.face.models import Machine, Setup
from server.models import repository
from server.models.catalogue import Entry, kept_head, read
from server.models.fit import judge
from server.models.gguf.header import Header
from server.models.hub import Hub, TrendingModel
from server.observe import Value
from server.system.files import write_atomically
from server.tasks import spawn, stop

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
        )


def _base(repo: str) -> str:
    """The model's name without its maker: several publish files of one model."""
    return repo.partition("/")[2].removesuffix("-GGUF").removesuffix("-gguf")


def _uses(model: TrendingModel, header: Header, *, sees: bool) -> tuple[str, ...]:
    if header.is_embedder:
        return ("embeddings",)
    template = {"tokenizer.chat_template": model.template}
    calls = Header(3, template, (), 0, 0).tool_style
    thinks = "think" in model.template
    found = (("tools", bool(calls)), ("thinking", thinks), ("vision", sees))
    return ("chat", *(use for use, has in found if has))
