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
