"""moat allow: which web pages may connect, and which hosts files may be fetched from.

A running Moat applies changes at once.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from pydantic_core import PydanticCustomError

from server.commands import find_running, say_json
from server.core.configuration import SettingsStore
from server.errors import AppError, BadRequest
from server.face.client import RunningServer
from server.settings import HOST_FORM, ORIGIN_FORM, can_be_allowed, checked_file_host
from server.system import paths
from server.system.limits import printable

PAGES = "server.origins"
HOSTS = "network.file_hosts"


def add_to(commands: Any) -> None:
    one = commands.add_parser("allow", help="let a web page connect, by its origin")
    one.add_argument("origin", nargs="*", help="for example https://pro.openbb.co")
    one.add_argument("--list", action="store_true", help="show what is allowed")
    one.add_argument(
        "--files", action="store_true", help="hosts that files may be fetched from, not pages"
    )
    one.add_argument("--remove", action="store_true", help="no longer allow it")
    one.add_argument("--json", action="store_true", help="all that is allowed then, for scripts")
    one.set_defaults(run=lambda options: asyncio.run(_allow(options)))


async def _allow(options: argparse.Namespace) -> int:
    if options.remove and not options.origin:
        raise BadRequest("Name what is no longer allowed: moat allow --remove ORIGIN.")
    field = HOSTS if options.files else PAGES
    read = _read_host if options.files else _read_origin
    named = [read(text) for text in options.origin]
    running = await find_running()
    before = await _allowed(running, field)
    after = before
    if options.remove:
        if unknown := [origin for origin in named if origin not in before]:
            raise BadRequest(f"{unknown[0]} is not among what is allowed.")
        after = [origin for origin in before if origin not in named]
    elif named:
        after = [*before, *(origin for origin in dict.fromkeys(named) if origin not in before)]
    if after != before:
        await _save(running, field, after)
    if options.json:
        return say_json(after)
    if options.list or not options.origin:
        sys.stdout.writelines(f"{origin}\n" for origin in after)
        return 0
    now = "no longer" if options.remove else ""
    what = "be asked for files" if options.files else "connect"
    words = " ".join(filter(None, ("may", now, what)))
    sys.stdout.writelines(f"{origin} {words}.\n" for origin in named)
    return 0


def _read_origin(text: str) -> str:
    origin = text.strip().removesuffix("/").lower()
    if can_be_allowed(origin):
        return origin
    shown = "".join(letter if letter.isprintable() else "?" for letter in text[:100])
    meant = _origin_in(origin)
    hint = f" Did you mean {meant}?" if meant else ""
    raise BadRequest(f"'{shown}' is not the origin of a page. {ORIGIN_FORM}{hint}")


def _read_host(text: str) -> str:
    try:
        return checked_file_host(text)
    except PydanticCustomError:
        shown = printable(text)[:100]
        raise BadRequest(f"'{shown}' is not a host. {HOST_FORM}") from None


def _origin_in(text: str) -> str:
    """Returns the origin of an address, or of a host without a scheme; "" if it has none."""
    for address in (text, f"https://{text}"):
        try:
            parts = urlsplit(address)
        except ValueError:
            continue
        origin = f"{parts.scheme}://{parts.netloc}"
        if "." in parts.netloc + parts.path and can_be_allowed(origin):
            return origin
    return ""


async def _allowed(running: RunningServer | None, field: str) -> list[str]:
    settings = _store().load() if running is None else await running.value("settings")
    return list(settings.network.file_hosts if field == HOSTS else settings.server.origins)


async def _save(running: RunningServer | None, field: str, origins: Sequence[str]) -> None:
    if running is not None:
        await running.command("change_setting", field=field, value=list(origins))
        return
    store = _store()
    try:
        store.save(store.load().changed(field, tuple(origins)))
    except OSError as error:
        raise AppError(f"The settings could not be saved: {error.strerror}.") from error


def _store() -> SettingsStore:
    return SettingsStore(paths.find().settings)
