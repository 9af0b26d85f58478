"""Speed and time left, and a limit that is held."""

import asyncio

from server.models.downloads.download import Throttle, TransferRate


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_speed_is_that_of_the_last_seconds():
    clock = Clock()
    pace = TransferRate(clock)
    assert pace.bytes_per_s == 0
    assert pace.left_s(100) is None
    for _ in range(4):
        pace.add(1000)
        clock.now += 1
    assert pace.bytes_per_s == 1000
    assert pace.left_s(5000) == 5
    clock.now += 60
    assert pace.bytes_per_s == 0


async def test_without_a_limit_nothing_waits():
    clock = Clock()
    throttle = Throttle(lambda: 0, clock)
    await throttle.take(1 << 40)


async def test_a_limit_makes_wait():
    throttle = Throttle(lambda: 100_000, Clock())
    await throttle.take(500)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await throttle.take(4_500)
    assert loop.time() - began >= 0.045
