"""The commands of `moat COMMAND`, one per file and listed in server/cli.py; how they print."""

import sys

from server.face import client
from server.face.client import RunningServer
from server.system import paths
from server.system.limits import printable, printable_json


async def find_running() -> RunningServer | None:
    """Returns the Moat that is running, if there is one."""
    return await client.find(paths.find().control)


def say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def say_json(found: object) -> int:
    """Prints JSON in one line, made safe for a terminal. Returns the exit status."""
    sys.stdout.write(printable_json(found) + "\n")
    return 0
