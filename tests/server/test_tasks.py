"""Tasks are started only where a loop runs them."""

from server import tasks


def test_without_a_loop_nothing_can_be_started() -> None:
    assert not tasks.can_spawn()


async def test_in_a_loop_it_can() -> None:
    assert tasks.can_spawn()
    assert await tasks.spawn(_one(), "one") == 1


async def _one() -> int:
    return 1
