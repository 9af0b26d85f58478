"""Promises about the start: how soon Moat is ready, and what it costs while idle.

It is compared with a bare program that has the same libraries, started in the same run: seconds and
shares of a core depend on the machine.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from tests.bench.servers import free_port
from tests.bench.startup import ROUNDS, SETTLED_S, idleness, memory, serving, starts, wait_for
from tests.display.desktop import Desktop
from tests.display.desktop import wait_for as wait_until
from tests.display.program import Program
from tests.prove.rows import Figure, Row
from tests.prove.stage import QUIET, ROOT, Stage

START_TIMES = 3.0
"""The most processor time, as a multiple of the bare program's, whose start consists of imports."""
CLOCK_TIMES = 5.0
"""The most clock time, as a multiple: it shows whether a start waits. The machine may be busy."""
SERVER_TIMES = 8.0
"""The most clock time until the server listens, as a multiple of that of a bare window's icon.
The server starts after the icon, and both share the cores."""
WAKEUPS, WINDOW_WAKEUPS = 60, 90
"""Per minute. About 25 and 45 are usual, and a single timer of one second adds 60."""
IDLE_MB = 150.0
CACHES = Path("/proc/sys/vm/drop_caches")


def headless(stage: Stage) -> Figure:
    os.environ.update(QUIET)
    own, bare = starts(stage.pick(2, 5))
    with serving() as server:
        empty_mb = memory(server)[0]
        wait_for(server.process, "Ready: ")
        time.sleep(SETTLED_S)
        woke, share = idleness(psutil.Process(server.process.pid), stage.pick(20, 60))
    times, on_the_clock = own.processor_s / bare.processor_s, own.clock_s / bare.clock_s
    text = (
        f"listens after {own.clock_s:.1f} s and {own.processor_s:.1f} s of the processor, "
        f"{on_the_clock:.1f} and {times:.1f} times a bare server's; {empty_mb:.0f} MB without a "
        f"model; with one it wakes {woke:.0f} times a minute when idle ({share:.2f} % of a core)"
    )
    soon = times <= START_TIMES and on_the_clock <= CLOCK_TIMES
    return Figure(text, soon and empty_mb < IDLE_MB and woke < WAKEUPS)


def on_a_desktop(stage: Stage) -> Figure:
    """Runs the whole program under Xvfb with a tray. If permitted, it empties file caches first."""
    seconds = stage.pick(20, 60)
    with Desktop(stage.scratch("desktop")) as desktop:
        state = _cool(stage)
        bare_s, tray_s, listens_s = _desktop_starts(stage, desktop)
        with _bare_window(desktop) as (bare, _):
            time.sleep(SETTLED_S)
            bare_woke, _ = idleness(psutil.Process(bare.pid), seconds)
        with _program(stage, desktop) as (program, _, _):
            time.sleep(SETTLED_S)
            mb = _memory_mb(program.family())
            woke, share = idleness(program.family()[0], seconds)
            hidden, _ = _hidden(desktop, program, seconds)
    text = (
        f"{state}, the best of {ROUNDS}: icon after {tray_s:.1f} s, {tray_s / bare_s:.1f} times "
        f"the {bare_s:.1f} s of a bare one; listens after {listens_s:.1f} s "
        f"({listens_s / bare_s:.1f} times); without a model {mb[0]:.0f} MB and its server "
        f"{sum(mb[1:]):.0f} MB; idle it wakes {woke:.0f} times a minute ({share:.2f} % of a core), "
        f"{hidden:.0f} in the tray, a bare one {bare_woke:.0f}"
    )
    soon = tray_s <= START_TIMES * bare_s and listens_s <= SERVER_TIMES * bare_s
    calm = max(woke, hidden) - bare_woke < WINDOW_WAKEUPS
    return Figure(text, soon and calm and max(mb) < IDLE_MB)


