"""Writes the figures of a run: a table by kind and language, and a file with all transcripts."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any

from tests.evaluate.judge import Played, Verdict
from tests.evaluate.questions import KINDS, LANGUAGES, Turn

Json = dict[str, Any]
FILE = Path(__file__).resolve().parents[2] / "build" / "evaluate.json"
WRITING = Lock()
"""Two runs in one process may end at the same time."""
HEAD = ("", "asked", "widget", "parameters", "answer", "bold right", "bold wrong", "junk reads",
        "hops", "read anew", "written", "first step s", "first word s")  # fmt: skip


@dataclass(frozen=True)
class Row:
    turn: Turn
    played: Played
    verdict: Verdict
    part: str

    @property
    def tokens(self) -> tuple[int, int]:
        """The tokens that were read anew and those written, over all calls for this turn."""
        read = sum(one["read"] - one["cached"] for one in self.played.model)
        return read, sum(one["written"] for one in self.played.model)


def figures(rows: Sequence[Row]) -> Json:
    """Returns counts, and medians of what differs from question to question."""
    verdicts = [one.verdict for one in rows]
    return {
        "asked": len(rows),
        "widget": sum(one.widget for one in verdicts),
        "parameters": sum(one.parameters for one in verdicts),
        "answer": sum(one.answer for one in verdicts),
        "bold right": sum(len(one.bold_right) for one in verdicts),
        "bold wrong": sum(len(one.bold_wrong) for one in verdicts),
        "junk reads": sum(one.junk for one in verdicts),
        "hops": _middle([one.played.hops for one in rows]),
        "read anew": _middle([one.tokens[0] for one in rows]),
        "written": _middle([one.tokens[1] for one in rows]),
        "first step s": _middle([one.played.first_step_s for one in rows]),
        "first word s": _middle([one.played.first_word_s for one in rows]),
    }


def _middle(values: Sequence[float | None]) -> float:
    known = [one for one in values if one is not None]
    return round(median(known), 2) if known else 0.0


def tables(rows: Sequence[Row]) -> list[tuple[str, Json]]:
    """Returns the figures by kind, by language, by set, and over all."""
    ways: list[tuple[Sequence[str], Callable[[Row], str]]] = [
        ((*KINDS, "followup"), lambda one: one.turn.kind),
        (LANGUAGES, lambda one: one.turn.language),
        (("tune", "measured", "followups"), lambda one: one.part),
    ]
    found = []
    for names, of in ways:
        for name in names:
            if part := [one for one in rows if of(one) == name]:
                found.append((name, figures(part)))
    return [*found, ("all", figures(rows))]


def markdown(rows: Sequence[Row]) -> str:
    lines = [HEAD, tuple("---" if not one else "---:" for one in HEAD)]
    for name, found in tables(rows):
        lines.append((name, *(f"{found[title]:g}" for title in HEAD[1:])))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def conversations_right(rows: Sequence[Row]) -> tuple[int, int]:
    """Returns how many conversations are right in every turn, and the number of all."""
    by_chat: dict[str, bool] = {}
    for one in rows:
        if one.part == "followups":
            chat = one.turn.id.rpartition(".")[0]
            by_chat[chat] = by_chat.get(chat, True) and one.verdict.answer
    return sum(by_chat.values()), len(by_chat)


def as_run(rows: Sequence[Row]) -> Json:
    return {"figures": dict(tables(rows)), "transcripts": [_transcript(one) for one in rows]}


def keep(name: str, run: Json) -> None:
    """Writes a run to the file, in place of an earlier run of the same name."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    kept = {"name": name, "commit": _commit(), "at": now, **run}
    with WRITING:
        runs = [one for one in _load()["runs"] if one["name"] != name]
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps({"runs": [*runs, kept]}, ensure_ascii=False, indent=1), "utf-8")


def _load() -> Json:
    try:
        found = json.loads(FILE.read_text("utf-8"))
    except (OSError, ValueError):
        return {"runs": []}
    return found if isinstance(found, dict) and "runs" in found else {"runs": []}


def _transcript(row: Row) -> Json:
    turn = row.turn
    return {
        "id": turn.id, "part": row.part, "dashboard": turn.dashboard, "kind": turn.kind,
        "language": turn.language, "question": turn.ask, "expected": turn.numbers,
        "words": turn.words, "reads": turn.data.get("reads", []),
        "verdict": row.verdict.as_json(), "played": asdict(row.played),
    }  # fmt: skip


def _commit() -> str:
    told = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    )
    return told.stdout.strip()
