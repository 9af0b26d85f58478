"""Support for graphics cards that a package lacks: offers, downloads, unpacks or compiles it.

No server is contacted before a person asks for it or has turned on the check for updates.
"""

import asyncio
import json
import logging
import lzma
import os
import re
import shutil
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from server.core.updates import UpdateFailed, fetch, find_source, read_signed
from server.egress import Egress
from server.errors import AppError, BadRequest, HubFailed, HubRefused
from server.face.models import Building, Device, Download, GraphicsOffer, Machine
from server.models import names
from server.models.downloads.download import TransferLimits
from server.models.downloads.journal import disk_trouble
from server.models.downloads.queue import AlreadyHere, Downloads
from server.models.hub import AGENT, STALL_S, Part, RemoteFile, Repository, part_of
from server.models.machine import find_nvidia
from server.observe import Value
from server.sentences import Sentence
from server.settings import Settings
from server.sizes import MB
from server.system import backends, hardware
from server.system.lazy import Late
from server.tasks import spawn, stop

tarfile = Late("tarfile")

log = logging.getLogger(__name__)
VARIABLE = "MOAT_GRAPHICS"
"""`make run` sets it to auto. cuda or vulkan force that kind; off disables compiling."""
AUTO, OFF = "auto", "off"
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "scripts.bootstrap.graphics"
PATIENCE_S = 30.0
"""Seconds that the compilers may take to stop."""


class Build:
    """The compilation of graphics support in a child process, if Moat runs from its sources.

    `say` shows a message. `on_ready` is called with the kind when a new library is in place.
    """

    def __init__(
        self,
        offer: Value[GraphicsOffer],
        say: Callable[[str], None],
        on_ready: Callable[[str], Awaitable[None]],
    ) -> None:
        self._offer = offer
        self._say = say
        self._on_ready = on_ready
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Starts compiling, once per start and only if something is missing."""
        wanted = find_wanted(os.environ.get(VARIABLE, OFF))
        if wanted and self._task is None:
            self._task = spawn(self._run(wanted), "compile support for graphics cards")

    async def close(self) -> None:
        """Stops the build and all of its compilers."""
        await stop(self._task)

    async def _run(self, wanted: str) -> None:
        into = backends.folder()
        assert into is not None
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", PROGRAM, wanted, str(into)), cwd=ROOT, stdin=PIPE, stdout=PIPE
        )
        assert child.stdout
        ready = ""
        try:
            async for line in child.stdout:
                ready = self._take(json.loads(line)) or ready
        finally:
            self._offer.set(replace(self._offer.get(), building=None))
            await _end(child)
        if ready:
            await self._on_ready(ready)

    def _take(self, facts: dict[str, Any]) -> str:
        """Shows a line of the program's output. Returns the kind if it is ready, else ""."""
        if notice := facts.get("notice"):
            log.warning("%s", notice)
            self._say(notice)
        if "percent" in facts:
            building = Building(facts["kind"], facts["percent"])
            if self._offer.get().building is None:
                log.info("Support for %s is being compiled", building.kind)
            self._offer.set(replace(self._offer.get(), building=building))
        return str(facts.get("ready", ""))


async def _end(child: asyncio.subprocess.Process) -> None:
    """Ends the child by closing its standard input; kills it after `PATIENCE_S`."""
    assert child.stdin
    child.stdin.close()
    try:
        async with asyncio.timeout(PATIENCE_S):
            await child.wait()
    except TimeoutError:
        child.kill()
        await child.wait()


def find_wanted(chosen: str) -> str:
    """Returns what to compile: auto, cuda or vulkan; empty if there is nothing to do."""
    if chosen not in (AUTO, *backends.KINDS) or not (ROOT / "scripts" / "bootstrap").is_dir():
        return ""
    if chosen != AUTO:
        return "" if backends.is_present(chosen) else chosen
    has_support = any(map(backends.is_present, backends.KINDS))
    return AUTO if backends.has_card() and not has_support else ""


CUDA = "cuda"
REASON = Sentence("fetching support for graphics cards")
LIST_REASON = Sentence("looking for support for graphics cards")
"""Separate, so that reading the list does not withdraw the permission of a running download."""
PREFIX = b"moat-graphics-1\n"
FOLDER = "releases"
OWNER = "moat"
ENDING = ".tar.xz"
NOTHING = Sentence("No support for graphics cards is missing on this computer.")


