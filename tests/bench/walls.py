"""Measures what the walls cost when a plugin's program starts: `python -m tests.bench.walls`."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from server.plugins.walls import walls as walls
from tests.kit.programs import read_arguments

STARTS = 15
KINDS: tuple[walls.Kind, ...] = ("", "bubblewrap", "namespaces")


def start_s(by: walls.Kind, room: walls.Room) -> float:
    command = walls.walled([sys.executable, "-I", "-c", ""], room, by)
    took = []
    for _ in range(STARTS):
        begun = time.perf_counter()
        subprocess.run(command, check=True)
        took.append(time.perf_counter() - begun)
    return median(took)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        room = walls.Room(Path(name), Path(name) / "scratch")
        room.scratch.mkdir()
        plain = start_s("", room)
        for by in KINDS:
            took = start_s(by, room)
            told = f"{took * 1000:6.0f} ms, {took / plain:.1f} times a plain start"
            sys.stdout.write(f"{by or 'no walls':12} {told}\n")


if __name__ == "__main__":
    read_arguments(__doc__)
    main()