def _desktop_starts(stage: Stage, desktop: Desktop) -> tuple[float, float, float]:
    """Returns the seconds to a bare window's icon, to Moat's icon, and until Moat's server listens.

    Each is the best of several starts, taken in turns: the machine's load changes, and a bare
    window that started at a calm moment would be no measure for a start at a busy one.
    """
    taken: list[tuple[float, float, float]] = []
    for _ in range(ROUNDS):
        _cool(stage)
        with _bare_window(desktop) as (_bare, bare_s):
            pass
        _cool(stage)
        with _program(stage, desktop) as (_moat, tray_s, listens_s):
            taken.append((bare_s, tray_s, listens_s))
    bare_s, tray_s, listens_s = map(min, zip(*taken, strict=True))
    return bare_s, tray_s, listens_s


@contextmanager
def _bare_window(desktop: Desktop) -> Iterator[tuple["subprocess.Popen[bytes]", float]]:
    """Yields a bare window, and the seconds until its icon appeared."""
    began = time.monotonic()
    command = (sys.executable, "-m", "tests.bench.reference", "window")
    bare = desktop.start(*command, cwd=ROOT)
    wait_until("the icon of the bare window", desktop.tray_item)
    yield bare, time.monotonic() - began
    bare.terminate()
    bare.wait()
    wait_until("its end", lambda: desktop.tray_item() is None)


@contextmanager
def _program(stage: Stage, desktop: Desktop) -> Iterator[tuple[Program, float, float]]:
    """Yields Moat in a new home, and the seconds to its icon and until its server listened."""
    home, port = stage.scratch("moat"), free_port()
    settings = home / "config" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(f'{{"server": {{"port": {port}}}, "model": {{"load_at_start": false}}}}')
    program = Program(desktop, home, port)
    program.wait_for_icon()
    tray_s = program.age_s()
    wait_until("the server", program.is_listening)
    yield program, tray_s, program.age_s()
    program.end()
    wait_until("its end", lambda: desktop.tray_item() is None)


def _memory_mb(family: Sequence[psutil.Process]) -> list[float]:
    """Returns the memory of each process that still runs: some are helpers that end soon."""
    found = []
    for process in family:
        with suppress(psutil.NoSuchProcess):
            found.append(process.memory_info().rss / 2**20)
    return found


def _hidden(desktop: Desktop, program: Program, seconds: float) -> tuple[float, float]:
    """Closes the window, which leaves Moat in the tray, and returns its idleness."""
    (window,) = wait_until("the window", desktop.windows)
    wait_until("its focus", lambda: desktop.active_window() == window)
    desktop.type("alt+F4")
    wait_until("the window to hide", lambda: not desktop.windows())
    time.sleep(SETTLED_S)
    return idleness(program.family()[0], seconds)


def _cool(stage: Stage) -> str:
    """Empties the file caches, which only root can. Returns "cold" if it did, otherwise "warm".

    In the short form it does not, because other rows run beside.
    """
    if stage.quick:
        return "warm"
    os.sync()
    try:
        CACHES.write_text("3")
    except OSError:
        return "warm"
    return "cold"


ROWS = (
    Row(
        "F15",
        "Moat is there soon and costs nothing while idle",
        f"<= {START_TIMES:g} times the processor's time, {CLOCK_TIMES:g} times the clock's, of a "
        f"bare server with its libraries; < {IDLE_MB:g} MB; < {WAKEUPS} wake-ups a minute: nothing "
        "wakes every second",
        headless,
        alone=True,
        beside="waits",
    ),
    Row(
        "F15a",
        "So is the whole program, with its icon in the tray",
        f"icon <= {START_TIMES:g} times, listening <= {SERVER_TIMES:g} times a bare window's icon; "
        f"each < {IDLE_MB:g} MB; < {WINDOW_WAKEUPS} wake-ups a minute more than it",
        on_a_desktop,
        alone=True,
        beside="waits",
    ),
)
