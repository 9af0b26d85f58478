"""What `moat COMMAND` can do: a file each, listed in server/cli.py, and how they all print."""

import sys

from server.system.limits import printable, printable_json


def say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def say_json(found: object) -> int:
    """Writes one line that is fit for a terminal. Returns the exit status."""
    sys.stdout.write(printable_json(found) + "\n")
    return 0
