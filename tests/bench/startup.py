"""make startup: what a person notices: start-up, the first token, speed, memory, idleness.

Start and idleness are shown beside those of a bare program with the same libraries.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.bench.reference import LISTENS, wakeups, woken
from tests.display.desktop import Desktop, missing_programs
from tests.display.desktop import wait_for as wait_until
from tests.display.program import Program
from tests.kit.programs import read_arguments

QUESTION = "Explain in a few sentences what a moat is."
TOKENS = 128
IDLE_S = 20.0
SETTLED_S = 12.0
"""In seconds. The after-effects of a start do not count as idleness."""
ROUNDS = 3
PATIENCE_S = 120.0
MB = 1024 * 1024
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Server:
    process: "subprocess.Popen[str]"
    port: int
    began: float


@contextmanager
def serving() -> Iterator[Server]:
    moat = str(Path(sys.executable).with_name("moat"))
    with _started([moat, "serve", "--port", "0"]) as (process, began):
        line = wait_for(process, "Moat serves on ")
        yield Server(process, int(line.split()[3].rsplit(":", 1)[1]), began)


@contextmanager
def reference() -> Iterator[Server]:
    """Runs a bare server with the same libraries."""
    command = [sys.executable, "-m", "tests.bench.reference", "server"]
    with _started(command) as (process, began):
        wait_for(process, LISTENS)
        yield Server(process, 0, began)


@contextmanager
def _started(command: list[str]) -> Iterator[tuple["subprocess.Popen[str]", float]]:
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        process = subprocess.Popen(
            command,
            env={**os.environ, "MOAT_HOME": home},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process, began
            finally:
                process.terminate()


@dataclass(frozen=True)
class Start:
    """Seconds until it listened: on the clock, and of processor time."""

    clock_s: float
    processor_s: float


def starts(rounds: int = ROUNDS) -> tuple[Start, Start]:
    """Returns the best of several starts of Moat and of the reference, taken in turns."""
    taken: tuple[list[Start], list[Start]] = ([], [])
    for _ in range(rounds):
        for start, figures in zip((serving, reference), taken, strict=True):
            with start() as server:
                clock_s = time.monotonic() - server.began
                used_s = _processor_s([psutil.Process(server.process.pid)])
                figures.append(Start(clock_s, used_s))
    own, bare = (
        Start(min(one.clock_s for one in figures), min(one.processor_s for one in figures))
        for figures in taken
    )
    return own, bare


def wait_for(process: "subprocess.Popen[str]", beginning: str) -> str:
    assert process.stdout
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    sys.exit(f"The server ended before it said: {beginning}")


def ask(server: Server) -> tuple[float, float]:
    """Returns the seconds to the first piece of the answer, and the pieces per second after it."""
    body = {
        "messages": [{"role": "user", "content": QUESTION}],
        "stream": True,
        "max_tokens": TOKENS,
        "temperature": 0,
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    began = time.monotonic()
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    times = [
        time.monotonic()
        for line in connection.getresponse()
        if line.startswith(b"data: {") and b'"content"' in line
    ]
    connection.close()
    return times[0] - began, (len(times) - 1) / (times[-1] - times[0])


def memory(server: Server) -> tuple[float, float]:
    """Returns the megabytes of the server, and of the workers that it started."""
    root = psutil.Process(server.process.pid)
    workers = sum(child.memory_info().rss for child in root.children(recursive=True))
    return root.memory_info().rss / MB, workers / MB


def idleness(root: psutil.Process, seconds: float = IDLE_S) -> tuple[float, float]:
    """Returns wake-ups per minute and percent of one core, of an idle process and its children."""
    family = [root, *root.children(recursive=True)]
    before, used_s = wakeups(family), _processor_s(family)
    time.sleep(seconds)
    woke = woken(before, wakeups(family))
    return woke * 60 / seconds, (_processor_s(family) - used_s) / seconds * 100


def _processor_s(family: list[psutil.Process]) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in family)


def window() -> None:
    """Runs the whole program on a separate screen, without a model."""
    missing = missing_programs()
    if missing:
        sys.stdout.write(f"No figures of the window: not installed: {', '.join(missing)}\n")
        return
    with tempfile.TemporaryDirectory() as folder, Desktop(Path(folder), tray=False) as desktop:
        home = Path(folder) / "moat"
        (home / "config").mkdir(parents=True)
        settings = {"server": {"port": 17777}, "model": {"load_at_start": False}}
        (home / "config" / "settings.json").write_text(json.dumps(settings))
        program = Program(desktop, home, 17777)
        wait_until("the window", desktop.windows)
        row("window is shown after", program.age_s(), "s")
        wait_until("the server", program.is_listening)
        row("server listens after", program.age_s(), "s")
        time.sleep(SETTLED_S)
        own, *others = (one.memory_info().rss / MB for one in program.family())
        row("memory of the window", own, "MB")
        row("memory of its server, without a model", sum(others), "MB")
        idle(idleness(program.family()[0]))
        family = program.family()
        began = time.monotonic()
        program.end()
        psutil.wait_procs(family, timeout=PATIENCE_S)
        row("all is gone, once asked, after", time.monotonic() - began, "s")


def idle(figures: tuple[float, float]) -> None:
    woke, share = figures
    row("wake-ups when idle, all together", woke, "a minute")
    row("processor when idle, all together", share, "% of a core")


def row(name: str, number: float, unit: str) -> None:
    sys.stdout.write(f"{name:<34}{number:10.2f} {unit}\n")
    sys.stdout.flush()


def main() -> None:
    own, bare = starts()
    row("server listens after", own.clock_s, "s")
    row("a bare one with its libraries", bare.clock_s, "s")
    row("processor time of the start", own.processor_s, "s")
    row("that of the bare one", bare.processor_s, "s")
    with serving() as server:
        row("memory without a model", memory(server)[0], "MB")
        wait_for(server.process, "Ready: ")
        row("starter model is ready after", time.monotonic() - server.began, "s")
        first, speed = ask(server)
        row("first token, first question", first, "s")
        first, speed = ask(server)
        row("first token, same question again", first, "s")
        row("speed", speed, "tokens/s")
        time.sleep(SETTLED_S)
        idle(idleness(psutil.Process(server.process.pid)))
        memory_mb, workers_mb = memory(server)
        row("memory of the server", memory_mb, "MB")
        row("memory of the worker", workers_mb, "MB")
    window()


if __name__ == "__main__":
    read_arguments(__doc__)
    main()
