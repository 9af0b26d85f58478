"""Measures every promise: make prove. QUICK=1 is the short form; ROWS="S1 S2" measures only those.

It ends with an error if a row falls short.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain

import psutil

from tests.kit.programs import read_arguments
from tests.prove import machine, report
from tests.prove.report import Result
from tests.prove.rows import Figure, Measure, Row
from tests.prove.stage import Stage, is_quick
from tests.prove.suite import NOT_OURS, SECTIONS

LASTING = "lasting"


def main() -> int:
    rows = [row for _, rows in SECTIONS for row in rows]
    wanted = os.environ.get("ROWS", "").split()
    unknown = set(wanted) - {row.key for row in rows}
    if unknown:
        sys.exit(f"There is no row {', '.join(sorted(unknown))}.")
    chosen = [row for row in rows if not wanted or row.key in wanted]
    if not wanted:
        report.forget()
    # Warnings of the server's code that a row calls are not part of the table.
    logging.getLogger("server").addHandler(logging.NullHandler())
    results: dict[str, Result] = {}
    began = time.monotonic()
    with Stage(quick=is_quick()) as stage:
        for row, result in chain(run_all(chosen, stage), run_short_again(chosen, results, stage)):
            results[row.key] = result
            say(report.line(row, result))
            report.keep(result)
    report.write(SECTIONS, NOT_OURS, report.load())
    short = [row.key for row in chosen if not results[row.key].held]
    minutes = (time.monotonic() - began) / 60
    say(f"\n{len(chosen) - len(short)} of {len(chosen)} rows held, in {minutes:.1f} minutes.")
    if short:
        say(f"Short of their limit: {', '.join(short)}.")
    return 1 if short else 0


def run_all(rows: Sequence[Row], stage: Stage) -> Iterator[tuple[Row, Result]]:
    """Runs rows one after the other, with those that last or do not disturb beside them.

    In the full form the rows that need the machine alone come when all others but the lasting ones
    have ended.
    """
    with ExitStack() as lines, ended_early(stage):
        begun: dict[Row, Future[Result]] = {}
        for name, together in _beside(rows, stage).items():
            line = ThreadPoolExecutor(None if name == LASTING else 1)
            lines.callback(line.shutdown, cancel_futures=True)
            begun |= {row: line.submit(run, row, stage) for row in together}
        in_turn = [row for row in rows if row not in begun]
        last = [row for row in in_turn if row.alone and not stage.quick]
        for row in in_turn:
            if row not in last:
                yield row, run(row, stage)
                yield from _ended(begun)
        yield from ((row, begun.pop(row).result()) for row in list(begun) if not row.lasts)
        yield from ((row, run(row, stage)) for row in last)
        yield from ((row, lasting.result()) for row, lasting in begun.items())


def _ended(begun: dict[Row, Future[Result]]) -> Iterator[tuple[Row, Result]]:
    """Takes out the rows that ran beside and have ended."""
    for row in [row for row, result in begun.items() if result.done()]:
        yield row, begun.pop(row).result()


def run_short_again(
    rows: Sequence[Row], results: Mapping[str, Result], stage: Stage
) -> Iterator[tuple[Row, Result]]:
    """Measures rows that fell short again, alone, and shows both figures.

    Rows are measured side by side, so that they slow each other. What lasts hours is not repeated.
    """
    for row in rows:
        first = results[row.key]
        repeats = stage.quick or not row.lasts
        if repeats and len(rows) > 1 and not first.held:
            second = run(row, stage)
            yield (
                row,
                replace(second, figure=f"{second.figure} (beside other rows: {first.figure})"),
            )


def _beside(rows: Sequence[Row], stage: Stage) -> dict[str, list[Row]]:
    """Returns the rows that run beside the others, by the line in which they run."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if stage.quick:
            line: str = row.beside
        else:
            line = LASTING if row.lasts else "" if row.alone else row.beside
        if line:
            found.setdefault(line, []).append(row)
    return found


@contextmanager
def ended_early(stage: Stage) -> Iterator[None]:
    """Makes Ctrl-C and `kill` end every row, and with it the servers that it started."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    except BaseException:
        stage.stopping.set()
        stage.going.set()
        raise


def run(row: Row, stage: Stage) -> Result:
    began = time.monotonic()
    with stage.alone() if row.alone and not stage.quick else nullcontext():
        figure = measured(row.measure, stage)
        peer = measured(row.peer, stage).text if row.peer else ""
    took = time.monotonic() - began
    form = "quick" if stage.quick else "full"
    date = datetime.now(UTC).isoformat(timespec="seconds")
    load = round(psutil.getloadavg()[0], 1)
    return Result(
        row.key,
        figure.text,
        figure.held,
        peer,
        round(took, 1),
        date,
        form,
        load,
        machine.state(),
    )


def measured(measure: Measure, stage: Stage) -> Figure:
    """Measures. If the measurement itself fails, the row falls short."""
    try:
        return measure(stage)
    except Exception as error:  # noqa: BLE001 - one broken row must not hide the others
        return Figure(f"could not be measured: {type(error).__name__}: {error}"[:300], held=False)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    read_arguments(__doc__)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nEnded early: the rows above are kept, docs/proof.md is as it was.")
