"""make evaluate: asks a served Moat the questions of the sets, and judges its answers.

MODEL=path of a GGUF file (default: the starter)   ORACLE=1: the two that need no model
SET=tune|measured|followups|all   DASHBOARD=equities|macro|portfolio|ledger|large   LIMIT=number
IDS=eq-24,fu-01: only these questions and conversations
INJECT=1: hides instructions in data, for an oracle that obeys whatever reaches it as an instruction
MINUTES=number: ask no more after that time   THREADS=number: of the processor
AT_ONCE=number: of Moats that are asked side by side, for a graphics card
VERBOSE=1: a line for each question that went wrong, except those that are only measured
"""

import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from tests.evaluate import inject, report
from tests.evaluate.judge import judge
from tests.evaluate.questions import Conversation, chosen
from tests.evaluate.report import Row
from tests.evaluate.serve import STARTER, serving
from tests.evaluate.workspace import Workspace
from tests.kit.programs import read_arguments

ANSWERABLE = 0.98
"""The share of the measured questions that an oracle must answer."""
SETS = ("tune", "measured", "followups", "all")


def main() -> int:
    settings = os.environ
    part, board = settings.get("SET") or "all", settings.get("DASHBOARD") or ""
    if part not in SETS:
        sys.exit(f"SET is one of {', '.join(SETS)}.")
    wanted = chosen(part, board, int(settings.get("LIMIT") or 0))
    if ids := settings.get("IDS", "").replace(",", " ").split():
        wanted = [one for one in wanted if one.id in ids]
        if missing := set(ids) - {one.id for one in wanted}:
            sys.exit(f"There is no question {', '.join(sorted(missing))} in this set.")
    if settings.get("INJECT"):
        return inject.main()
    if settings.get("ORACLE"):
        with ThreadPoolExecutor() as side_by_side:
            tried = side_by_side.map(lambda name: _try(name, wanted), ("oracle", "thinker"))
            failures = [fault for faults in tried for fault in faults]
        for fault in failures:
            say(f"Short: {fault}")
        return 1 if failures else 0
    run(_model(settings.get("MODEL") or STARTER), wanted)
    return 0


def _model(name: str) -> str:
    if name.startswith(("http://", "https://")):
        sys.exit(
            "MODEL is a URL, but Moat cannot answer with a model behind a URL: it runs models by "
            "itself. Give the path of a GGUF file."
        )
    if name != STARTER and not Path(name).is_file():
        sys.exit(f"There is no file {name}.")
    return name if name == STARTER else str(Path(name).resolve())


def _try(name: str, wanted: Sequence[Conversation]) -> list[str]:
    """Returns what an oracle could not do, although it is never wrong."""
    rows = run(name, wanted)
    faults = []
    measured = [one for one in rows if one.part == "measured"]
    found = report.figures(measured)
    if measured and found["answer"] < ANSWERABLE * found["asked"]:
        faults.append(f"{name}: {found['answer']} of {found['asked']} measured questions answered")
    if found["bold wrong"]:
        faults.append(f"{name}: {found['bold wrong']} bold figures are wrong")
    right, chats = report.conversations_right(rows)
    if right < chats:
        faults.append(f"{name}: {right} of {chats} conversations answered")
    return faults


def run(engine: str, wanted: Sequence[Conversation]) -> list[Row]:
    began, most_s = time.monotonic(), 60 * float(os.environ.get("MINUTES") or 600)
    if os.environ.get("MINUTES"):
        # The questions that there is time for are then a fair sample.
        wanted = sorted(wanted, key=lambda one: sha256(one.id.encode()).digest())
    waiting = enumerate(wanted)
    played: dict[int, list[Row]] = {}

    def ask_in_turn(_moat: int) -> None:
        with serving(engine) as (address, log):
            for number, one in waiting:
                if time.monotonic() - began > most_s:
                    break
                played[number] = play(address, log, one)
                if sys.stderr.isatty():
                    print(f"\r{len(played)} of {len(wanted)} ", end="", file=sys.stderr)  # noqa: T201

    at_once = int(os.environ.get("AT_ONCE") or 1)
    with ThreadPoolExecutor(at_once) as moats:
        list(moats.map(ask_in_turn, range(at_once)))
    rows = [row for _number, asked in sorted(played.items()) for row in asked]
    seconds = round(time.monotonic() - began, 1)
    name = Path(engine).name
    right, chats = report.conversations_right(rows)
    lines = [f"\n{name}: {len(rows)} turns in {seconds} s\n\n{report.markdown(rows)}"]
    if chats:
        lines.append(f"\nConversations right from the first turn to the last: {right} of {chats}")
    if os.environ.get("VERBOSE"):
        shown = [row for row in rows if row.part != "measured"]
        wrong = [row for row in shown if not row.verdict.answer or row.verdict.bold_wrong]
        lines += map(_fault, wrong)
    say("\n".join(lines))
    sets = {key: os.environ.get(key, "") for key in ("SET", "DASHBOARD", "LIMIT", "IDS")}
    key = " ".join([name, *(f"{key}={value}" for key, value in sets.items() if value)])
    report.keep(key, {"settings": sets, "seconds": seconds, **report.as_run(rows)})
    return rows


def _fault(row: Row) -> str:
    verdict, played = row.verdict, row.played
    seen = f"widget {verdict.widget}, parameters {verdict.parameters}, bold {verdict.bold_wrong}"
    wrong = played.problem or " ".join(played.text.split())[:160]
    return f"{row.turn.id} {row.turn.ask[:70]!r}: {seen}: {wrong!r} {row.turn.numbers}"


def play(address: str, log: Path, conversation: Conversation) -> list[Row]:
    """Asks all turns of a conversation in one chat, and judges each."""
    chat = Workspace(address, conversation.turns[0].board)
    rows: list[Row] = []
    for turn in conversation.turns:
        before = log.stat().st_size
        played = chat.ask(turn.ask)
        with log.open("rb") as file:
            file.seek(before)
            played.model = [json.loads(line) for line in file]
        earlier = [read for row in rows for read in row.played.reads]
        rows.append(Row(turn, played, judge(turn, played, earlier), conversation.part))
    return rows


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    read_arguments(__doc__)
    sys.exit(main())
