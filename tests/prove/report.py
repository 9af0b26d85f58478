"""The table on the screen and docs/proof.md. Results are kept for the next run."""

import json
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.prove import machine
from tests.prove.rows import NotOurs, Row
from tests.prove.stage import ROOT

DOCUMENT = ROOT / "docs" / "proof.md"
KEPT = ROOT / "build" / "proof.json"
INTRODUCTION = """\
# Proof

Nothing gets in, nothing gets out, nothing is lost: each promise with its limit and what was
measured. `make prove` makes this page and ends with an error when a row falls short; `QUICK=1 make
prove` is the short form (about ten minutes). `ROWS="S1 S2" make prove` measures only those again.
`MOAT_ADVISORIES` names folders with published advisories for A2: checkouts of the Python Packaging
Authority's advisory-database, or of safety-db.

The same scripts run against llama.cpp's own server of the same build where they apply; its figures
stand beside ours. S-rows follow a list of real incidents in programs of this kind. "Load" is how
many programs wanted the processor meanwhile: on a busy machine rows about time say little.
"""


@dataclass(frozen=True, slots=True)
class Result:
    key: str
    figure: str
    held: bool
    peer: str
    seconds: float
    date: str
    form: str
    """"quick" or "full"."""
    load: float = 0.0
    """How many processes wanted the processor at that time, ours and others."""
    state: str = ""
    """The version and commit that was measured."""


def load() -> dict[str, Result]:
    try:
        found = json.loads(KEPT.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {one["key"]: Result(**one) for one in found}


def keep(result: Result) -> None:
    """Adds a result to the kept ones, so that a long proof can be made in parts."""
    _write({**load(), result.key: result})


def forget() -> None:
    _write({})


def line(row: Row, result: Result) -> str:
    """Returns what is shown of a row while the proof runs."""
    mark = "ok  " if result.held else "FAIL"
    shown = [f"{mark} {row.key:<4} {row.promise}  [{result.seconds:.0f} s]"]
    shown += _set_in(f"{result.figure}  (limit: {row.limit})")
    if result.peer:
        shown += _set_in(f"llama-server: {result.peer}")
    return "\n".join(shown)


def write(
    sections: Sequence[tuple[str, Sequence[Row]]],
    not_ours: Sequence[NotOurs],
    results: dict[str, Result],
    path: Path = DOCUMENT,
) -> None:
    measured = [results[row.key] for _, rows in sections for row in rows if row.key in results]
    short = [one for one in measured if not one.held]
    days = sorted({one.date[:10] for one in measured})
    text = [INTRODUCTION]
    text += [
        f"- Measured: {' and '.join(dict.fromkeys((days[0], days[-1])))}" if days else "",
        f"- Machine: {machine.machine()}{_load(measured)}",
        f"- System: {machine.system()}",
        f"- Versions: {_states(measured)}, {machine.versions()}",
        f"- Rows: {len(measured)} measured, {len(short)} short of their limit",
    ]
    for title, rows in sections:
        text += ["", f"## {title}", "", *_table(rows, results)]
    text += ["", "## What does not apply", "", "| | what | why not |", "|---|---|---|"]
    text += [f"| {one.key} | {one.what} | {one.reason} |" for one in not_ours]
    path.write_text("\n".join(text) + "\n", encoding="utf-8")


def _states(measured: Sequence[Result]) -> str:
    """Returns the measured versions. If there are several, each is listed with its rows."""
    rows: dict[str, list[str]] = {}
    for one in measured:
        rows.setdefault(one.state, []).append(one.key)
    if len(rows) < 2:
        return next(iter(rows), machine.state())
    most = max(rows, key=lambda state: len(rows[state]))
    others = (f"{state}: {' '.join(keys)}" for state, keys in rows.items() if state != most)
    return f"{most} ({'; '.join(others)})"


def _load(measured: Sequence[Result]) -> str:
    loads = [one.load for one in measured if one.load]
    return f"; load while measuring {min(loads):.0f} to {max(loads):.0f}" if loads else ""


def _table(rows: Sequence[Row], results: dict[str, Result]) -> list[str]:
    lines = [
        "| | promise | limit | Moat | llama-server | | form |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        result = results.get(row.key)
        cells = [row.key, row.promise, row.limit]
        if result is None:
            cells += ["not measured", "", "", ""]
        else:
            verdict = "held" if result.held else "**short**"
            cells += [result.figure, result.peer or "-", verdict, _form(result)]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _write(results: dict[str, Result]) -> None:
    KEPT.parent.mkdir(exist_ok=True)
    found = [asdict(one) for one in results.values()]
    KEPT.write_text(json.dumps(found, indent=1), encoding="utf-8")


def _form(result: Result) -> str:
    return f"{result.form}, load {result.load:.0f}" if result.load else result.form


def _set_in(text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent=" " * 10, subsequent_indent=" " * 10)
