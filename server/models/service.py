"""The models service: finds, downloads, imports, judges and deletes models for the windows.

It also knows which repository a model came from, and whether the hub has a newer version.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from server.egress import Egress
from server.errors import BadRequest, EgressRefused, HubFailed, HubMissing, ModelDamaged
from server.face.models import (
    Fit,
    FoundFolder,
    HubFile,
    HubListing,
    HubModel,
    Machine,
    ModelCard,
    ModelDetail,
    Newer,
    NewerState,
    Setup,
    Suggestion,
)
from server.models import catalogue, library, memory, names
from server.models.catalogue import CatalogueRefresh
from server.models.downloads.download import TransferLimits, sha256
from server.models.downloads.queue import FOLDER, AlreadyHere, Downloads
from server.models.fit import judge
from server.models.gguf.files import Headers, shard_paths
from server.models.hub import Hub, RemoteFile, Repository, usual_address
from server.models.hub_cache import HubCache
from server.models.library import Library, check_deletable, delete, owner_of, projector_alone
from server.models.machine import Surveyor
from server.models.repository import (
    files_of,
    find_choice,
    group,
    is_listed,
    read_head,
    recommended,
    size_of,
)
from server.observe import Value
from server.sentences import Sentence
from server.settings import OWN_FIELDS, NetworkSettings, OwnSettings, Settings, reason_of
from server.sizes import MB
from server.system.keychain import Keychain
from server.system.lazy import Late

CACHE_FOLDER = "models--"
"""The prefix of folders in Hugging Face's cache: models--OWNER--NAME/snapshots/COMMIT/FILE."""
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Origin:
    repo: str
    files: tuple[str, ...]
    """The path of each part in the repository. The first is the file that is listed."""


@dataclass(frozen=True, slots=True)
class HubComparison:
    newer: Newer
    repository: Repository | None = None
    files: tuple[RemoteFile, ...] = ()


def trace(path: Path, models: Path) -> Origin:
    """Returns the repository of a file in Moat's folder or Hugging Face's cache."""
    try:
        parts = tuple(shard_paths(path))
        if cached := _in_cache(path):
            repo, first = cached
        else:
            owner, name, *rest = path.relative_to(models).parts
            repo, first = f"{owner}/{name}", PurePosixPath(*rest)
        files = tuple(str(names.file(str(first.with_name(part.name)))) for part in parts)
        return Origin(names.repo(repo), files)
    except (ValueError, BadRequest):
        message = Sentence("Moat does not know from which repository this file is.")
        raise BadRequest(message, "name") from None


def _in_cache(path: Path) -> tuple[str, PurePosixPath] | None:
    """Returns the repository and the file in it if the path lies in Hugging Face's cache."""
    parts = path.parts
    for place, part in enumerate(parts[:-3]):
        owner, mark, name = part.removeprefix(CACHE_FOLDER).partition("--")
        if part.startswith(CACHE_FOLDER) and mark and parts[place + 1] == "snapshots":
            return f"{owner}/{name}", PurePosixPath(*parts[place + 3 :])
    return None


async def compare(hub: Hub, name: str, path: Path, models: Path) -> HubComparison:
    """Compares sizes first, then every byte: a file may be replaced by another of the same size."""
    origin = trace(path, models)
    address = hub.page(origin.repo)
    try:
        there = await hub.repository(origin.repo)
    except HubMissing:
        return HubComparison(Newer(name, origin.repo, "gone", address))
    by_path = {file.path: file for file in there.files}
    if not all(file in by_path for file in origin.files):
        return HubComparison(Newer(name, there.repo, "gone", address, there.updated))
    files = tuple(by_path[file] for file in origin.files)
    is_same = await _is_same(tuple(shard_paths(path)), files)
    state: NewerState = "same" if is_same else "newer"
    size = sum(file.size_bytes for file in files)
    return HubComparison(Newer(name, there.repo, state, address, there.updated, size), there, files)


async def _is_same(paths: tuple[Path, ...], files: tuple[RemoteFile, ...]) -> bool:
    pairs = tuple(zip(paths, files, strict=True))
    if any(path.stat().st_size != file.size_bytes for path, file in pairs):
        return False
    given_up = Event()
    try:
        for path, file in pairs:
            if await asyncio.to_thread(_digest, path, given_up) != file.sha256:
                return False
    finally:
        given_up.set()
    return True


def _digest(path: Path, given_up: Event) -> str:
    """Returns the SHA-256. Hugging Face's cache links to files that are named by it."""
    kept = path.resolve()
    if kept.parent.name == "blobs" and DIGEST.fullmatch(kept.name):
        return kept.name
    return sha256(path, given_up.is_set)


templates = Late("server.models.gguf.templates")
TOKEN = "hub-token"


