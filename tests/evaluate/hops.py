"""What each call to the model reads anew: python -m tests.evaluate.hops, with MODEL=path.

Two turns over 25 and over 200 widgets. A prompt that stays the same between the calls is in the
engine's cache; what is read anew is the rest. Prints a table, one line for each call.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.evaluate import dashboards
from tests.evaluate.__main__ import say
from tests.evaluate.serve import STARTER, serving
from tests.evaluate.workspace import Workspace

BOARDS = ("equities", "large")
TURNS = ("What was Apple's net income in 2024?", "And for MSFT?")
HEAD = "| widgets | turn | call | asks for | prompt | read anew | written | seconds |"
RULE = "| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |"


def main() -> int:
    model = os.environ.get("MODEL") or STARTER
    for name in BOARDS:
        with serving(str(Path(model).resolve()) if model != STARTER else model) as (address, log):
            _play(name, address, log)
    return 0


def _play(name: str, address: str, log: Path) -> None:
    board = dashboards.dashboard(name)
    chat = Workspace(address, board)
    say(f"\n{HEAD}\n{RULE}")
    waits = []
    for turn, question in enumerate(TURNS, 1):
        before = log.stat().st_size
        played = chat.ask(question)
        with log.open("rb") as file:
            file.seek(before)
            calls = [json.loads(line) for line in file]
        for number, call in enumerate(calls, 1):
            anew = call["read"] - call["cached"]
            cells = [len(board.widgets), turn, number, _kind(call), call["read"], anew]
            say(_line([*cells, call["written"], call["seconds"]]))
        waits.append(
            f"Turn {turn}, {len(board.widgets)} widgets: {played.hops} requests, first step after "
            f"{played.first_step_s or 0:.1f} s, first word after {played.first_word_s or 0:.1f} s."
        )
    say("\n" + "\n".join(waits))


def _line(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _kind(call: dict[str, Any]) -> str:
    """The first key of what was answered; prose has none."""
    try:
        found = json.loads(call["text"])
    except ValueError:
        return "prose"
    return next(iter(found), "") if isinstance(found, dict) else "prose"


if __name__ == "__main__":
    sys.exit(main())
