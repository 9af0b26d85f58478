"""A real Moat in a separate process, for tests from the outside."""

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, TypeVar

import psutil

from server.system import processes as roles

PATIENCE_S = 180.0
READY = "Ready: "
SERVES = "Moat serves on "
T = TypeVar("T")


class Moat:
    """A server process, with its address, its output and its children."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.address = ""

    @property
    def pid(self) -> int:
        return self.process.pid

    def worker(self) -> psutil.Process:
        return until(lambda: _worker_of(self.pid))

    def family(self) -> list[psutil.Process]:
        own = psutil.Process(self.pid)
        return [own, *own.children(recursive=True)]

    def read_until(self, wanted: str) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith(SERVES):
                self.address = line.removeprefix(SERVES).split()[0]
            if line.startswith(wanted):
                return
        raise AssertionError(f"Moat ended without saying '{wanted}': {self.lines}")


@contextmanager
def serving(
    *arguments: str,
    wait_for: str = READY,
    environment: Mapping[str, str] | None = None,
    port: int | None = 0,
) -> Iterator[Moat]:
    """Runs `moat serve` with the starter model, on any free port. None passes no port at all."""
    asked = () if port is None else ("--port", str(port))
    with started(roles.command("serve", *asked, *arguments), environment or {}) as process:
        moat = Moat(process)
        moat.read_until(wait_for)
        yield moat


def all_gone(processes: list[psutil.Process], within_s: float = PATIENCE_S) -> float:
    """Waits until all processes have ended and returns the seconds; fails after `within_s`."""
    began = time.monotonic()
    until(lambda: all(has_ended(one) for one in processes), within_s)
    return time.monotonic() - began


def has_ended(process: psutil.Process) -> bool:
    """Whether it has ended. A zombie counts: init, its new parent, looks only every two seconds."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def until(found: Callable[[], T | None], within_s: float = PATIENCE_S) -> T:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        result = found()
        if result:
            return result
        time.sleep(0.02)  # it waits for another process, which cannot signal this one
    raise AssertionError("waited in vain")


def post(url: str, body: object) -> IO[bytes]:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    reply: IO[bytes] = urllib.request.urlopen(request, timeout=PATIENCE_S)
    return reply


def chat(text: str, *, stream: bool = True, max_tokens: int = 400) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"messages": [message], "stream": stream, "max_tokens": max_tokens, "ignore_eos": True}


def _worker_of(pid: int) -> psutil.Process | None:
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            if "server.engine.worker" in child.cmdline():
                return child
    return None


@contextmanager
def started(command: list[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={**roles.environment("serve"), **_share_of_cores(), **environment},
    )
    family = [psutil.Process(process.pid)]
    try:
        yield process
    finally:
        with suppress(psutil.Error):
            family += family[0].children(recursive=True)
        for one in family:
            with suppress(psutil.Error):
                one.kill()
        process.communicate()


def _share_of_cores() -> dict[str, str]:
    """Limits the threads per model: threads on the same cores wait for each other at every step."""
    side_by_side = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if side_by_side == 1:
        return {}
    return {"MOAT_MODEL__THREADS": str(max(1, (os.cpu_count() or 1) // side_by_side))}
