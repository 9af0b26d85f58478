"""What `moat COMMAND` can do: a file each, listed in server/cli.py, and how they all print."""

import json
import sys

from server.system.limits import printable


def say(text: str) -> None:
    sys.stdout.write(f"{printable(text)}\n")
    sys.stdout.flush()


def say_json(found: object) -> int:
    """Writes one line with every letter as it is. Returns the exit status."""
    sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
    return 0
