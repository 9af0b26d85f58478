"""moat graphics [get]: shows and downloads graphics support that this Moat lacks."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from functools import partial
from typing import Any

from server.commands import find_running, say, say_json
from server.commands.models import DownloadProgress, guarded, opened_door
from server.core.configuration import SettingsStore
from server.core.graphics import NOTHING, Graphics
from server.errors import BadRequest
from server.face.client import RunningServer
from server.face.models import Download, GraphicsOffer, Machine
from server.models.machine import Surveyor
from server.observe import Value
from server.sizes import MB
from server.system import backends, paths

NO_CARD = "No graphics card was found; the processor does the work."


def add_to(commands: Any) -> None:
    parser = commands.add_parser("graphics", help="fetch support for the graphics card")
    parser.add_argument("--json", action="store_true", help="the cards found, for scripts")
    parser.set_defaults(run=lambda options: asyncio.run(guarded(_show(options))))
    actions = parser.add_subparsers(metavar="ACTION")
    one = actions.add_parser("get", help="fetch it, or continue an unfinished download")
    one.set_defaults(run=lambda options: asyncio.run(guarded(_get(options))))


async def _show(options: argparse.Namespace) -> int:
    """Looks only at this computer and prints what it found."""
    async with _alone() as (support, machine):
        if options.json:
            devices = [asdict(device) for device in machine.devices]
            found = {"devices": devices, "note": machine.note, "offer": support.offer.get().kind}
            return say_json(found)
        for device in machine.devices:
            say(f"{device.name} ({device.backend}), {device.total_bytes / MB:,.0f} MB")
        offer = support.offer.get()
        if machine.note:
            say(machine.note)
        if offer.kind:
            say(f"'moat graphics get' fetches {offer.kind.upper()}.")
        else:
            say(NOTHING if machine.devices or machine.note else NO_CARD)
    return 0


async def _get(_options: argparse.Namespace) -> int:
    running = await find_running()
    final = await (_fetch_through(running) if running else _fetch_alone())
    if final.phase == "failed":
        raise BadRequest(final.reason)
    say(f"{final.name} is downloaded, verified and in place.")
    return 0


async def _fetch_through(running: RunningServer) -> Download:
    await running.command("models.survey_machine")
    progress = DownloadProgress(await running.command("graphics.fetch"), sys.stdout)
    return await progress.follow(running, "graphics.offer", partial(_show_download, progress))


async def _fetch_alone() -> Download:
    async with _alone() as (support, _machine):
        progress = DownloadProgress(await support.fetch(), sys.stdout)
        return await progress.watch(support.offer, partial(_show_download, progress))


def _show_download(progress: DownloadProgress, offer: GraphicsOffer) -> None:
    progress.show((offer.download,) if offer.download else ())


@asynccontextmanager
async def _alone() -> AsyncIterator[tuple[Graphics, Machine]]:
    places = paths.find()
    places.make()
    settings = Value(SettingsStore(places.settings).load())
    backends.point(settings.get().model.backends, places.data)
    async with opened_door(places, settings) as (door, _keychain):

        async def ignore(_kind: str) -> None:
            """Does nothing: the next start of Moat uses the support."""

        support = Graphics(door, settings.get, places.data, ignore)
        support.open(run=False)
        machine = await Surveyor().look(anew=True)
        await support.follow(machine)
        try:
            yield support, machine
        finally:
            await support.close()
