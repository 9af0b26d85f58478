"""Plugins in a terminal: list, check, install, enable, disable, run."""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from server import control_client, paths
from server.abilities import Approval, PluginCard
from server.control_client import RunningServer
from server.core import Core
from server.errors import AppError
from server.plugins.folder import load
from server.texts import printable


class Desk(Protocol):
    """Where plugins are looked after: in the Moat that runs, or else in this process."""

    async def cards(self) -> tuple[PluginCard, ...]: ...
    async def command(self, name: str, /, **arguments: str) -> Any: ...


class Running:
    """Its plugins change at once, and nothing is done twice beside it."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self.command = server.command

    async def cards(self) -> tuple[PluginCard, ...]:
        await self._server.command("look_at_plugins")
        found: tuple[PluginCard, ...] = await self._server.value("plugins")
        return found


class Alone:
    def __init__(self, core: Core) -> None:
        self._core = core

    async def cards(self) -> tuple[PluginCard, ...]:
        return self._core.plugins.get()

    async def command(self, name: str, /, **arguments: str) -> Any:
        return await getattr(self._core, name)(**arguments)


Work = Callable[[Desk, argparse.Namespace], Awaitable[int]]


def add_to(commands: Any) -> None:
    parser = commands.add_parser("plugins", help="what Moat can reach and do")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    one = actions.add_parser("list", help="the plugins on this machine")
    one.set_defaults(run=_at_desk(_list))
    one = actions.add_parser("check", help="read a plugin's folder and list every finding")
    one.add_argument("folder", nargs="+", type=Path)
    one.set_defaults(run=_check)
    one = actions.add_parser("install", help="from a zip file or a folder; it starts disabled")
    one.add_argument("path")
    one.set_defaults(run=_at_desk(_install))
    for name, told in (("enable", "let it work"), ("disable", "keep it, but let it do nothing")):
        one = actions.add_parser(name, help=told)
        one.add_argument("key")
        one.set_defaults(run=_at_desk(_enable if name == "enable" else _disable))
    one = actions.add_parser("run", help="run a flow with a question")
    one.add_argument("flow", help="PLUGIN/FLOW")
    one.add_argument("question")
    one.add_argument("--dry", action="store_true", help="show the first request, send nothing")
    one.add_argument("--mock", action="store_true", help="go on with made-up answers")
    one.add_argument("--yes", action="store_true", help="allow every call without asking")
    one.set_defaults(run=_run)


def _check(options: argparse.Namespace) -> int:
    worst = 0
    for folder in options.folder:
        loaded = load(folder.resolve())
        operations = len(loaded.api.operations) if loaded.api else 0
        _say(f"{loaded.key}: {loaded.state}, {operations} operations, {len(loaded.flows)} flows")
        for finding in loaded.findings:
            _say(f"  {finding}")
        worst = max(worst, any(finding.level == "error" for finding in loaded.findings))
    return int(worst)


def _at_desk(work: Work) -> Callable[[argparse.Namespace], int]:
    async def run(options: argparse.Namespace) -> int:
        running = await control_client.find(paths.find().control)
        if running is not None:
            return await work(Running(running), options)
        async with _own_core() as core:
            return await work(Alone(core), options)

    return lambda options: asyncio.run(_told(run(options)))


@asynccontextmanager
async def _own_core() -> AsyncIterator[Core]:
    """Without the downloads: another Moat may be at work on them, or about to be."""
    core = Core(paths.find())
    await core.open(downloads=False)
    try:
        yield core
    finally:
        await core.close()


async def _told(work: Awaitable[int]) -> int:
    try:
        return await work
    except AppError as error:
        sys.stderr.write(f"{error}\n")
        return 1


async def _list(desk: Desk, _options: argparse.Namespace) -> int:
    cards = await desk.cards()
    width = max((len(card.key) for card in cards), default=0)
    for card in cards:
        switched = "enabled" if card.enabled else "disabled"
        _say(f"{card.key:<{width}}  {switched:<8}  {card.state:<13}  {card.name} {card.version}")
    return 0


async def _install(desk: Desk, options: argparse.Namespace) -> int:
    # Whole: the Moat that runs stands in another folder.
    path = await asyncio.to_thread(lambda: Path(options.path).expanduser().resolve())
    key = await desk.command("install_plugin", path=str(path))
    card = await _card(desk, key)
    _say(f"{key} {card.version} is installed, disabled. {_may(card)}")
    for finding in card.findings:
        _say(f"  {finding}")
    _say(f"'moat plugins enable {key}' lets it work.")
    return 0


async def _enable(desk: Desk, options: argparse.Namespace) -> int:
    await desk.command("enable_plugin", key=options.key)
    _say(f"{options.key} is enabled. {_may(await _card(desk, options.key))}")
    return 0


async def _disable(desk: Desk, options: argparse.Namespace) -> int:
    await desk.command("disable_plugin", key=options.key)
    _say(f"{options.key} is disabled.")
    return 0


def _run(options: argparse.Namespace) -> int:
    """Here, so that its questions are asked in this terminal."""

    async def run() -> int:
        async with _own_core() as core:
            return await _try(core, options)

    return asyncio.run(_told(run()))


async def _try(core: Core, options: argparse.Namespace) -> int:
    key, _, flow = options.flow.partition("/")
    mode = "dry" if options.dry else "mock" if options.mock else "run"
    asked: set[str] = set()

    def answer(waiting: tuple[Approval, ...]) -> None:
        for one in waiting:
            if one.id not in asked:
                asked.add(one.id)
                decision = "once" if options.yes or _allows(one) else "deny"
                core.house.answer_approval(one.id, decision, "")

    disconnect = core.approvals.connect(answer)
    try:
        told = await core.test_plugin(key, flow, options.question, mode)
    finally:
        disconnect()
    for line in (*told.requests, *told.steps):
        sys.stderr.write(f"{line}\n")
    _say(told.text)
    return int(told.failed and mode == "run")


def _allows(approval: Approval) -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write(f"\n{approval.title}\n{approval.body}\nAllow this ({approval.risk})? [y/N] ")
    return input().strip().lower() in ("y", "yes")


async def _card(desk: Desk, key: str) -> PluginCard:
    return next(card for card in await desk.cards() if card.key == key)


def _may(card: PluginCard) -> str:
    parts = [f"connect to {host}" for host in card.hosts]
    parts += [f"start '{command}'" for command in card.commands]
    if card.runs_code:
        parts.append("run program code with your rights")
    return f"It may {', '.join(parts)}." if parts else "It reaches nothing outside."


def _say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
