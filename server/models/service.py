"""The shelf: finding, fetching, importing, judging and deleting models; what the pages call.

It also knows where a model came from, and whether the hub has another version of it now.
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
from server.errors import BadRequest, HubFailed, HubMissing, ModelDamaged
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
from server.models.downloads.download import Limits, sha256
from server.models.downloads.queue import FOLDER, AlreadyHere, Downloads
from server.models.fit import judge
from server.models.gguf.files import Headers, shard_paths
from server.models.hub import Hub, RemoteFile, Repository, usual_address
from server.models.hub_cache import HubCache
from server.models.library import Library, check_deletable, delete, only_eyes, owner_of
from server.models.machine import Surveyor
from server.models.repository import (
    files_of,
    group,
    is_listed,
    named,
    read_head,
    recommended,
    size_of,
)
from server.observe import Value
from server.settings import OWN_FIELDS, NetworkSettings, OwnSettings, Settings
from server.sizes import MB
from server.system.keychain import Keychain
from server.system.lazy import Late

CACHE_FOLDER = "models--"
"""A path in the cache of Hugging Face's own programs: models--OWNER--NAME/snapshots/COMMIT/FILE."""
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Origin:
    repo: str
    files: tuple[str, ...]
    """The path of each part in the repository; the first is the one that is listed."""


@dataclass(frozen=True, slots=True)
class Found:
    newer: Newer
    repository: Repository | None = None
    files: tuple[RemoteFile, ...] = ()


def trace(path: Path, models: Path) -> Origin:
    """By the place where it lies: our folder and Hugging Face's cache name the repository."""
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
        message = "Moat does not know from which repository this file is."
        raise BadRequest(message, "name") from None


def _in_cache(path: Path) -> tuple[str, PurePosixPath] | None:
    """The repository and the file in it, where the path is one of Hugging Face's cache."""
    parts = path.parts
    for place, part in enumerate(parts[:-3]):
        owner, mark, name = part.removeprefix(CACHE_FOLDER).partition("--")
        if part.startswith(CACHE_FOLDER) and mark and parts[place + 1] == "snapshots":
            return f"{owner}/{name}", PurePosixPath(*parts[place + 3 :])
    return None


async def compare(hub: Hub, name: str, path: Path, models: Path) -> Found:
    """The sizes first, then every byte: a file may have been replaced by one as long."""
    origin = trace(path, models)
    address = hub.page(origin.repo)
    try:
        there = await hub.repository(origin.repo)
    except HubMissing:
        return Found(Newer(name, origin.repo, "gone", address))
    by_path = {file.path: file for file in there.files}
    if not all(file in by_path for file in origin.files):
        return Found(Newer(name, there.repo, "gone", address, there.updated))
    files = tuple(by_path[file] for file in origin.files)
    is_same = await _is_same(tuple(shard_paths(path)), files)
    state: NewerState = "same" if is_same else "newer"
    size = sum(file.size_bytes for file in files)
    return Found(Newer(name, there.repo, state, address, there.updated, size), there, files)


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
    """In Hugging Face's cache a file is a link to one that is named by its digest."""
    kept = path.resolve()
    if kept.parent.name == "blobs" and DIGEST.fullmatch(kept.name):
        return kept.name
    return sha256(path, given_up.is_set)


templates = Late("server.models.gguf.templates")
TOKEN = "hub-token"