class GraphicsFile(BaseModel):
    """An archive with the library for one kind of card, one system and one processor."""

    model_config = ConfigDict(extra="ignore")

    kind: str = Field(pattern=r"^[a-z]{2,20}$")
    system: str
    machine: str
    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,150}\.tar\.xz$")
    size_bytes: int = Field(ge=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    times_vulkan: float = Field(default=0.0, ge=0)
    measured_on: str = Field(default="", max_length=200)


class GraphicsList(BaseModel):
    """All archives that were published for one version of the engine."""

    model_config = ConfigDict(extra="ignore")

    engine: str
    files: tuple[GraphicsFile, ...] = ()


def list_name(engine: str) -> str:
    return f"graphics-{engine}.json"


class Releases:
    """The host of the release files, as a `FileHost` for the download queue."""

    def __init__(self, door: Egress, settings: Callable[[], Settings]) -> None:
        self._door = door
        self._settings = settings

    async def read(self) -> GraphicsList:
        """Returns the signed list for this engine. Raises UpdateFailed."""
        engine, key = backends.engine_version(), find_source(self._settings().updates).key
        body = await fetch(self._door, f"{self._address()}/{list_name(engine)}", LIST_REASON)
        found = read_signed(body, key, PREFIX, GraphicsList)
        if found.engine != engine:
            raise UpdateFailed(
                Sentence("The list is for engine {0}; this one is {1}.", found.engine, engine)
            )
        return found

    async def repository(self, repo: str, revision: str) -> Repository:
        files = tuple(to_remote(file) for file in (await self.read()).files)
        return Repository(repo, revision, "", gated=False, files=files)

    @asynccontextmanager
    async def part(
        self, _repo: str, _revision: str, path: str, span: tuple[int, int]
    ) -> AsyncIterator[Part]:
        url = f"{self._address()}/{quote(path)}"
        storage = (urlsplit(url).hostname or "", *self._settings().network.hub_storage)
        self._door.allow(url, REASON, storage)
        headers = {
            "Range": f"bytes={span[0]}-{span[1] - 1}",
            "Accept-Encoding": "identity",
            "User-Agent": AGENT,
        }
        try:
            async with self._door.request(
                "GET", url, REASON, headers=headers, stall_s=STALL_S
            ) as reply:
                if 400 <= reply.status < 500 and reply.status not in (408, 429):
                    raise HubRefused(
                        Sentence("{0} refuses the file: {1}.", urlsplit(url).hostname, reply.status)
                    )
                if reply.status >= 300:
                    raise HubFailed(
                        Sentence("{0} fails: {1}.", urlsplit(url).hostname, reply.status)
                    )
                yield part_of(reply, span)
        except self._door.failures as error:
            raise HubFailed(
                Sentence(
                    "The connection to {0} broke. Check it and try again.", urlsplit(url).hostname
                )
            ) from error

    def _address(self) -> str:
        chosen = self._settings().updates
        address = chosen.files or find_source(chosen).address.rpartition("/")[0]
        if not address.startswith("https://"):
            raise UpdateFailed(Sentence("The address of release files must begin with https://."))
        return address.rstrip("/")


class Graphics:
    """Offers, downloads and unpacks support. `on_ready` is called when a library is in place."""

    def __init__(
        self,
        door: Egress,
        settings: Callable[[], Settings],
        data: Path,
        on_ready: Callable[[str], Awaitable[None]],
        limits: TransferLimits | None = None,
    ) -> None:
        self.offer: Value[GraphicsOffer] = Value(GraphicsOffer())
        self._settings = settings
        self._folder = data / FOLDER
        self._on_ready = on_ready
        self._releases = Releases(door, settings)
        self._file: GraphicsFile | None = None
        self.build: Build | None = None
        """Set in a server, which may compile what is missing."""
        self._trouble = ""
        self._placing: asyncio.Task[None] | None = None
        self._fetching = Downloads(
            self._releases, self._folder, self._limit, self._begin_placing, limits
        )
        self._fetching.all.connect(self._show)
        self.pause_download = self._fetching.pause

    def open(self, *, run: bool = True) -> None:
        """Resumes what was under way when Moat last ended."""
        self._fetching.restore(run=run)
        if run and self._archives():
            self._begin_placing()

    async def close(self) -> None:
        await self._fetching.close()
        await stop(self._placing)
        await self.stop_building()

    async def follow(self, machine: Machine) -> None:
        """Offers the support that this machine's cards could use and that is missing."""
        cards = [] if backends.is_present(CUDA) else list(await find_nvidia())
        self._offer(cards, uses_vulkan=machine.engine_uses_gpu)
        if cards and self._file is None and self._settings().updates.look:
            try:
                await self.check()
            except AppError as failure:
                log.warning("%s", failure)

    async def check(self) -> None:
        await self._look_up()

    async def _look_up(self) -> GraphicsFile:
        """Finds the offered archive in the signed list and stores it in the offer."""
        offer = self.offer.get()
        if not offer.kind:
            raise BadRequest(NOTHING)
        wanted = (offer.kind, sys.platform, hardware.read().architecture)
        found = next(
            (
                file
                for file in (await self._releases.read()).files
                if (file.kind, file.system, file.machine) == wanted
            ),
            None,
        )
        if found is None:
            raise UpdateFailed(
                Sentence(
                    "No support for {0} is published for this system and engine {1}.",
                    offer.kind,
                    backends.engine_version(),
                )
            )
        self._file = found
        self.offer.set(
            replace(
                self.offer.get(),
                size_bytes=found.size_bytes,
                times_vulkan=found.times_vulkan,
                measured_on=found.measured_on,
            )
        )
        return found

    async def fetch(self) -> str:
        file = await self._look_up()
        engine = backends.engine_version()
        place = Repository(f"{OWNER}/{file.kind}-{engine}", engine, "", gated=False, files=())
        self._trouble = ""
        try:
            return self._fetching.start(place, (to_remote(file),))
        except AlreadyHere:
            # It was downloaded before and could not be unpacked, perhaps because the disk was full.
            self._begin_placing()
            return self._fetching.all.get()[-1].id if self._fetching.all.get() else ""

    def begin_building(self) -> None:
        if self.build is not None:
            self.build.begin()

    async def stop_building(self) -> None:
        if self.build is not None:
            await self.build.close()

    async def resume_download(self, download_id: str) -> None:
        if self._trouble:
            await self.fetch()
        else:
            await self._fetching.resume(download_id)

    async def cancel_download(self, download_id: str) -> None:
        await stop(self._placing)
        self._trouble = ""
        await self._fetching.cancel(download_id)

    def _offer(self, cards: list[Device], *, uses_vulkan: bool) -> None:
        now = self.offer.get()
        if not cards:
            self._file = None
            self.offer.set(GraphicsOffer(download=now.download, building=now.building))
        else:
            card = cards[0].name
            self.offer.set(replace(now, kind=CUDA, card=card, uses_vulkan=uses_vulkan))

    def _limit(self) -> float:
        return self._settings().network.download_limit_mb_s * MB

    def _show(self, downloads: tuple[Download, ...]) -> None:
        current = downloads[-1] if downloads else None
        if current is not None and current.phase == "done":
            if self._trouble:
                current = replace(current, phase="failed", reason=self._trouble)
            elif self._archives():
                current = replace(current, phase="verifying")
        self.offer.set(replace(self.offer.get(), download=current))

    def _archives(self) -> list[Path]:
        return sorted(self._folder.glob(f"{OWNER}/*/*{ENDING}"))

    def _begin_placing(self) -> None:
        if self._placing is None or self._placing.done():
            self._placing = spawn(self._place(), "unpack support for graphics cards")

    async def _place(self) -> None:
        for archive in self._archives():
            into = backends.folder()
            assert into is not None
            try:
                await asyncio.to_thread(unpack, archive, into)
            except AppError as error:
                log.warning("%s", error)
                self._trouble = str(error)
            else:
                self._trouble = ""
                kind = archive.parent.name.partition("-")[0]
                log.info("Support for graphics cards (%s) is in place", kind)
                self._show(self._fetching.all.get())
                await self._on_ready(kind)
            self._show(self._fetching.all.get())


def to_remote(file: GraphicsFile) -> RemoteFile:
    return RemoteFile(file.name, file.size_bytes, file.sha256)


def unpack(archive: Path, into: Path) -> None:
    """Unpacks the archive into its own folder, which replaces those of older engines.

    Raises BadRequest if the archive is damaged, DiskFailed if it cannot be written.
    """
    name = archive.parent.name
    kind, _, engine = name.partition("-")
    draft = into / f".{name}"
    with disk_trouble():
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        try:
            _extract(archive, draft)
            library = backends.found(draft).get(kind)
            if library is None or backends.made_for(library) != engine:
                archive.unlink()
                raise BadRequest(
                    Sentence(
                        "{0} holds no library for {1} and engine {2}.", archive.name, kind, engine
                    )
                )
            older = re.compile(rf"{kind}-\d+(\.\d+)+")
            for folder in [path for path in into.iterdir() if older.fullmatch(path.name)]:
                shutil.rmtree(folder, ignore_errors=True)
            draft.rename(into / name)
            archive.unlink()
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _extract(archive: Path, into: Path) -> None:
    """Writes the plain files of the archive, without its folders."""
    try:
        with tarfile.open(archive, "r:xz") as packed:
            for member in packed:
                content = packed.extractfile(member) if member.isfile() else None
                if content is not None:
                    plain = names.file(Path(member.name).name)
                    with (into / plain).open("wb") as file:
                        shutil.copyfileobj(content, file, 1 << 20)
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        archive.unlink()
        raise BadRequest(
            Sentence("{0} is damaged and was deleted. Download it again.", archive.name)
        ) from error
