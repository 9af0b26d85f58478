"""moat keys: manages named keys for people who may connect. A running Moat applies them at once."""

import argparse
import asyncio
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from server.commands import find_running, say_json
from server.core.configuration import SettingsStore
from server.core.keys import Keys
from server.face.core import KeyCard, KeyLimits
from server.system import paths

ONCE = "This key is shown once. Moat keeps only its hash.\n"
NOT_ASKED = (
    "No key is asked for on this computer, so its limits hold only for those who send it. "
    "The setting 'Require an access key' (MOAT_SERVER__REQUIRE_KEY=true) changes that.\n"
)


def add_to(commands: Any) -> None:
    group = commands.add_parser("keys", help="named keys for those who may connect")
    verbs = group.add_subparsers(required=True, metavar="VERB")
    add = verbs.add_parser("add", help="create a key; it is printed once")
    add.add_argument("name", help="whose it is, for example a person or a program")
    add.add_argument("--models", default="", help="only these, with commas between (default: all)")
    add.add_argument("--at-once", type=_count, default=0, help="concurrent requests")
    add.add_argument("--tokens-per-day", type=_count, default=0, help="of prompts and answers, UTC")
    add.add_argument("--figures", action="store_true", help="may read /metrics")
    add.set_defaults(run=lambda options: asyncio.run(_add(options)))
    listed = verbs.add_parser("list", help="show all keys and what they have used today")
    listed.add_argument("--json", action="store_true", help="for scripts")
    listed.set_defaults(run=lambda options: asyncio.run(_list(as_json=options.json)))
    revoke = verbs.add_parser("revoke", help="revoke a key; it stops working at once")
    revoke.add_argument("name")
    revoke.set_defaults(run=lambda options: asyncio.run(_revoke(options.name)))


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError("a limit is 0 (none) or more")
    return int(text)


async def _add(options: argparse.Namespace) -> int:
    models = tuple(model.strip() for model in options.models.split(",") if model.strip())
    limits = KeyLimits(models, options.at_once, options.tokens_per_day, options.figures)
    running = await find_running()
    if running is None:
        key = _stored().add(options.name, limits)
        server = SettingsStore(paths.find().settings).load().server
    else:
        key = await running.command("add_key", name=options.name, limits=asdict(limits))
        server = (await running.value("settings")).server
    sys.stdout.write(f"{key}\n")
    sys.stderr.write(ONCE)
    if not server.asks_for_key:
        sys.stderr.write(NOT_ASKED)
    return 0


async def _list(*, as_json: bool) -> int:
    running = await find_running()
    cards = _stored().cards.get() if running is None else await running.value("keys")
    if as_json:
        return say_json([asdict(card) for card in cards])
    if not cards:
        sys.stdout.write("There are no named keys. Create one with: moat keys add NAME\n")
    for card in cards:
        sys.stdout.write(f"{_describe(card)}\n")
    return 0


def _describe(card: KeyCard) -> str:
    limits = card.limits
    spent = f"{card.tokens_today} tokens today"
    if limits.tokens_per_day:
        spent = f"{card.tokens_today} of {limits.tokens_per_day} tokens today"
    made = datetime.fromtimestamp(card.created_at, UTC).date().isoformat()
    parts = [
        card.name,
        f"made {made}",
        spent,
        f"{limits.at_once} at a time" if limits.at_once else "",
        f"only {', '.join(limits.models)}" if limits.models else "",
        "reads metrics" if limits.figures else "",
    ]
    return "  ·  ".join(filter(None, parts))


async def _revoke(name: str) -> int:
    running = await find_running()
    if running is None:
        _stored().revoke(name)
    else:
        await running.command("revoke_key", name=name)
    sys.stdout.write(f"The key '{name}' is revoked.\n")
    return 0


def _stored() -> Keys:
    return Keys(paths.find().config)
