"""State that is (Value) and things that happen (Signal): what the screen watches."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Disconnect = Callable[[], None]


class Signal(Generic[T]):
    """Something that happens. Listeners are called in the order they connected."""

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
    """Something that is. Connecting replays the current value, so a late listener is right."""

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
