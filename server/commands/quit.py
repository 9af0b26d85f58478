"""moat quit: asks the Moat of this user that is running to end, and waits until it has."""

import asyncio
import sys
from contextlib import aclosing
from typing import Any

from server.errors import AppError
from server.face import client
from server.face.client import RunningServer
from server.system import paths

PATIENCE_S = 15.0
NOT_RUNNING = "Moat is not running."
STILL_RUNNING = "Moat has been asked to quit and is still running."


def add_to(commands: Any) -> None:
    one = commands.add_parser("quit", help="quit the running Moat and its window")
    one.set_defaults(run=lambda _options: asyncio.run(_quit()))


async def _quit() -> int:
    running = await client.find(paths.find().control)
    if running is None:
        sys.stdout.write(f"{NOT_RUNNING}\n")
        return 0
    try:
        await running.command("quit")
        async with asyncio.timeout(PATIENCE_S):
            await _gone(running)
    except TimeoutError:
        sys.stderr.write(f"{STILL_RUNNING}\n")
        return 1
    except AppError as error:
        # It may end before it has answered.
        if await asyncio.to_thread(running.answers):
            sys.stderr.write(f"{error}\n")
            return 1
    return 0


async def _gone(running: RunningServer) -> None:
    """What it tells of itself ends with it."""
    async with aclosing(running.values("server")) as told:
        async for _status in told:
            continue
