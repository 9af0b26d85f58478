"""Runs a long command and shows how far it is; what it printed is told only when it fails."""

import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from scripts.bootstrap.say import SetupFailed, Ticker, say

KEPT_LINES = 30


@dataclass(frozen=True)
class LongCommand:
    title: str
    arguments: list[str]
    detail: Callable[[str], str | None]
    """What a line of output says about progress, if anything."""
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


def _end(child: "subprocess.Popen[str]") -> None:
    """With all it started: a compiler must not go on for a set-up that was interrupted."""
    if sys.platform == "win32":
        child.terminate()
    else:
        os.killpg(child.pid, signal.SIGTERM)


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