class ModelShelf:
    """The models of this machine; implements `server.face.models.ModelsFace`."""

    def __init__(
        self,
        models: Path,
        door: tuple[Egress, Keychain],
        settings: Callable[[], Settings],
        change: Callable[[str, object], Awaitable[None]],
        unfinished: str = FOLDER,
    ) -> None:
        self._models = models
        self.headers = Headers()
        self.library = Library([models], self.headers)
        self._keychain = door[1]
        self.settings = settings
        self._change = change
        self.on_change: Callable[[], None] = lambda: None
        self.after_survey: Callable[[Machine], Awaitable[None]] = _do_nothing
        self.hide: Callable[[str], None] = lambda _secret: None
        self.release: Callable[[str], Awaitable[None]] = _do_nothing
        """Unloads a model before its file is deleted."""
        self.speed_of: Callable[[Path], tuple[float, float]] = lambda _path: (0.0, 0.0)
        """Returns the measured speed in tokens per second, read and written; zeros if unknown."""
        self.on_deleted: Callable[[str], None] = lambda _path: None
        self.surveyor = Surveyor()
        self.pace = self.surveyor.pace
        self._hub = Hub(door[0], self._network, self._token)
        self._fetching = Downloads(
            self._hub, models, self._limit, lambda: self.on_change(), TransferLimits(), unfinished
        )
        self.downloads = self._fetching.all
        self.pause_download = self._fetching.pause
        self.resume_download = self._fetching.resume
        self.cancel_download = self._fetching.cancel
        self.read_hub_card = self._hub.card
        found = models / ".catalogue.json"
        self._refresh = CatalogueRefresh(self._hub, found, lambda: self.surveyor.look())
        self.refreshing, self.cancel_refresh = self._refresh.progress, self._refresh.cancel
        self.cards: Value[tuple[ModelCard, ...]] = Value(())
        """All cards, published by the core; they include models of engines elsewhere."""

    def open(self, *, run: bool = True) -> None:
        """Restores the downloads. `run` also resumes those that were running."""
        self._fetching.restore(run=run)

    def look(self) -> tuple[ModelCard, ...]:
        """Returns the models that exist now, in Moat's folder and in the user's."""
        chosen = self.settings().model
        folders = [self._models, *map(Path, filter(None, (*chosen.folders, self._cache())))]
        kept = (path for path in HubCache(self._models).paths() if is_listed(Path(path).name))
        self.library.look_in(folders, map(Path, (*chosen.files, *kept)))
        return tuple(
            replace(card, owned=owner_of(card, self._models, chosen.files))
            for card in self.library.scan()
        )

    async def close(self) -> None:
        await self.surveyor.close()
        await self._refresh.cancel()
        await self._fetching.close()

    def survey_by(self, surveyor: Surveyor) -> None:
        self.surveyor, self.pace = surveyor, surveyor.pace

    async def search(self, text: str) -> list[HubModel]:
        return await self._hub.search(text.strip())

    async def list_repository(self, repo: str) -> HubListing:
        """Returns the choices of a repository, each judged for this machine."""
        found = await self._hub.repository(repo)
        models, projectors = group(found.files)
        machine = await self.surveyor.look()
        judged = await self._judge_all(found, models, machine)
        note = "" if models else Sentence("This repository holds no GGUF files.")
        return HubListing(
            found.repo,
            found.revision,
            found.licence,
            found.gated,
            self._hub.page(repo),
            judged,
            projectors,
            note,
        )

    async def download(self, repo: str, file: str) -> str:
        """Starts a download of a file or quantisation. An empty name takes the recommended one."""
        return self._fetching.start(*await self._choose(repo, file), cache=self._cache())

    async def pull(self, name: str) -> tuple[Path, str]:
        """Starts the download of a model by Ollama's name. Returns its path and the download's id.

        The id is empty if the model is already installed.
        """
        repository, files = await self._choose(*await catalogue.find(name, self.search))
        cache = self._cache()
        path = self._fetching.target_of(
            repository.repo, repository.revision, files[0].path, cache=cache
        )
        try:
            return path, self._fetching.start(repository, files, cache=cache)
        except AlreadyHere:
            return path, ""

    async def _choose(self, repo: str, file: str) -> tuple[Repository, tuple[RemoteFile, ...]]:
        found = await self._hub.repository(repo)
        models, projectors = group(found.files)
        if not file:
            models = await self._judge_all(found, models, await self.surveyor.look())
            choice = next((model for model in models if model.recommended), None)
        else:
            choice = find_choice(models, projectors, file)
        return found, files_of(found, choice, models, projectors)

    async def import_file(self, path: str) -> str:
        """Adds a GGUF file where it lies, without copying it, and returns the model's name."""
        given = _existing(path)
        header = await asyncio.to_thread(self.headers.check, given)
        if header.is_projector:
            raise projector_alone(given)
        files = self.settings().model.files
        if str(given) not in files:
            await self._change("model.files", (*files, str(given)))
        self.on_change()
        return next(card.name for card in self.look() if card.path == str(given))

    async def delete(self, name: str) -> int:
        """Deletes a model and returns the bytes freed.

        A file that was added from elsewhere is only removed from the list.
        """
        if any(card.hosts for card in self.cards.get() if card.name == name):
            raise BadRequest(
                Sentence(
                    "'{0}' runs on another server: Moat can only remove it from its list.", name
                ),
                "name",
            )
        check_deletable(self.library.find(name, ""), self._models, self.settings().model.files)
        await self.release(name)
        card, files = self.library.find(name, ""), self.settings().model.files
        if card.path in files:
            await self._change("model.files", tuple(path for path in files if path != card.path))
            freed = 0
        else:
            freed = await asyncio.to_thread(delete, card, self._models)
        await self._keep_own(OwnSettings(name=name))
        self.on_change()
        self.on_deleted(card.path)
        return freed

    async def change_own_setting(self, name: str, field: str, value: Any) -> None:
        """Changes a setting for that model only. None restores the value for all models."""
        self.check_known(name)
        if field not in OWN_FIELDS:
            known = ", ".join(OWN_FIELDS)
            raise BadRequest(
                Sentence("A model has no setting '{0}' of its own: {1}.", field, known), field
            )
        values = {**self.settings().model.own_of(name).model_dump(), field: value}
        try:
            own = OwnSettings.model_validate(values)
        except ValidationError as error:
            why = reason_of(error)
            raise BadRequest(f"{OWN_FIELDS[field].title}: {why}.", field) from None
        await self._keep_own(own)

    def check_known(self, name: str) -> None:
        """Raises ModelNotFound or NoModel unless a model, here or elsewhere, has that name."""
        if all(engine.name != name for engine in self.settings().engines.elsewhere):
            self.library.find(name, "")

    async def _keep_own(self, own: OwnSettings) -> None:
        """Stores a model's own settings, or removes them if they hold no values."""
        known = self.settings().model.own
        others = tuple(settings for settings in known if settings.name != own.name)
        kept = (*others, own) if own.values else others
        if kept != known:
            await self._change("model.own", kept)

    async def describe(self, name: str) -> ModelDetail:
        card = self.library.find(name, "")
        blank = ModelDetail(card.name, card.path, card.size_bytes)
        try:
            header = await asyncio.to_thread(self.headers.check, Path(card.path))
        except ModelDamaged as error:
            return replace(blank, damaged=error.defect)
        machine = await self.surveyor.look()
        return replace(
            blank,
            title=header.name,
            architecture=header.architecture,
            parameters=header.parameters,
            quantisation=header.quantisation,
            trained_context_tokens=header.context_tokens,
            licence=header.licence,
            tool_style=header.tool_style,
            template=header.template,
            shards=header.shards,
            is_embedder=header.is_embedder,
            projector=card.projector,
            template_notes=await asyncio.to_thread(templates.notes, header),
            fit=self._as_used(
                judge(header, _add_projector(self._setup(card.name), card), machine), card
            ),
        )

    async def estimate(self, name: str, setup: Setup) -> Fit:
        card = self.library.find(name, "")
        header = await asyncio.to_thread(self.headers.check, Path(card.path))
        setup = self._add_draft(_add_projector(setup, card))
        return self._as_used(judge(header, setup, await self.surveyor.look()), card)

    def _as_used(self, fit: Fit, card: ModelCard) -> Fit:
        """Replaces the predicted speed by the measured one if the model has been used."""
        reads, writes = self.speed_of(Path(card.path))
        if not writes:
            return fit
        return replace(fit, reads=reads or fit.reads, writes=writes, is_measured=True)

    async def suggest(self) -> list[Suggestion]:
        here = {Path(card.path).name.lower(): card for card in self.look()}
        found = await asyncio.to_thread(self._refresh.found)
        await self.surveyor.measure()
        return catalogue.suggest(
            await self.surveyor.look(),
            self._setup(),
            here,
            found,
            lambda file, fit: (
                self._as_used(fit, here[name]) if (name := file.lower()) in here else fit
            ),
        )

    async def refresh_suggestions(self) -> int:
        return await self._refresh.run(self._setup())

    async def measure_pace(self) -> Machine:
        await self.surveyor.measure(anew=True)
        return self.surveyor.machine()

    async def survey_machine(self) -> Machine:
        machine = await self.surveyor.look(anew=True)
        await self.after_survey(machine)
        return machine

    async def engine_build(self) -> str:
        return await self.surveyor.engine_build()

    async def find_folders(self) -> list[FoundFolder]:
        used = frozenset(self.settings().model.folders)
        return await asyncio.to_thread(library.find_stores, Path.home(), os.environ, used)

    async def set_hub_token(self, token: str) -> None:
        """Stores the token for the current hub. An empty token deletes it."""
        name = _token_name(self._hub.host)
        if token.strip():
            self.hide(token.strip())
            await self._keychain.set(name, token.strip())
        else:
            await self._keychain.delete(name)

    async def find_newer(self, name: str) -> Newer:
        return (await self._compare(name)).newer

    async def download_newer(self, name: str) -> str:
        found = await self._compare(name)
        if found.newer.state != "newer" or found.repository is None:
            raise BadRequest(Sentence("The hub has no newer file of this model."), "name")
        card, files = self.library.find(name, ""), found.files
        cache = await asyncio.to_thread(HubCache(self._models).folder_of, Path(card.path))
        if cache and card.projector:
            # In the cache each version has its own folder, so the projector must come along.
            projector = Path(card.projector).name
            files += tuple(file for file in found.repository.files if file.path.endswith(projector))
        return self._fetching.start(found.repository, files, replaces=True, cache=cache)

    async def _compare(self, name: str) -> HubComparison:
        card = self.library.find(name, "")
        return await compare(self._hub, card.name, Path(card.path), self._models)

    async def find_hub_login(self) -> str:
        place, _ = await asyncio.to_thread(self._hub.login, os.environ)
        return place if not await self._token(self._hub.host) else ""

    async def use_hub_login(self) -> None:
        """Copies the other program's token to our secrets: its later changes do not matter."""
        _, token = await asyncio.to_thread(self._hub.login, os.environ)
        if not token:
            raise BadRequest(Sentence("No other program of this computer is signed in."), "token")
        await self.set_hub_token(token)

    async def _judge_all(
        self, found: Repository, models: tuple[HubFile, ...], machine: Machine
    ) -> tuple[HubFile, ...]:
        if not models:
            return ()
        fits = await self._fits(found, models, machine)
        here = {Path(card.path).name: card for card in self.look()}
        judged = []
        for file, fit in zip(models, fits, strict=True):
            card = here.get(Path(file.name).name)
            used = self._as_used(fit, card) if card else fit
            judged.append(replace(file, fit=used, installed=card is not None))
        best = recommended(judged)
        return tuple(replace(file, recommended=file is best) for file in judged)

    async def _fits(
        self, found: Repository, models: tuple[HubFile, ...], machine: Machine
    ) -> list[Fit]:
        """Judges all files by the header of the smallest: they have the same shape."""
        try:
            header = await read_head(self._hub, found, models[0])
        except (HubFailed, EgressRefused, ModelDamaged) as error:
            return [Fit("unknown", str(error))] * len(models)
        return [judge(header, self._setup(), machine, file.size_bytes) for file in models]

    def _setup(self, name: str = "") -> Setup:
        """Returns how that model would be loaded, or any other model if there is no name."""
        model = self.settings().model.for_model(name)
        setup = Setup(
            model.context_tokens,
            model.slots,
            model.kv_type,
            model.gpu_layers,
            model.batch_tokens,
            {"auto": None, "on": True, "off": False}[model.flash_attention],
            model.gpu_split,
            cpu_experts=model.cpu_experts,
            kv_offload=model.kv_offload,
            main_gpu=model.main_gpu,
        )
        return self._add_draft(setup)

    def _add_draft(self, setup: Setup) -> Setup:
        """Adds the draft model's memory if one is set."""
        return memory.add_draft(setup, memory.draft_path(self.settings().model), self.headers)

    def _cache(self) -> str:
        """Returns the folder of Hugging Face's cache if downloads go there, else ""."""
        if not self.settings().model.in_hub_cache:
            return ""
        return str(library.hub_cache_folder(Path.home(), os.environ))

    def _network(self) -> NetworkSettings:
        return self.settings().network

    async def _token(self, host: str) -> str | None:
        token = await self._keychain.get(_token_name(host))
        if token:
            self.hide(token)
        return token

    def _limit(self) -> float:
        return self._network().download_limit_mb_s * MB


async def _do_nothing(_given: object) -> None:
    """The default for hooks that the core replaces."""


def _token_name(host: str) -> str:
    """Returns the name of a host's token. Only Hugging Face gets Hugging Face's token."""
    usual = urlsplit(usual_address()).netloc.lower()
    return TOKEN if host == usual else f"{TOKEN}-{host}"


def _existing(path: str) -> Path:
    try:
        given = Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        given = Path(path)
    if not os.path.isfile(given):  # noqa: PTH113 - pathlib's raises without permission to look
        raise BadRequest(Sentence("There is no file {0}.", given.name), "path")
    return given


def _add_projector(setup: Setup, card: ModelCard) -> Setup:
    """Adds the memory of the model's projector."""
    return replace(setup, projector_bytes=size_of([card.projector]))
