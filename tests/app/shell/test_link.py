import asyncio
import os
import signal
import sys
from asyncio.subprocess import Process
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from app.shell import connection
from app.shell.link import Link, Program, Pulse, _death, keep_serving
from server import tasks
from server.errors import AppError, BadRequest, LinkLost
from server.face.core import Load, LogLine, ServerStatus
from server.settings import Settings
from tests.kit.fake_core import LARGE, SERVING, STARTER, FakeCore
from tests.kit.served_core import serve_core
from tests.kit.until import until

LINE = LogLine(1.5, "info", "server.core.core", "hello")


async def test_every_value_is_mirrored_and_follows(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        await until(lambda: link.face.models.cards.get() == (STARTER, LARGE))
        core.load.set(Load(1, 2, 3.5, 400))
        core.settings.set(Settings().changed("server.port", 8000))
        await until(lambda: link.face.load.get() == Load(1, 2, 3.5, 400))
        await until(lambda: link.face.settings.get().server.port == 8000)
        await tasks.stop(following)


async def test_a_signal_is_heard(core: FakeCore) -> None:
    link = Link()
    heard: list[LogLine] = []
    link.face.logged.connect(heard.append)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.logged.emit(LINE)
        await until(lambda: heard)
        await tasks.stop(following)
    assert heard == [LINE]


async def test_a_listener_that_fails_does_not_end_the_link(core: FakeCore) -> None:
    link = Link()

    def stumble(load: Load) -> None:
        if load.running == 1:
            raise ZeroDivisionError

    link.face.load.connect(stumble)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.load.set(Load(1))
        await until(lambda: link.face.load.get() == Load(1))
        core.load.set(Load(2))
        await until(lambda: link.face.load.get() == Load(2))
        await link.face.load_model("Qwen3-8B")
        await tasks.stop(following)


async def test_a_line_that_is_too_long_is_passed_over(
    core: FakeCore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_LONGEST_LINE", 2**16)
    link = Link()
    heard: list[LogLine] = []
    link.face.logged.connect(heard.append)
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        core.logged.emit(replace(LINE, text="x" * 2**20))
        core.logged.emit(LINE)
        await until(lambda: heard)
        await tasks.stop(following)
    assert heard == [LINE]


async def test_commands_are_sent_with_their_arguments(core: FakeCore) -> None:
    link = Link()
    core.earlier = [LINE]
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        await link.face.load_model("Qwen3-8B")
        await link.face.cancel_request(request_id=7)
        await link.face.change_setting("server.origins", ("https://a.example",))
        assert await link.face.recent_logs(10) == [LINE]
        assert await link.face.access_key() == "the-access-key"
        await tasks.stop(following)
    assert core.commands[:2] == [("load_model", "Qwen3-8B"), ("cancel_request", 7)]
    assert core.settings.get().server.origins == ("https://a.example",)


async def test_a_refused_command_says_why(core: FakeCore) -> None:
    link = Link()
    core.refuse = BadRequest("That port is taken.")
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
        with pytest.raises(AppError, match="That port is taken") as refusal:
            await link.face.start()
        await tasks.stop(following)
    assert refusal.value.code == "invalid_request"


async def test_without_a_core_a_command_says_so() -> None:
    with pytest.raises(LinkLost):
        await Link().face.load_model("Qwen3-8B")


async def test_without_a_core_a_start_is_a_wish_for_one() -> None:
    link = Link()
    await link.face.start()
    assert link.restart.is_set()


async def test_a_wrong_secret_is_refused(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        with pytest.raises(LinkLost):
            await link.follow(address, "another")
    assert link.face.server.get() == ServerStatus()


async def test_the_end_of_the_core_ends_the_stream(core: FakeCore) -> None:
    link = Link()
    async with serve_core(core, "secret") as address:
        following = tasks.spawn(link.follow(address, "secret"), "follow")
        await until(lambda: link.face.server.get() == SERVING)
    async with asyncio.timeout(30):
        await asyncio.wait([following])
    assert following.exception() is None or isinstance(following.exception(), LinkLost)


async def test_without_a_core_nothing_old_is_shown(core: FakeCore) -> None:
    link = Link()
    link.face.models.cards.set((STARTER,))
    link.face.settings.set(Settings().changed("window.theme", "dark"))
    link.show(ServerStatus("failed", reason="It died."))
    assert link.face.models.cards.get() == ()
    assert link.face.server.get().reason == "It died."
    assert link.face.settings.get().window.theme == "dark"


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
    reason = "The server was stopped by the system or another program. It is being restarted."
    assert ServerStatus("failed", reason=reason, details="SIGKILL") in seen
    assert first.pid != second.pid


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (35, "signal 35")])
def test_a_signal_without_a_name_is_said_by_its_number(number: int, name: str) -> None:
    ended = SimpleNamespace(returncode=-number)
    assert _death(cast("Process", ended), bytearray()).details == name


NOT_A_SETTING = "MOAT_WINDOW__NOPE: there is no setting 'nope' in window."
BROKEN = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 5'


@pytest.mark.parametrize(
    ("last_words", "reason"),
    [
        (f"{NOT_A_SETTING}\n", f"The server stopped: {NOT_A_SETTING}"),
        (f"{BROKEN}\n", "The server stopped unexpectedly."),
        (f"{BROKEN[20:]}\n", "The server stopped unexpectedly."),  # only the end was kept
        ("", "The server stopped unexpectedly."),
    ],
)
def test_what_a_child_told_people_is_shown_but_no_traceback(last_words: str, reason: str) -> None:
    ended = cast("Process", SimpleNamespace(returncode=1))
    assert str(_death(ended, bytearray(last_words.encode()))) == reason


async def test_a_child_that_cannot_start_says_its_last_words() -> None:
    link = Link()
    keeping = tasks.spawn(keep_serving(program("fails"), link), "keep")
    await until(lambda: link.face.server.get().phase == "failed")
    await tasks.stop(keeping)
    assert "The server stopped: The model folder is missing" in link.face.server.get().reason
    assert "exit code 3: The model folder is missing" in link.face.server.get().details


async def test_a_child_that_says_something_else_is_not_trusted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.shell.link._CLOSE_S", 60.0)  # on a busy machine its end takes a while
    link = Link()
    keeping = tasks.spawn(keep_serving(program("babbles"), link), "keep")
    await until(lambda: link.face.server.get().phase == "failed")
    await tasks.stop(keeping)
    assert "exit code 0" in link.face.server.get().details


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
    monkeypatch.setattr("app.shell.link._SHORTEST_PAUSE_S", 30.0)
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
