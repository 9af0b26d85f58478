"""Every fault of a worker ends in one sentence, and in a worker that answers again."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from server.engine.process import WorkerProcess
from server.engine.watch import WatchLimits
from server.errors import EngineCrashed
from server.events import Piece, PromptProgress, TextDelta
from tests.kit.scripted import QUICK, collect, drain, pieces, says, text_of, until

FAULTS = ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGSTOP", "exit", "garbage", "hang", "close", "child"]
Make = Callable[..., WorkerProcess]


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_in_mid_answer_ends_it_typed_and_the_next_is_answered(
    make: Make, fault: str
) -> None:
    engine = make()
    seen: list[Piece] = []
    with pytest.raises(EngineCrashed) as crash:
        await collect(engine, f"half {fault}", seen)
    assert seen == [PromptProgress(3, 3), TextDelta("half")]
    assert str(crash.value).startswith("The engine stopped: ")
    assert await text_of(engine, "again") == "again"


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_before_the_first_word_is_not_noticed(
    make: Make, tmp_path: Path, fault: str
) -> None:
    assert await text_of(make(), f"first {tmp_path / 'seen'} {fault}") == "second try"


async def test_a_request_that_always_crashes_is_given_up(make: Make) -> None:
    engine = make()
    with pytest.raises(EngineCrashed, match=r"signal 11 \(segmentation fault\)"):
        await pieces(engine, "fault SIGSEGV")
    assert await text_of(engine, "again") == "again"


async def test_the_cause_is_shown_while_it_starts_again(make: Make) -> None:
    engine = make()
    await engine.load()
    reasons: list[str] = []
    engine.state.connect(lambda state: reasons.append(state.reason))
    assert engine.pid
    os.kill(engine.pid, signal.SIGABRT)
    await until(engine, "loading")
    await until(engine, "ready")
    assert "The engine stopped: killed by signal 6 (it aborted). It is being restarted." in (
        reasons
    )
    assert engine.state.get().reason == ""


async def test_a_worker_that_keeps_dying_is_not_started_for_ever(make: Make) -> None:
    engine = make("short-lived.gguf")
    await engine.load()
    state = await until(engine, "failed")
    assert "code 7" in state.reason
    assert engine.pid is None
    await engine.load()
    assert engine.pid


async def test_no_progress_on_an_answer_is_a_hang(make: Make) -> None:
    engine = make()
    stream = engine.generate(says("stuck"))
    assert await anext(stream) == PromptProgress(1, 3)
    with pytest.raises(EngineCrashed, match="no progress on an answer"):
        await drain(stream)


async def test_no_progress_on_a_question_is_one_too(make: Make) -> None:
    engine = make()
    with pytest.raises(EngineCrashed, match="no progress on an answer"):
        await engine.embed(["stuck"])
    assert await engine.tokenize("a") == [97]


async def test_an_idle_worker_that_is_halted_is_replaced(make: Make) -> None:
    engine = make()
    await engine.load()
    first = engine.pid
    assert first
    os.kill(first, signal.SIGSTOP)
    await until(engine, "loading")
    await until(engine, "ready")
    assert engine.pid != first


async def test_a_worker_with_nothing_to_do_is_left_alone(make: Make) -> None:
    engine = make(limits=replace(QUICK, rest_s=1e6))
    assert await text_of(engine, "hello") == "hello"
    before = await calm(engine)
    for _ in range(20):
        await asyncio.sleep(QUICK.tick_s)
    after = (await engine.stats())["pings"]
    assert after - before <= 1
    assert await text_of(engine, "hello again") == "hello again"


async def test_work_for_a_worker_that_was_halted_in_its_rest_is_done_by_another(
    make: Make,
) -> None:
    engine = make(limits=replace(QUICK, rest_s=1e6))
    await engine.load()
    await calm(engine)
    first = engine.pid
    assert first
    os.kill(first, signal.SIGSTOP)
    assert await text_of(engine, "hello") == "hello"
    assert engine.pid != first


async def test_the_end_of_a_worker_is_noticed_in_its_rest(make: Make) -> None:
    engine = make(limits=replace(QUICK, rest_s=1e6))
    await engine.load()
    await calm(engine)
    first = engine.pid
    assert first
    os.kill(first, signal.SIGKILL)
    await until(engine, "loading")
    await until(engine, "ready")
    assert engine.pid != first


async def calm(engine: WorkerProcess) -> int:
    """Waits until no more pings come; how many came."""
    async with asyncio.timeout(30):
        before, now = -1, 0
        while now - before > 1:  # asking is work, after which it is watched for a tick
            before = (await engine.stats())["pings"]
            await asyncio.sleep(5 * QUICK.tick_s)
            now = (await engine.stats())["pings"]
    return now


async def test_closing_ends_a_worker_that_does_not_listen(make: Make) -> None:
    engine = make(limits=WatchLimits(quit_s=0.2))
    await engine.load()
    assert engine.pid
    os.kill(engine.pid, signal.SIGSTOP)
    async with asyncio.timeout(30):
        await engine.close()


async def test_the_workers_lines_are_logged_with_their_level(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "engine")
    await make().load()
    assert ("engine", logging.INFO, "scripted worker up") in caplog.record_tuples


async def test_many_lives_leave_no_descriptor(make: Make) -> None:
    engine = make()
    await engine.load()
    before = psutil.Process().num_fds()
    for _ in range(5):
        with pytest.raises(EngineCrashed):
            await pieces(engine, "half SIGKILL")
        await until(engine, "ready")
    assert psutil.Process().num_fds() == before
