"""The server role: headless on purpose, or as the window's child."""

import argparse
import asyncio
import json
import os
import secrets
import signal
import sys
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from server.commands.announce import Announcer
from server.core.core import Core
from server.errors import AppError
from server.system import large_blocks, paths
from server.system.files import write_atomically
from server.system.lifeline import parent_gone
from server.system.limits import printable
from server.tasks import spawn, stop
from server.web.control import create_control
from server.web.guard import Gate, Guard
from server.web.listener import Listener, Listening

SWITCH_S = 0.0005
"""How long a thread that reads a large body may keep the one that serves all the others waiting."""
LAST_WORDS_S = 1.0
"""How long running answers may go on once the window is gone; everything ends within 3 s."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    port: int | None = None
    model: str | None = None
    is_child: bool = False


def add_to(commands: Any) -> None:
    one = commands.add_parser("serve", help="serve on localhost without a window")
    one.add_argument("--port", type=_port, help="listen here (default: the setting, 7777)")
    one.add_argument("--model", help="a model's name, or the path of a GGUF file")
    one.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    one.set_defaults(run=_run)


def _port(text: str) -> int:
    port = int(text)
    if not (port == 0 or 1024 <= port <= 65535):
        raise argparse.ArgumentTypeError("a port is 1024 to 65535, or 0 for any free one")
    return port


def _run(options: argparse.Namespace) -> int:
    large_blocks.give_back()
    sys.setswitchinterval(SWITCH_S)
    chosen = ServeOptions(options.port, options.model, is_child=options.child)
    return asyncio.run(serve(chosen))


def _end(ending: "asyncio.Future[str]", _why: str) -> None:
    if not ending.done():
        ending.set_result("asked")


async def serve(options: ServeOptions) -> int:
    secret = sys.stdin.readline().strip() if options.is_child else secrets.token_urlsafe(32)
    places = paths.find()
    async with AsyncExitStack() as cleanup:
        core = Core(places)
        await core.open()
        cleanup.push_async_callback(core.close)
        ending = _watch_for_the_end(cleanup, is_child=options.is_child)
        if not options.is_child:
            core.asked_to_quit.connect(partial(_end, ending))
        control = await _open_control(core, secret, cleanup)
        if options.is_child:
            _say(json.dumps({"control": control}))
        else:
            Announcer(_say).watch(core)
        _publish_control(places.control, control, secret, cleanup)
        beginning = spawn(_begin(core, options), "begin")
        cleanup.push_async_callback(stop, beginning)
        both: set[asyncio.Future[Any]] = {beginning, ending}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if beginning.done() and (code := beginning.result()):
            return code
        if await ending == "parent gone":
            await core.drain(LAST_WORDS_S)
    return 0


async def _begin(core: Core, options: ServeOptions) -> int:
    """Serves, then loads the model; returns the exit code when it cannot."""
    try:
        if options.model:
            core.choose_model(options.model)
    except AppError as error:
        _complain(str(error))
        return 2
    if options.is_child and not core.settings.get().server.start_serving:
        return 0
    await core.start_on(options.port)
    return 1 if core.server.get().phase == "failed" and not options.is_child else 0


def _watch_for_the_end(cleanup: AsyncExitStack, *, is_child: bool) -> "asyncio.Future[str]":
    loop = asyncio.get_running_loop()
    ending: asyncio.Future[str] = loop.create_future()

    def end(why: str) -> None:
        if not ending.done():
            ending.set_result(why)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, end, "asked")
    if is_child:

        async def watch() -> None:
            await parent_gone(sys.stdin)
            end("parent gone")

        cleanup.push_async_callback(stop, spawn(watch(), "lifeline"))
    return ending


async def _open_control(core: Core, secret: str, cleanup: AsyncExitStack) -> str:
    listening = Listening(0, frozenset())
    guard = Guard(lambda: Gate(listening.hosts, key=secret), lambda _origin, _method: None)
    listener = Listener(create_control(core, guard))
    listening = await listener.open(0)
    cleanup.push_async_callback(listener.close)
    return f"http://127.0.0.1:{listening.port}"


def _publish_control(path: Path, address: str, secret: str, cleanup: AsyncExitStack) -> None:
    """Lets `moat` in a terminal of the same user reach this server."""
    entry = {"address": address, "secret": secret, "pid": os.getpid()}
    with suppress(OSError):  # a full disk must not keep the server from starting
        write_atomically(path, json.dumps(entry))
        cleanup.callback(_unpublish, path)


def _unpublish(path: Path) -> None:
    with suppress(OSError, ValueError, LookupError):
        if json.loads(path.read_text("utf-8"))["pid"] == os.getpid():
            path.unlink()


def _say(text: str) -> None:
    sys.stdout.write(printable(text) + "\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    sys.stderr.write(text + "\n")
