"""Observable state (Value) and events (Signal), for windows and other listeners."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
Disconnect = Callable[[], None]
TELL_S = 0.5
"""Seconds between two publications of `Recent`."""


class Signal(Generic[T]):
    """An event that happens. Listeners are called in the order in which they connected."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[T], None]] = []

    def connect(self, listener: Callable[[T], None]) -> Disconnect:
        self._listeners.append(listener)

        def disconnect() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return disconnect

    def emit(self, item: T) -> None:
        for listener in tuple(self._listeners):
            listener(item)


class Value(Generic[T]):
    """A current value. Connecting replays it, so that late listeners are up to date."""

    def __init__(self, initial: T) -> None:
        self._current = initial
        self._changed: Signal[T] = Signal()

    def get(self) -> T:
        return self._current

    def set(self, item: T) -> None:
        if item == self._current:
            return
        self._current = item
        self._changed.emit(item)

    def connect(self, listener: Callable[[T], None]) -> Disconnect:
        listener(self._current)
        return self._changed.connect(listener)


class Recent(Generic[T]):
    """The most recent of many items, published at most twice a second.

    Of items with the same key only the newest is kept, so that none crowds out the others.
    """

    def __init__(self, keep: int, key: Callable[[T], Hashable]) -> None:
        self.value: Value[tuple[T, ...]] = Value(())
        self._keep = keep
        self._key = key
        self._kept: dict[Hashable, T] = {}
        self._pause: asyncio.TimerHandle | None = None
        self._is_behind = False

    def add(self, item: T) -> None:
        key = self._key(item)
        self._kept.pop(key, None)
        self._kept[key] = item
        while len(self._kept) > self._keep:
            del self._kept[next(iter(self._kept))]
        self._is_behind = True
        if self._pause is None:
            self._tell()

    def _tell(self) -> None:
        self._pause = None
        if self._is_behind:
            self._is_behind = False
            self.value.set(tuple(self._kept.values()))
            self._pause = asyncio.get_running_loop().call_later(TELL_S, self._tell)
