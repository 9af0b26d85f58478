import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.shell import child
from app.shell.child import Program, keep_serving
from app.shell.link import Link, Pulse
from server import tasks
from server.face.core import ServerStatus
from tests.kit.fake_core import SERVING
from tests.kit.until import until

QUICK = Pulse(every_s=0.2, patience_s=0.3)
ROOT = Path(__file__).resolve().parents[3]


def program(manner: str) -> Program:
    command = [sys.executable, "-m", "tests.kit.served_core", manner]
    return Program(command, {**os.environ, "PYTHONPATH": str(ROOT)})


def children() -> list[psutil.Process]:
    """The programs started here; those of other tests may still be there."""
    every = psutil.Process().children(recursive=True)
    return [one for one in every if "tests.kit.served_core" in one.cmdline()]


async def test_the_child_is_mirrored_until_we_leave() -> None:
    link = Link()
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    assert len(children()) == 1
    await tasks.stop(keeping)
    assert children() == []


async def test_a_link_that_fails_is_tried_again() -> None:
    link = _StumblesOnce()
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    await tasks.stop(keeping)
    assert link.tries == 2


class _StumblesOnce(Link):
    tries = 0

    async def follow(self, address: str, secret: str) -> None:
        self.tries += 1
        if self.tries == 1:
            raise ZeroDivisionError
        await super().follow(address, secret)


async def test_a_killed_child_is_named_and_started_again() -> None:
    link = Link()
    seen: list[ServerStatus] = []
    link.face.server.connect(seen.append)
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    (first,) = children()
    first.send_signal(signal.SIGKILL)
    await until(lambda: link.face.server.get().phase == "failed")
    await until(lambda: link.face.server.get() == SERVING)
    (second,) = children()
    await tasks.stop(keeping)
    reason = "The server was stopped by SIGKILL. It is being restarted."
    assert ServerStatus("failed", reason=reason) in seen
    assert first.pid != second.pid


async def test_a_child_that_cannot_start_says_its_last_words() -> None:
    link = Link()
    keeping = tasks.spawn(keep_serving(program("fails"), link), "keep")
    await until(lambda: link.face.server.get().phase == "failed")
    await tasks.stop(keeping)
    assert "exit code 3: The model folder is missing" in link.face.server.get().reason


async def test_a_child_that_says_something_else_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "_CLOSE_S", 60.0)  # on a busy machine its end takes a while
    link = Link()
    keeping = tasks.spawn(keep_serving(program("babbles"), link), "keep")
    await until(lambda: link.face.server.get().phase == "failed")
    await tasks.stop(keeping)
    assert "exit code 0" in link.face.server.get().reason


async def test_a_program_that_is_not_there_is_said() -> None:
    link = Link()
    missing = Program(["/nowhere/moat"], {})
    keeping = tasks.spawn(keep_serving(missing, link), "keep")
    await until(lambda: link.face.server.get().phase == "failed")
    await tasks.stop(keeping)
    assert "cannot be started" in link.face.server.get().reason


async def test_a_stubborn_child_is_ended() -> None:
    link = Link()
    keeping = tasks.spawn(keep_serving(program("stubborn"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    await tasks.stop(keeping)
    assert children() == []


async def test_a_halted_child_is_shown_and_all_is_well_when_it_goes_on() -> None:
    link = Link(QUICK)
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    (child,) = children()
    child.suspend()
    await until(lambda: link.face.server.get().phase == "hung")
    assert "does not respond" in link.face.server.get().reason
    child.resume()
    await until(lambda: link.face.server.get() == SERVING)
    assert children() == [child]
    await tasks.stop(keeping)


async def test_a_halted_child_is_noticed_at_once_by_who_looks() -> None:
    link = Link(replace(QUICK, every_s=1e6))
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    (child,) = children()
    child.suspend()
    for _ in range(3):  # nobody looks, so nobody asks
        await asyncio.sleep(2 * QUICK.patience_s)
        assert link.face.server.get() == SERVING
    link.look()
    await until(lambda: link.face.server.get().phase == "hung")
    child.resume()
    await until(lambda: link.face.server.get() == SERVING)
    await tasks.stop(keeping)


async def test_a_halted_child_is_replaced_when_asked() -> None:
    link = Link(QUICK)
    keeping = tasks.spawn(keep_serving(program("good"), link), "keep")
    await until(lambda: link.face.server.get() == SERVING)
    (first,) = children()
    first.suspend()
    await until(lambda: link.face.server.get().phase == "hung")
    await link.face.start()
    await until(lambda: link.face.server.get() == SERVING)
    (second,) = children()
    await tasks.stop(keeping)
    assert first.pid != second.pid


async def test_a_start_in_the_pause_after_a_crash_does_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(child, "_SHORTEST_PAUSE_S", 30.0)
    link = Link()
    seen: list[str] = []
    link.face.server.connect(lambda status: seen.append(status.phase))
    keeping = tasks.spawn(keep_serving(Program(["/nowhere/moat"], {}), link), "keep")
    await until(lambda: seen.count("failed") == 1)
    await link.face.start()
    await until(lambda: seen.count("failed") == 2)
    await link.face.start()
    await until(lambda: seen.count("failed") == 3)
    await tasks.stop(keeping)
    assert seen[1:5] == ["failed", "starting", "failed", "starting"]
