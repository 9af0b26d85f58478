"""What a person feels at the start: how soon Moat is there, and what it costs while idle."""

import os
import time
from pathlib import Path

import psutil

from tests.bench.servers import free_port
from tests.bench.startup import idle_share, memory, serving, wait_for
from tests.display.desktop import Desktop
from tests.display.desktop import wait_for as wait_until
from tests.display.program import Program
from tests.prove.rows import Figure, Row
from tests.prove.stage import QUIET, Stage

LISTENS_S, IDLE_PERCENT, IDLE_MB = 5.0, 0.5, 150.0
TRAY_S, AFTER_TRAY_S = 3.0, 2.0
SETTLED_S = 3.0
CACHES = Path("/proc/sys/vm/drop_caches")


def headless(_stage: Stage) -> Figure:
    os.environ.update(QUIET)
    with serving() as server:
        listens_s = time.monotonic() - server.began
        empty_mb = memory(server)[0]
        wait_for(server.process, "Ready: ")
        idle = idle_share(psutil.Process(server.process.pid))
    text = f"listens after {listens_s:.1f} s, {empty_mb:.0f} MB without a model, {idle:.2f} % of a"
    held = listens_s <= LISTENS_S and empty_mb < IDLE_MB and idle < IDLE_PERCENT
    return Figure(f"{text} core when idle", held)


def on_a_desktop(stage: Stage) -> Figure:
    """The whole program under Xvfb with a tray, its files not in memory where we may see to it."""
    home = stage.scratch("moat")
    port = free_port()
    settings = home / "config" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(f'{{"server": {{"port": {port}}}, "model": {{"load_at_start": false}}}}')
    with Desktop(stage.scratch("desktop")) as desktop:
        state = _cool()
        program = Program(desktop, home, port)
        program.wait_for_icon()
        tray_s = program.age_s()
        wait_until("the server", program.is_listening)
        listens_s = program.age_s()
        time.sleep(SETTLED_S)  # what a start leaves behind is not idleness
        mb = [one.memory_info().rss / 2**20 for one in program.family()]
        idle = idle_share(program.family()[0])
        program.end()
    text = (
        f"{state}: icon after {tray_s:.1f} s, listens after {listens_s:.1f} s; without a model "
        f"{mb[0]:.0f} MB and its server {sum(mb[1:]):.0f} MB, {idle:.2f} % of a core when idle"
    )
    soon = tray_s <= TRAY_S and listens_s - tray_s <= AFTER_TRAY_S
    return Figure(text, soon and max(mb) < IDLE_MB and idle < IDLE_PERCENT)


def _cool() -> str:
    """Whether the start is cold: only the system's administrator may empty its memory of files."""
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
        f"<= {LISTENS_S:g} s, < {IDLE_MB:g} MB, < {IDLE_PERCENT} %",
        headless,
        alone=True,
    ),
    Row(
        "F15a",
        "So is the whole program, with its icon in the tray",
        f"icon <= {TRAY_S:g} s, listening <= {AFTER_TRAY_S:g} s after, each < {IDLE_MB:g} MB, "
        f"< {IDLE_PERCENT} %",
        on_a_desktop,
        alone=True,
    ),
)
