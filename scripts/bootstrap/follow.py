"""Runs a long command and shows its progress. Its output is shown only if it fails."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from scripts.bootstrap.say import SetupFailed, Ticker, say

KEPT_LINES = 30
"""How many of the last lines are shown if the command fails."""
PATIENCE_S = 5.0
"""How long processes may take to end after a signal, in seconds."""
_INTERRUPTS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class LongCommand:
    title: str
    arguments: list[str]
    detail: Callable[[str], str | None]
    """Returns the progress that a line of output shows, or None."""
    log: Path = Path(os.devnull)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


def follow(command: LongCommand) -> None:
    ticker = Ticker(command.title)
    last: deque[str] = deque(maxlen=KEPT_LINES)
    with subprocess.Popen(
        command.arguments,
        env=command.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as child:
        try:
            _show(child, command, ticker, last)
        except BaseException:
            _end(child)
            raise
    if child.returncode:
        say("\n".join(("", *last)))
        raise SetupFailed(f"This failed: {' '.join(command.arguments)}")
    ticker.done()


@contextmanager
def running_beside(command: LongCommand) -> Iterator[None]:
    """Runs a command beside the body and waits for its end, whether it succeeds or not."""
    with subprocess.Popen(
        command.arguments,
        env=command.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as child:
        try:
            yield
            ticker = Ticker(command.title)
            while child.poll() is None:
                ticker.show("")
                time.sleep(0.2)
        except BaseException:
            _end(child)
            raise


def _end(child: "subprocess.Popen[str]") -> None:
    """Ends the command and everything that it started, such as compilers.

    Build tools put each compiler into its own process group, so the whole session is ended. Further
    interrupts are ignored until that is done.
    """
    if sys.platform == "win32":
        tree = ["taskkill", "/T", "/F", "/PID", str(child.pid)]
        subprocess.run(tree, capture_output=True, check=False)
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _INTERRUPTS}
    try:
        _send_to_all(child, signal.SIGTERM, PATIENCE_S)
        _send_to_all(child, signal.SIGKILL, PATIENCE_S)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _send_to_all(child: "subprocess.Popen[str]", number: int, patience_s: float) -> None:
    """Sends the signal until no process is left: some may have started others before they end."""
    ends = time.monotonic() + patience_s
    told: set[int] = set()
    while (left := members(child.pid)) and time.monotonic() < ends:
        for pid in left - told:
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        told |= left
        child.poll()
        time.sleep(0.05)


def members(session: int) -> set[int]:
    """Returns the processes of a session that have not ended."""
    if sys.platform == "linux":  # ps is missing in some small installations
        states = {int(path.name): _state(path) for path in Path("/proc").glob("[0-9]*")}
    else:
        command = ["ps", "-A", "-o", "pid=,stat="]
        listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        states = {int(pid): state for pid, state in map(str.split, listing.splitlines())}
    alive = (pid for pid, state in states.items() if not state.startswith("Z"))
    return {pid for pid in alive if _session_of(pid) == session}


def _state(process: Path) -> str:
    try:
        return (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "Z"


def _session_of(pid: int) -> int:
    if sys.platform == "win32":
        return -1
    try:
        return os.getsid(pid)
    except OSError:
        return -1


def _show(
    child: "subprocess.Popen[str]", command: LongCommand, ticker: Ticker, last: deque[str]
) -> None:
    assert child.stdout
    lines: queue.Queue[str | None] = queue.Queue()
    threading.Thread(target=_read, args=(child.stdout, lines), daemon=True).start()
    step = ""
    with command.log.open("w", encoding="utf-8") as record:
        while True:
            try:
                line = lines.get(timeout=1)
            except queue.Empty:
                ticker.show(step)
                continue
            if line is None:
                return
            record.write(line)
            last.append(line.rstrip()[:300])
            step = command.detail(line) or step
            ticker.show(step)


def _read(pipe: IO[str], lines: "queue.Queue[str | None]") -> None:
    for line in pipe:
        lines.put(line)
    lines.put(None)
