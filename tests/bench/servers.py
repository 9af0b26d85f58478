"""The two servers that are compared: Moat, and llama.cpp's own server of the same build."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

PATIENCE_S = 120.0
LOOK_EVERY_S = 0.2
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Shape:
    """The configuration that both servers share."""

    model: Path
    slots: int
    context_tokens: int
    threads: int
    gpu_layers: int = 0
    ours: dict[str, Any] = field(default_factory=dict)
    """Additional settings of Moat's model."""
    theirs: tuple[str, ...] = ("-fa", "off", "-no-kvu")
    """Additional options of llama-server."""


@dataclass(frozen=True, slots=True)
class Server:
    name: str
    port: int
    process: "subprocess.Popen[bytes]"

    def rss_mb(self) -> float:
        return sum(one.memory_info().rss for one in self._family()) / (1 << 20)

    def used_s(self) -> float:
        """Returns the processor time used so far."""
        times = [one.cpu_times() for one in self._family()]
        return float(sum(one.user + one.system for one in times))

    def _family(self) -> list[psutil.Process]:
        root = psutil.Process(self.process.pid)
        return [root, *root.children(recursive=True)]


@contextmanager
def moat(shape: Shape) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as home:
        settings = Path(home) / "config" / "settings.json"
        settings.parent.mkdir(parents=True)
        model = {
            "slots": shape.slots,
            "context_tokens": shape.context_tokens,
            "threads": shape.threads,
            "gpu_layers": shape.gpu_layers,
            **shape.ours,
        }
        settings.write_text(json.dumps({"model": model}), encoding="utf-8")
        port = free_port()
        command = [sys.executable, "-m", "app", "serve", "--port", str(port)]
        environment = {**os.environ, "MOAT_HOME": home, "MOAT_MODEL__CALIBRATE": "false"}
        with started("moat", port, [*command, "--model", str(shape.model)], environment) as server:
            yield server


@contextmanager
def llama_server(program: Path, shape: Shape) -> Iterator[Server]:
    port = free_port()
    threads = str(shape.threads)
    command = [
        *(str(program), "-m", str(shape.model), "--port", str(port), "-np", str(shape.slots)),
        *("-c", str(shape.context_tokens * shape.slots), "-t", threads, "-tb", threads),
        *("-ngl", str(shape.gpu_layers), *shape.theirs, "--no-webui"),
    ]
    with started("llama-server", port, command, dict(os.environ)) as server:
        yield server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(
    name: str, port: int, command: list[str], environment: dict[str, str]
) -> Iterator[Server]:
    process = subprocess.Popen(
        command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(name, port, process)
        yield Server(name, port, process)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(name: str, port: int, process: "subprocess.Popen[bytes]") -> None:
    """Waits for a first short answer: only then is the model loaded in either server."""
    body = {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"{name} ended with {process.returncode} before it answered.")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(LOOK_EVERY_S)
    sys.exit(f"{name} did not answer within {PATIENCE_S:g} seconds.")
