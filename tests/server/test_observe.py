from server.observe import Signal, Value


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
