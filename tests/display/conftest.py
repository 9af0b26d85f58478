"""Gives the tests of this folder a desktop, and the real program on it."""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.display.desktop import Desktop, missing_programs
from tests.display.program import Program
from tests.kit.programs import SETUP

START = Callable[[Desktop], Program]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.display)


@pytest.fixture(scope="session", autouse=True)
def _needs_programs() -> None:
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    if missing := missing_programs():
        pytest.fail(f"Not installed: {', '.join(missing)}. '{SETUP}' installs or names them.")


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    with Desktop(tmp_path_factory.mktemp("desktop")) as desktop:
        yield desktop


@pytest.fixture
def bare_desktop(tmp_path: Path) -> Iterator[Desktop]:
    """Yields a desktop with a window manager but no tray."""
    folder = tmp_path / "bare"
    folder.mkdir()
    with Desktop(folder, tray=False) as desktop:
        yield desktop


@pytest.fixture
def start(moat_home: Path) -> Iterator[START]:
    """Yields a function that starts `moat` on a desktop, with a free port in its settings."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    started: list[Program] = []

    def begin(desktop: Desktop) -> Program:
        started.append(Program(desktop, moat_home, port))
        return started[-1]

    yield begin
    for program in started:
        program.end()
