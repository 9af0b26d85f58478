"""The shelf: finding, fetching, importing, judging and deleting models; what the pages call."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from server.egress import Egress
from server.errors import BadRequest, HubFailed, ModelDamaged
from server.face import ModelCard
from server.keychain import Keychain
from server.models import catalogue, stores, templates
from server.models.download import Limits
from server.models.downloads import FOLDER, Downloads
from server.models.fit import judge
from server.models.gguf import shard_paths
from server.models.groups import group
from server.models.headers import Headers
from server.models.hub import Hub, Repository
from server.models.library import Library
from server.models.machine import Surveyor
from server.models.parse import peek
from server.settings import NetworkSettings, Settings
from server.stock import (
    Fit,
    FoundFolder,
    HubFile,
    HubListing,
    HubModel,
    Machine,
    ModelDetail,
    Setup,
    Suggestion,
)

TOKEN = "hub-token"
PEEK_BYTES = 512 * 1024
MB_PER_S = 1_000_000
ORDER = {"runs well": 0, "tight": 1, "unknown": 2, "does not fit": 3}
GOOD_ENOUGH = ("Q4_K_M", "UD-Q4_K_XL", "Q5_K_M", "Q6_K", "Q8_0", "MXFP4", "Q4_0")


class ModelShelf:
    """Everything in `server.stock.Shelf`."""

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
        self._settings = settings
        self._change = change
        self.on_change: Callable[[], None] = lambda: None
        self.hide: Callable[[str], None] = lambda _secret: None
        self.surveyor = Surveyor()
        self._hub = Hub(door[0], self._network, self._token)
        self._fetching = Downloads(
            self._hub, models, self._limit, self._changed, Limits(), unfinished
        )
        self.downloads = self._fetching.all

    def open(self, *, run: bool = True) -> None:
        """`run`: take up the downloads that were under way."""
        self._fetching.restore(run=run)

    def look(self) -> tuple[ModelCard, ...]:
        """The models that are here now, in our folder and in those the user added."""
        chosen = self._settings().model
        folders = [self._models, *map(Path, chosen.folders)]
        self.library.look_in(folders, map(Path, chosen.files))
        return self.library.scan()

    async def close(self) -> None:
        await self._fetching.close()

    async def search_models(self, text: str) -> list[HubModel]:
        return await self._hub.search(text.strip())

    async def list_repository(self, repo: str) -> HubListing:
        """The choices of a repository, each judged for this machine by its own header."""
        found = await self._hub.repository(repo)
        models, projectors = group(found.files)
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
            projectors,
            note,
        )

    async def download_model(self, repo: str, file: str) -> str:
        """By a file's name, or by a quantisation; an empty name takes the recommended one."""
        found = await self._hub.repository(repo)
        models, projectors = group(found.files)
        choice = next((one for one in (*models, *projectors) if one.name == file), None)
        if choice is None and not file:
            listed = await self._judge_all(found, models, await self.surveyor.look())
            choice = next((one for one in listed if one.recommended), None)
        if choice is None:
            choice = next((one for one in models if one.quantisation == file.upper()), None)
        if choice is None:
            names = ", ".join(one.quantisation or one.name for one in models) or "none"
            raise BadRequest(f"There is no such file in {repo}. There are: {names}.", "file")
        files = tuple(one for one in found.files if one.path in choice.parts)
        return self._fetching.start(found, files)

    async def pause_download(self, download_id: str) -> None:
        await self._fetching.pause(download_id)

    async def resume_download(self, download_id: str) -> None:
        await self._fetching.resume(download_id)

    async def cancel_download(self, download_id: str) -> None:
        await self._fetching.cancel(download_id)

    async def import_model(self, path: str) -> str:
        """Use a GGUF file where it lies; returns the model's name."""
        given = _existing(path)
        await asyncio.to_thread(self.headers.check, given)
        files = self._settings().model.files
        if str(given) not in files:
            await self._change("model.files", (*files, str(given)))
        self._changed()
        return next(card.name for card in self.look() if card.path == str(given))

    async def delete_model(self, name: str) -> int:
        """Returns the bytes freed; a file that lies elsewhere is only taken off the list."""
        card = self.library.find(name, "")
        path = Path(card.path)
        if card.starter:
            raise BadRequest("The starter model is part of the program.", "name")
        files = self._settings().model.files
        if card.path in files:
            await self._change("model.files", tuple(one for one in files if one != card.path))
            self._changed()
            return 0
        freed = await asyncio.to_thread(_delete, path, self._models)
        self._changed()
        return freed

    async def describe_model(self, name: str) -> ModelDetail:
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
            template_notes=await asyncio.to_thread(templates.notes, header),
            fit=judge(header, self._setup(), machine),
        )

    async def estimate_model(self, name: str, setup: Setup) -> Fit:
        card = self.library.find(name, "")
        header = await asyncio.to_thread(self.headers.check, Path(card.path))
        return judge(header, setup, await self.surveyor.look())

    async def suggest_models(self) -> list[Suggestion]:
        installed = {Path(card.path).name for card in self.look()}
        return catalogue.suggest(await self.surveyor.look(), self._setup(), installed)

    async def survey_machine(self) -> Machine:
        return await self.surveyor.look(anew=True)

    async def find_model_folders(self) -> list[FoundFolder]:
        used = frozenset(self._settings().model.folders)
        return await asyncio.to_thread(stores.find, Path.home(), os.environ, used)

    async def set_hub_token(self, token: str) -> None:
        """Kept in the keychain; an empty one forgets it."""
        if token.strip():
            self.hide(token.strip())
            await self._keychain.set(TOKEN, token.strip())
        else:
            await self._keychain.delete(TOKEN)

    async def _judge_all(
        self, found: Repository, models: tuple[HubFile, ...], machine: Machine
    ) -> tuple[HubFile, ...]:
        if not models:
            return ()
        fits = await self._fits(found, models, machine)
        have = {Path(card.path).name for card in self.look()}
        judged = [
            replace(one, fit=fit, installed=Path(one.name).name in have)
            for one, fit in zip(models, fits, strict=True)
        ]
        best = _recommended(judged)
        return tuple(replace(one, recommended=one is best) for one in judged)

    async def _fits(
        self, found: Repository, models: tuple[HubFile, ...], machine: Machine
    ) -> list[Fit]:
        """One look at the smallest file's head tells the shape of all of them."""
        try:
            data = await self._hub.beginning(
                found.repo, found.revision, models[0].parts[0], PEEK_BYTES
            )
            header = peek(data, models[0].size_bytes, models[0].name)
        except (HubFailed, ModelDamaged) as error:
            return [Fit("unknown", str(error))] * len(models)
        return [judge(header, self._setup(), machine, one.size_bytes) for one in models]

    def _setup(self) -> Setup:
        model = self._settings().model
        return Setup(
            model.context_tokens,
            model.slots,
            model.kv_type,
            model.gpu_layers,
            flash_attention={"auto": None, "on": True, "off": False}[model.flash_attention],
        )

    def _network(self) -> NetworkSettings:
        return self._settings().network

    async def _token(self) -> str | None:
        token = await self._keychain.get(TOKEN)
        if token:
            self.hide(token)
        return token

    def _limit(self) -> float:
        return self._network().download_limit_mb_s * MB_PER_S

    def _changed(self) -> None:
        self.on_change()


def _recommended(judged: list[HubFile]) -> HubFile | None:
    """The usual quantisation that runs well, else the best verdict; None if nothing fits."""
    able = [one for one in judged if one.fit.verdict != "does not fit"]
    if not able:
        return None
    best = min(ORDER[one.fit.verdict] for one in able)
    able = [one for one in able if ORDER[one.fit.verdict] == best]
    for wanted in GOOD_ENOUGH:
        for one in able:
            if one.quantisation == wanted:
                return one
    return able[len(able) // 2]


def _existing(path: str) -> Path:
    given = Path(path).expanduser().resolve()
    if not given.is_file():
        raise BadRequest(f"There is no file {given.name}.", "path")
    return given


def _delete(path: Path, models: Path) -> int:
    if not path.resolve().is_relative_to(models.resolve()):
        raise BadRequest("This model belongs to another program; delete it there.", "name")
    freed = 0
    try:
        parts = list(shard_paths(path))
    except ModelDamaged:
        parts = [path]
    for part in parts:
        freed += part.stat().st_size
        part.unlink()
    folder = path.parent
    while folder != models and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
    return freed
