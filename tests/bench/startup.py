"""make startup: what a person feels: start-up, the first token, speed, memory, idleness."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.display.desktop import Desktop, missing_programs
from tests.display.desktop import wait_for as wait_until
from tests.display.program import Program

QUESTION = "Explain in a few sentences what a moat is."
TOKENS = 128
IDLE_S = 10.0
PATIENCE_S = 120.0
MB = 1024 * 1024


@dataclass(frozen=True)
class Server:
    process: "subprocess.Popen[str]"
    port: int
    began: float


@contextmanager
def serving() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        process = subprocess.Popen(
            [str(Path(sys.executable).with_name("moat")), "serve", "--port", "0"],
            env={**os.environ, "MOAT_HOME": home},
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                line = wait_for(process, "Moat serves on ")
                yield Server(process, int(line.split()[3].rsplit(":", 1)[1]), began)
            finally:
                process.send_signal(signal.SIGINT)


def wait_for(process: "subprocess.Popen[str]", beginning: str) -> str:
    assert process.stdout
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    sys.exit(f"The server ended before it said: {beginning}")


def ask(server: Server) -> tuple[float, float]:
    """Seconds to the first piece of the answer, and pieces per second from there on."""
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
    """Megabytes of the server, and of the workers it started."""
    root = psutil.Process(server.process.pid)
    workers = sum(child.memory_info().rss for child in root.children(recursive=True))
    return root.memory_info().rss / MB, workers / MB


def idle_share(root: psutil.Process) -> float:
    """Percent of one core that a process and all it started use while nobody asks."""
    family = [root, *root.children(recursive=True)]
    before = sum(sum(one.cpu_times()[:2]) for one in family)
    time.sleep(IDLE_S)
    return (sum(sum(one.cpu_times()[:2]) for one in family) - before) / IDLE_S * 100


def window() -> None:
    """The whole program on a screen of its own, without a model."""
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
        time.sleep(IDLE_S)
        own, *others = (one.memory_info().rss / MB for one in program.family())
        row("memory of the window", own, "MB")
        row("memory of its server, without a model", sum(others), "MB")
        row("processor when idle, all together", idle_share(program.family()[0]), "% of a core")
        program.end()


def row(name: str, number: float, unit: str) -> None:
    sys.stdout.write(f"{name:<34}{number:10.2f} {unit}\n")
    sys.stdout.flush()


def main() -> None:
    with serving() as server:
        row("server listens after", time.monotonic() - server.began, "s")
        row("memory without a model", memory(server)[0], "MB")
        wait_for(server.process, "Ready: ")
        row("starter model is ready after", time.monotonic() - server.began, "s")
        first, speed = ask(server)
        row("first token, first question", first, "s")
        first, speed = ask(server)
        row("first token, same question again", first, "s")
        row("speed", speed, "tokens/s")
        row("processor when idle", idle_share(psutil.Process(server.process.pid)), "% of a core")
        own, workers = memory(server)
        row("memory of the server", own, "MB")
        row("memory of the worker", workers, "MB")
    window()


if __name__ == "__main__":
    main()
