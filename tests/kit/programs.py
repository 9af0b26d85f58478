"""Other programs that tests need, found or started; and the arguments of our own tools."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

START_S = 180
"""How long a program may take to listen, in seconds."""
SETUP = "python3 scripts/setup.py --for test"


def read_arguments(about: str | None, *, takes_names: bool = False) -> list[str]:
    """Returns the arguments of a tool. Without `takes_names` it accepts none, only variables.

    An unknown argument ends the program with the usage, and so does `--help`.
    """
    given = sys.argv[1:]
    unknown = [one for one in given if one.startswith("-") or not takes_names]
    if not unknown:
        return given
    is_help = unknown[0] in ("-h", "--help")
    out = sys.stdout if is_help else sys.stderr
    if not is_help:
        out.write(f"There is no argument '{unknown[0]}'.\n")
    out.write(f"{(about or '').strip()}\n")
    sys.exit(0 if is_help else 2)


def need(*names: str) -> str:
    """Returns the path of the first program that is installed; fails the test if none is."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.fail(f"{' or '.join(names)} is not installed. '{SETUP}' installs or names it.")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found


@contextmanager
def program(command: list[Any], port: int, folder: Path) -> Iterator[str]:
    """Runs a server of another project, from the moment it listens to the end of the block."""
    environment = {
        **os.environ,
        "LANGSMITH_TRACING": "false",
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "DO_NOT_TRACK": "1",
    }
    with (
        (folder / f"output-{port}.txt").open("wb") as output,
        subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            _wait_until_listening(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_until_listening(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        break
    pytest.fail("A program the test needs did not start; its output file says why.")
