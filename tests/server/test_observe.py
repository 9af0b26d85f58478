import asyncio

from server.observe import Recent, Signal, Value


def test_connecting_to_a_value_replays_it_and_then_follows_it():
    seen: list[int] = []
    value = Value(1)
    disconnect = value.connect(seen.append)
    value.set(2)
    disconnect()
    value.set(3)
    assert seen == [1, 2]
    assert value.get() == 3


def test_setting_an_equal_value_tells_nobody():
    seen: list[tuple[int, ...]] = []
    value = Value((1, 2))
    value.connect(seen.append)
    value.set((1, 2))
    assert seen == [(1, 2)]


def test_a_listener_may_disconnect_while_it_is_told():
    seen: list[str] = []
    signal: Signal[str] = Signal()
    disconnect = signal.connect(lambda item: (seen.append(item), disconnect()))
    signal.connect(seen.append)
    signal.emit("a")
    signal.emit("b")
    assert seen == ["a", "a", "b"]


async def test_recent_things_are_told_at_once_then_at_a_steady_pace() -> None:
    recent: Recent[tuple[str, int]] = Recent(2, lambda item: item[0])
    told: list[tuple[tuple[str, int], ...]] = []
    recent.value.connect(told.append)
    for number in range(1000):
        recent.add(("flood", number))
    recent.add(("other", 1))
    assert told == [(), (("flood", 0),)]
    async with asyncio.timeout(30):
        while len(told) < 3:
            await asyncio.sleep(0.01)
    assert told[2] == (("flood", 999), ("other", 1))
    recent.add(("third", 1))
    async with asyncio.timeout(30):
        while len(told) < 4:
            await asyncio.sleep(0.01)
    assert told[3] == (("other", 1), ("third", 1))
