"""moat ps | load | unload | logs | quit: controls the running Moat from a terminal."""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import asdict
from typing import Any

from server.commands import find_running, say, within
from server.commands.answer_text import columns_of, wrap
from server.errors import AppError, LinkLost
from server.face.client import RunningServer
from server.face.core import LogLine, ModelStatus, RunningRequest, ServerStatus
from server.system.limits import printable

MOST_LINES = 1_000_000
QUIT_PATIENCE_S = 15.0
NOTHING_TO_QUIT = "Moat is not running."
NOT_RUNNING = 3
"""The exit status if Moat is not running, so that scripts can distinguish it from a failure."""
Work = Callable[[RunningServer, argparse.Namespace], Awaitable[int]]


def add_to(commands: Any) -> None:
    parser = commands.add_parser("ps", help="show what the running Moat does")
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.set_defaults(run=_runner(_show))

    parser = commands.add_parser("load", help="have the running Moat load a model, and wait for it")
    parser.add_argument("name", help="a model's name")
    parser.set_defaults(run=_runner(_load))

    parser = commands.add_parser("unload", help="have the running Moat free the model's memory")
    parser.set_defaults(run=_runner(_unload))

    parser = commands.add_parser("logs", help="show the last lines of the running Moat's log")
    parser.add_argument(
        "-n", type=within(0, MOST_LINES), default=50, metavar="LINES", help="how many (default: 50)"
    )
    parser.add_argument("-f", "--follow", action="store_true", help="keep printing new lines")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each")
    parser.set_defaults(run=_runner(_show_logs))
    parser = commands.add_parser("quit", help="quit the running Moat and its window")
    parser.set_defaults(run=lambda _options: asyncio.run(_quit()))


def _runner(work: Work) -> Callable[[argparse.Namespace], int]:
    async def reach(options: argparse.Namespace) -> int:
        running = await find_running()
        if running is None:
            sys.stderr.write("Moat is not running. Start it with: moat serve\n")
            return NOT_RUNNING
        return await work(running, options)

    return lambda options: asyncio.run(reach(options))


async def _show(running: RunningServer, options: argparse.Namespace) -> int:
    names = ("server", "model", "requests")
    server, model, requests = await asyncio.gather(*map(running.value, names))
    if options.json:
        found = {"server": asdict(server), "model": asdict(model)}
        say(json.dumps({**found, "requests": [asdict(request) for request in requests]}))
    else:
        say("\n".join(_lines(server, model, requests)))
    return 0


def _lines(
    server: ServerStatus, model: ModelStatus, requests: tuple[RunningRequest, ...]
) -> list[str]:
    context = f", {model.context_tokens} tokens of context" if model.context_tokens else ""
    state = "not loaded" if model.phase == "empty" else model.phase
    return [
        f"server   {server.phase}  {server.address or server.reason}",
        f"model    {state}  {model.name}{context}{model.reason and f'  {model.reason}'}",
        *(
            f"answer   {request.phase}  {request.model}, {request.tokens} tokens, "
            f"{time.time() - request.started_at:.0f} s, for {request.client or request.route}"
            for request in requests
        ),
    ]


async def _load(running: RunningServer, options: argparse.Namespace) -> int:
    with suppress(LinkLost):  # A large model takes longer than a command may.
        await running.command("load_model", name=options.name)
    async with aclosing(running.values("model")) as values:
        async for status in values:
            if status.phase == "failed":
                raise AppError(status.reason)
            if status.phase == "ready":
                say(f"Ready: {status.name}, {status.context_tokens} tokens of context")
                return 0
    raise AppError("Moat ended before the model was loaded.")


async def _unload(running: RunningServer, _options: argparse.Namespace) -> int:
    await running.command("unload_model")
    say("No model is loaded now. The next question loads one.")
    return 0


async def _show_logs(running: RunningServer, options: argparse.Namespace) -> int:
    if not options.follow:
        await _show_recent(running, options)
        return 0
    # Listens first: a line in between would be missed otherwise. Some lines then arrive twice.
    async with running.listen("logged") as coming:
        last = await _show_recent(running, options)
        async for line in coming:
            if line.number > last + 1:
                # The server skips lines if too many come at once, but `recent_logs` still has them.
                known = await running.command("recent_logs", count=MOST_LINES)
                for missed in (kept for kept in known if last < kept.number < line.number):
                    say(_log_line(missed, as_json=options.json))
            if line.number == 0 or line.number > last:
                say(_log_line(line, as_json=options.json))
            last = max(last, line.number)
    sys.stderr.write("Moat has ended.\n")
    return NOT_RUNNING


async def _show_recent(running: RunningServer, options: argparse.Namespace) -> int:
    """Prints recent lines and returns the last line's number, even if no line is printed."""
    lines = await running.command("recent_logs", count=max(options.n, 1))
    for line in lines[-options.n :] if options.n else ():
        say(_log_line(line, as_json=options.json))
    return lines[-1].number if lines else 0


def _log_line(line: LogLine, *, as_json: bool) -> str:
    if as_json:
        return json.dumps(asdict(line), ensure_ascii=False)
    at = time.strftime("%H:%M:%S", time.localtime(line.at))
    head = f"{at} {line.level:<7} "
    text = printable(f"{head}{line.source}: {line.text}")
    # A terminal would break long lines within words. In a file, each stays one line.
    return wrap(text, columns_of(sys.stdout), hanging=len(head))


async def _quit() -> int:
    """Asks Moat to quit and waits until it has."""
    running = await find_running()
    if running is None:
        say(NOTHING_TO_QUIT)
        return 0
    try:
        await running.command("quit")
        # The stream of values ends when Moat does.
        async with asyncio.timeout(QUIT_PATIENCE_S), aclosing(running.values("server")) as told:
            async for _status in told:
                continue
    except TimeoutError:
        sys.stderr.write("Moat has been asked to quit and is still running.\n")
        return 1
    except AppError as error:
        # Moat may end before it has answered.
        if await asyncio.to_thread(running.answers):
            sys.stderr.write(f"{error}\n")
            return 1
    return 0