class ModelShelf:
    """The models of this machine: everything in `server.face.models.ModelsFace`."""

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
        self.after_survey: Callable[[Machine], Awaitable[None]] = _ignore
        self.hide: Callable[[str], None] = lambda _secret: None
        self.release: Callable[[str], Awaitable[None]] = _release_nothing
        """Unloads a model before its file is deleted."""
        self.speed_of: Callable[[Path], tuple[float, float]] = lambda _path: (0.0, 0.0)
        """How fast a model was when it was used: tokens per second, read and written."""
        self.on_deleted: Callable[[str], None] = lambda _path: None
        self.surveyor = Surveyor()
        self.pace = self.surveyor.pace
        self._hub = Hub(door[0], self._network, self._token)
        self._fetching = Downloads(
            self._hub, models, self._limit, lambda: self.on_change(), Limits(), unfinished
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
        """Those of engines elsewhere, too: the core publishes both."""

    def open(self, *, run: bool = True) -> None:
        """`run`: take up the downloads that were under way."""
        self._fetching.restore(run=run)

    def look(self) -> tuple[ModelCard, ...]:
        """The models that are here now, in our folder and in those the user added."""
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
        """The choices of a repository, each judged for this machine by its own header."""
        found = await self._hub.repository(repo)
        models, eyes = group(found.files)
        machine = await self.surveyor.look()
        judged = await self._judge_all(found, models, machine)
        note = "" if models else "This repository holds no GGUF files."
        return HubListing(
            found.repo,
            found.revision,
            found.licence,
            found.gated,
            self._hub.page(repo),
            judged,
            eyes,
            note,
        )

    async def download(self, repo: str, file: str) -> str:
        """By a file's name, or by a quantisation; an empty name takes the recommended one."""
        return self._fetching.start(*await self._choose(repo, file), cache=self._cache())

    async def pull(self, name: str) -> tuple[Path, str]:
        """A model by what Ollama's programs call it: where it will lie, and the download's id.

        The id is empty where the model is here already.
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
        models, eyes = group(found.files)
        if not file:
            models = await self._judge_all(found, models, await self.surveyor.look())
            choice = next((one for one in models if one.recommended), None)
        else:
            choice = named(models, eyes, file)
        return found, files_of(found, choice, models, eyes)

    async def import_file(self, path: str) -> str:
        """Use a GGUF file where it lies; returns the model's name."""
        given = _existing(path)
        header = await asyncio.to_thread(self.headers.check, given)
        if header.is_projector:
            raise only_eyes(given)
        files = self.settings().model.files
        if str(given) not in files:
            await self._change("model.files", (*files, str(given)))
        self.on_change()
        return next(card.name for card in self.look() if card.path == str(given))

    async def delete(self, name: str) -> int:
        """Returns the bytes freed; a file that lies elsewhere is only taken off the list."""
        if any(card.hosts for card in self.cards.get() if card.name == name):
            raise BadRequest(
                f"'{name}' runs on another server: Moat can only remove it from its list.", "name"
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
        """Sets what holds for that model alone; with None it is as for all models again."""
        self.check_known(name)
        if field not in OWN_FIELDS:
            known = ", ".join(OWN_FIELDS)
            raise BadRequest(f"A model has no setting '{field}' of its own: {known}.", field)
        values = {**self.settings().model.own_of(name).model_dump(), field: value}
        try:
            own = OwnSettings.model_validate(values)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            raise BadRequest(f"{OWN_FIELDS[field].title}: {why}.", field) from None
        await self._keep_own(own)

    def check_known(self, name: str) -> None:
        """Raises NoModel where there is no model of that name here or elsewhere."""
        if all(engine.name != name for engine in self.settings().engines.elsewhere):
            self.library.find(name, "")

    async def _keep_own(self, own: OwnSettings) -> None:
        """One without values is forgotten."""
        known = self.settings().model.own
        others = tuple(one for one in known if one.name != own.name)
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
            fit=self._as_used(judge(header, _seeing(self._setup(card.name), card), machine), card),
        )

    async def estimate(self, name: str, setup: Setup) -> Fit:
        card = self.library.find(name, "")
        header = await asyncio.to_thread(self.headers.check, Path(card.path))
        setup = self._guessing(_seeing(setup, card))
        return self._as_used(judge(header, setup, await self.surveyor.look()), card)

    def _as_used(self, fit: Fit, card: ModelCard) -> Fit:
        """With the speed it had, where it was used."""
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
        """Keeps it for the hub in use; an empty one forgets it."""
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
            raise BadRequest("The hub has no newer file of this model.", "name")
        card, files = self.library.find(name, ""), found.files
        cache = await asyncio.to_thread(HubCache(self._models).folder_of, Path(card.path))
        if cache and card.projector:
            # There each version has a folder of its own: its projector has to come along.
            eyes = Path(card.projector).name
            files += tuple(file for file in found.repository.files if file.path.endswith(eyes))
        return self._fetching.start(found.repository, files, replaces=True, cache=cache)

    async def _compare(self, name: str) -> Found:
        card = self.library.find(name, "")
        return await compare(self._hub, card.name, Path(card.path), self._models)

    async def find_hub_login(self) -> str:
        place, _ = await asyncio.to_thread(self._hub.login, os.environ)
        return place if not await self._token(self._hub.host) else ""

    async def use_hub_login(self) -> None:
        """Keeps a copy with our secrets: what the other program does to its own is its business."""
        _, token = await asyncio.to_thread(self._hub.login, os.environ)
        if not token:
            raise BadRequest("No other program of this computer is signed in.", "token")
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
        return tuple(replace(one, recommended=one is best) for one in judged)

    async def _fits(
        self, found: Repository, models: tuple[HubFile, ...], machine: Machine
    ) -> list[Fit]:
        """One look at the smallest file's head tells the shape of all of them."""
        try:
            header = await read_head(self._hub, found, models[0])
        except (HubFailed, ModelDamaged) as error:
            return [Fit("unknown", str(error))] * len(models)
        return [judge(header, self._setup(), machine, one.size_bytes) for one in models]

    def _setup(self, name: str = "") -> Setup:
        """How that model would be loaded; without a name any other."""
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
        return self._guessing(setup)

    def _guessing(self, setup: Setup) -> Setup:
        """With what the draft model takes, where one is set."""
        return memory.beside(setup, memory.in_use(self.settings().model), self.headers)

    def _cache(self) -> str:
        """The folder of Hugging Face's cache, where downloads are to lie there."""
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


async def _release_nothing(_name: str) -> None:
    """No model is loaded where there is no core."""


async def _ignore(_machine: Machine) -> None:
    pass


def _token_name(host: str) -> str:
    """A token belongs to a host: another hub does not get the one of Hugging Face."""
    usual = urlsplit(usual_address()).netloc.lower()
    return TOKEN if host == usual else f"{TOKEN}-{host}"


def _existing(path: str) -> Path:
    try:
        given = Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        given = Path(path)
    if not os.path.isfile(given):  # noqa: PTH113 - pathlib's raises where it may not look
        raise BadRequest(f"There is no file {given.name}.", "path")
    return given


def _seeing(setup: Setup, card: ModelCard) -> Setup:
    """With what its projector takes."""
    return replace(setup, projector_bytes=size_of([card.projector]))
