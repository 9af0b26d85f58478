"""moat serve: runs the server, on its own or as the child process of the window."""

import argparse
import asyncio
import json
import logging
import os
import secrets
import signal
import sys
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server import egress
from server.commands import say
from server.core.core import Core
from server.errors import AppError
from server.face.core import Face, Knock, ModelStatus, ServerStatus, find_away
from server.face.plugins import Approval
from server.settings import can_be_allowed
from server.system import hardware, paths
from server.system.files import write_atomically
from server.system.processes import parent_gone
from server.tasks import spawn, stop
from server.web.app import create_control
from server.web.guard import Gate, Guard
from server.web.listener import Listener, Listening

log = logging.getLogger(__name__)

LOG_FORMAT = "MOAT_SERVER__LOG_FORMAT"
MOST_PAGES = 5
PAGES_S = 60.0
"""The most pages announced in so many seconds, because a program could invent any number."""


class Announcer:
    """A printer of the state of a server without a window. It prints every text only once."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()
        self._pages: deque[float] = deque(maxlen=MOST_PAGES)

    def watch(self, core: Face) -> None:
        core.server.connect(self._show_server)
        core.model.connect(self._show_model)
        core.notices.connect(self._show_notices)
        core.knocks.connect(self._show_knocks)
        core.plugins.approvals.connect(self._show_approvals)

    def _once(self, text: str) -> None:
        if text and text not in self._said:
            self._said.add(text)
            self._say(text)

    def _show_server(self, status: ServerStatus) -> None:
        self._once(status.port_note)
        if status.phase == "ready":
            self._once(f"Moat serves on {status.address}  (stop with Ctrl-C)")
            if status.secure_address:
                trust = f"  (trust it once: {status.trust})" if status.trust else ""
                self._once(f"HTTPS: {status.secure_address}{trust}")
            if status.network_address:
                self._once(f"Other machines connect to {status.network_address}")
        elif status.phase == "failed":
            self._once(status.reason)

    def _show_model(self, status: ModelStatus) -> None:
        if status.phase == "loading":
            self._once(f"Loading {status.name} …")
            self._once(status.reason)
        elif status.phase == "ready":
            self._once(f"Ready: {status.name}, {status.context_tokens} tokens of context")
            if away := find_away(status.hosts):
                self._once(f"Prompts are sent to {', '.join(away)}.")
        elif status.phase == "failed":
            self._once(status.reason)

    def _show_approvals(self, waiting: tuple[Approval, ...]) -> None:
        for call in waiting:
            by = f" for {call.client}" if call.client else ""
            command = f"moat plugins answer {call.id[:6]} once|always|deny"
            self._once(f"{call.plugin} asks{by}: {call.title}  ({command})")

    def _show_notices(self, notices: tuple[str, ...]) -> None:
        for notice in notices:
            self._once(notice)

    def _show_knocks(self, knocks: tuple[Knock, ...]) -> None:
        """Announces origins that can be allowed: they contain nothing that controls a terminal."""
        for knock in knocks:
            if knock.outcome == "origin" and can_be_allowed(knock.origin):
                self._show_page(knock)

    def _show_page(self, knock: Knock) -> None:
        page = knock.origin
        text = f"A page at {page} wants to connect. Allow it with: moat allow {page}"
        if text in self._said:
            return
        is_rush = len(self._pages) == MOST_PAGES and knock.at - self._pages[0] < PAGES_S
        if not is_rush:
            self._pages.append(knock.at)
            self._once(text)


ENGINES = "MOAT_ENGINES"
"""The variable that lists engines elsewhere in the form of `--engine`, separated by spaces."""
SWITCH_S = 0.0005
"""Seconds after which a thread that parses a large body must let the serving thread run."""
LAST_WORDS_S = 1.0
"""Seconds for running answers once the window is gone. Everything must end within 3 s."""


@dataclass(frozen=True, slots=True)
class ServeOptions:
    port: int | None = None
    model: str | None = None
    engines: tuple[str, ...] = ()
    is_child: bool = False


def add_to(commands: Any) -> None:
    one = commands.add_parser("serve", help="serve on localhost without a window")
    one.add_argument("--port", type=_port, help="listen here (default: the setting, 7777)")
    one.add_argument("--model", help="a model's name, or the path of a GGUF file")
    one.add_argument(
        "--engine",
        action="append",
        metavar="[NAME=]URL[,URL…][#MODEL]",
        help="a server elsewhere that runs the model (default: MOAT_ENGINES); may be repeated",
    )
    one.add_argument(
        "--log-json",
        action="store_true",
        help="print the log, as JSON, an object in each line (default: the setting, text)",
    )
    one.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    one.set_defaults(run=_run)


def _port(text: str) -> int:
    port = int(text) if text.isdecimal() else -1
    if not (port == 0 or 1024 <= port <= 65535):
        raise argparse.ArgumentTypeError("a port is 1024 to 65535, or 0 for any free one")
    return port


def _run(options: argparse.Namespace) -> int:
    hardware.give_back()
    egress.seal()
    sys.setswitchinterval(SWITCH_S)
    engines = options.engine or os.environ.get(ENGINES, "").split()
    if options.log_json:
        os.environ[LOG_FORMAT] = "json"
    chosen = ServeOptions(options.port, options.model, tuple(engines), is_child=options.child)
    return asyncio.run(serve(chosen))


async def serve(options: ServeOptions) -> int:
    secret = sys.stdin.readline().strip() if options.is_child else secrets.token_urlsafe(32)
    places = paths.find()
    async with AsyncExitStack() as cleanup:
        core = Core(places)
        await core.open()
        cleanup.push_async_callback(core.close)
        ending = _watch_for_the_end(core, cleanup, is_child=options.is_child)
        control = await _open_control(core, secret, cleanup)
        if options.is_child:
            say(json.dumps({"control": control}))
        else:
            Announcer(_choose_output(core)).watch(core)
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
    """Serves, then loads the model. Returns the exit code, which is not 0 on failure."""
    try:
        if options.engines:
            await core.use_engines(options.engines)
        if options.model:
            core.choose_model(options.model)
    except AppError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if options.is_child and not core.settings.get().server.start_serving:
        return 0
    await core.start_on(options.port)
    return 1 if core.server.get().phase == "failed" and not options.is_child else 0


def _watch_for_the_end(
    core: Core, cleanup: AsyncExitStack, *, is_child: bool
) -> "asyncio.Future[str]":
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
    else:
        core.asked_to_quit.connect(lambda _why: end("asked"))
    return ending


async def _open_control(core: Core, secret: str, cleanup: AsyncExitStack) -> str:
    listening = Listening(0, frozenset())
    guard = Guard(lambda: Gate(listening.hosts, key=secret), lambda _origin, _method: None)
    listener = Listener(create_control(core, guard))
    listening = await listener.open(0)
    cleanup.push_async_callback(listener.close)
    return f"http://127.0.0.1:{listening.port}"


def _publish_control(path: Path, address: str, secret: str, cleanup: AsyncExitStack) -> None:
    """Lets `moat` in a terminal of the same user find and control this server."""
    entry = {"address": address, "secret": secret, "pid": os.getpid()}
    with suppress(OSError):  # A full disk must not keep the server from starting.
        write_atomically(path, json.dumps(entry))
        cleanup.callback(_unpublish, path)


def _unpublish(path: Path) -> None:
    with suppress(OSError, ValueError, LookupError):
        if json.loads(path.read_text("utf-8"))["pid"] == os.getpid():
            path.unlink()


def _choose_output(core: Core) -> Callable[[str], None]:
    """Returns how to inform a person. If a program reads our output, that is the log."""
    if core.settings.get().server.log_format == "text":
        return say
    core.log_to(sys.stdout)
    return log.info
