"""The commands of `moat COMMAND`, one per file and listed in server/cli.py; how they print."""

import argparse
import sys
from collections.abc import Callable

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


def within(least: int, most: int) -> Callable[[str], int]:
    """Returns a function that reads an option's whole number and checks its limits."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            wanted = f"a number from {least} to {most} is needed"
            raise argparse.ArgumentTypeError(f"{wanted}, not '{text}'")
        return number

    return read
