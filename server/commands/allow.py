"""moat allow: which web pages may connect, from a terminal. A running Moat follows at once."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from server import control_client, paths
from server.control_client import RunningServer
from server.errors import AppError, BadRequest
from server.origins import ORIGIN_FORM, can_be_allowed
from server.settings_store import SettingsStore

FIELD = "server.origins"


def add_to(commands: Any) -> None:
    one = commands.add_parser("allow", help="let a web page connect, by its origin")
    one.add_argument("origin", nargs="*", help="for example https://pro.openbb.co")
    one.add_argument("--list", action="store_true", help="show the pages that may connect")
    one.add_argument("--remove", action="store_true", help="no longer let these pages connect")
    one.set_defaults(run=lambda options: asyncio.run(_allow(options)))


async def _allow(options: argparse.Namespace) -> int:
    if options.remove and not options.origin:
        raise BadRequest("Name the page that may no longer connect: moat allow --remove ORIGIN.")
    named = [_read_origin(text) for text in options.origin]
    running = await control_client.find(paths.find().control)
    before = await _origins(running)
    after = before
    if options.remove:
        if unknown := [origin for origin in named if origin not in before]:
            raise BadRequest(f"{unknown[0]} is not among the pages that may connect.")
        after = [origin for origin in before if origin not in named]
    elif named:
        after = [*before, *(origin for origin in dict.fromkeys(named) if origin not in before)]
    if after != before:
        await _save(running, after)
    if options.list or not options.origin:
        sys.stdout.writelines(f"{origin}\n" for origin in after)
        return 0
    now = "may no longer connect" if options.remove else "may connect"
    sys.stdout.writelines(f"{origin} {now}.\n" for origin in named)
    return 0


def _read_origin(text: str) -> str:
    origin = text.strip().removesuffix("/").lower()
    if can_be_allowed(origin):
        return origin
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:100])
    meant = _origin_in(origin)
    hint = f" Did you mean {meant}?" if meant else ""
    raise BadRequest(f"'{shown}' is not the origin of a page. {ORIGIN_FORM}{hint}")


def _origin_in(text: str) -> str:
    """The origin of a whole address, or of a host without its scheme; empty where there is none."""
    for address in (text, f"https://{text}"):
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        origin = f"{parts.scheme}://{parts.netloc}"
        if "." in parts.netloc + parts.path and can_be_allowed(origin):
            return origin
    return ""


async def _origins(running: RunningServer | None) -> list[str]:
    if running is not None:
        return list((await running.value("settings")).server.origins)
    return list(_store().load().server.origins)


async def _save(running: RunningServer | None, origins: Sequence[str]) -> None:
    if running is not None:
        await running.command("change_setting", field=FIELD, value=list(origins))
        return
    store = _store()
    try:
        store.save(store.load().changed(FIELD, tuple(origins)))
    except OSError as error:
        raise AppError(f"The settings could not be saved: {error.strerror}.") from error


def _store() -> SettingsStore:
    return SettingsStore(paths.find().settings)
