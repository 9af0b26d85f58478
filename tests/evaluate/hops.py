"""Measures what each call to the model reads anew: python -m tests.evaluate.hops, with MODEL=path.

Asks three turns over 25 and over 200 widgets. The part of a prompt that stays the same between
calls is in the engine's cache; the rest is read anew. Prints a line for each call, and at the end a
table with a line for each turn.

MODEL=oracle: four letters count as a token, and every prompt is kept
DASHBOARD=equities|large: only this one   THREADS=number: of the processor
PLAN=1: any model counts as having passed the trial, so that it gets the prompts of a plan
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.evaluate import dashboards
from tests.evaluate.__main__ import say
from tests.evaluate.judge import Played
from tests.evaluate.oracle import ENGINES, LETTERS_PER_TOKEN
from tests.evaluate.serve import STARTER, serving
from tests.evaluate.workspace import Workspace
from tests.kit.programs import read_arguments

BOARDS = ("equities", "large")
TURNS = ("What was Apple's net income in 2024?", "And for MSFT?", "And the year before?")
CALLS = ("widgets", "turn", "call", "asks for", "prompt", "read anew", "written", "seconds")
IN_ALL = (
    "widgets", "turn", "requests", "calls", "prompt", "read anew", "share", "first step s",
    "first word s",
)  # fmt: skip


def main() -> int:
    model = os.environ.get("MODEL") or STARTER
    model = model if model == STARTER or model in ENGINES else str(Path(model).resolve())
    lines = []
    for name in (os.environ.get("DASHBOARD") or " ".join(BOARDS)).split():
        with serving(model) as (address, log):
            lines += _play(name, address, log, is_oracle=model in ENGINES)
    _head(IN_ALL)
    for line in lines:
        say(line)
    return 0


def _play(name: str, address: str, log: Path, *, is_oracle: bool) -> list[str]:
    """Prints a line for each call. Returns a line for each turn."""
    board = dashboards.dashboard(name)
    prompts: list[str] = []
    chat = Workspace(address, board)
    _head(CALLS)
    lines = []
    for turn, question in enumerate(TURNS, 1):
        before = log.stat().st_size
        played = chat.ask(question)
        with log.open("rb") as file:
            file.seek(before)
            calls = [json.loads(line) for line in file]
        for call in calls if is_oracle else ():
            prompt = "\n".join(f"{role}: {content}" for role, content in call["messages"])
            same = max((_same_letters(prompt, one) for one in prompts), default=0)
            call["cached"] = same // LETTERS_PER_TOKEN
            prompts.append(prompt)
        for number, call in enumerate(calls, 1):
            anew = call["read"] - call["cached"]
            cells = [len(board.widgets), turn, number, _kind(call), call["read"], anew]
            say(_line([*cells, call["written"], call["seconds"]]))
        lines.append(_line([len(board.widgets), turn, *_in_all(played, calls)]))
    return lines


def _in_all(played: Played, calls: list[dict[str, Any]]) -> list[Any]:
    prompt = sum(call["read"] for call in calls)
    anew = prompt - sum(call["cached"] for call in calls)
    share = f"{100 * anew / prompt:.0f} %" if prompt else ""
    waits = [f"{seconds or 0:.1f}" for seconds in (played.first_step_s, played.first_word_s)]
    return [played.hops, len(calls), prompt, anew, share, *waits]


def _same_letters(one: str, other: str) -> int:
    """Returns how many letters both texts share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next(
        (place for place, (here, there) in pairs if here != there), min(len(one), len(other))
    )


def _head(names: tuple[str, ...]) -> None:
    say(f"\n{_line(list(names))}\n{_line(['---'] * len(names))}")


def _line(cells: list[Any]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _kind(call: dict[str, Any]) -> str:
    """Returns the first key of the model's JSON, or "prose"."""
    try:
        found = json.loads(call["text"])
    except ValueError:
        return "prose"
    return next(iter(found), "") if isinstance(found, dict) else "prose"


if __name__ == "__main__":
    read_arguments(__doc__)
    sys.exit(main())
