"""Tasks are started only where a loop runs them."""

import asyncio

from server import tasks


def test_without_a_loop_nothing_can_be_started() -> None:
    assert not tasks.can_spawn()


async def test_in_a_loop_it_can() -> None:
    assert tasks.can_spawn()
    assert await tasks.spawn(_one(), "one") == 1


async def _one() -> int:
    return 1


async def test_a_paused_limit_ends_later_by_as_long_as_it_was_paused() -> None:
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(60) as limit:
        ends = limit.when()
        assert ends is not None
        began = loop.time()
        with tasks.paused(limit):
            assert limit.when() is None
            await asyncio.sleep(0.01)
        later = limit.when()
        assert later is not None
        assert ends + 0.01 <= later <= ends + loop.time() - began


async def test_a_limit_may_be_left_while_it_is_paused() -> None:
    async with asyncio.timeout(60) as limit:
        pause = tasks.paused(limit)
        pause.__enter__()
        await asyncio.sleep(0)
    pause.__exit__(None, None, None)
    assert limit.when() is None


async def test_a_limit_in_the_clean_up_of_a_cancelled_task_runs_out_as_elsewhere() -> None:
    told: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            except TimeoutError:
                told.append("ran out")
            await asyncio.sleep(0)
            told.append("went on")

    task = tasks.spawn(work(), "work")
    await asyncio.sleep(0)
    await tasks.stop(task)
    assert told == ["ran out", "went on"]
    assert task.cancelled()


async def test_a_task_cancelled_from_outside_while_its_limit_runs_out_is_cancelled() -> None:
    told: list[str] = []

    async def work() -> None:
        try:
            async with asyncio.timeout(0.01):
                try:
                    await asyncio.sleep(60)
                finally:
                    task.cancel()
        except TimeoutError:
            told.append("ran out")

    task = tasks.spawn(work(), "work")
    await asyncio.wait([task])
    assert task.cancelled()
    assert told == []
