"""What is new in a list of things: told once each time one comes or changes its phase."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from server.observe import Disconnect, Value

T = TypeVar("T")


class News(Generic[T]):
    """What is there at first is no news; things have an `id` and may have a `phase`."""

    def __init__(self, source: Value[tuple[T, ...]], tell: Callable[[T], None]) -> None:
        self._known = {_key(item) for item in source.get()}
        self._tell = tell
        self.end: Disconnect = source.connect(self._hear)

    def _hear(self, items: tuple[T, ...]) -> None:
        now = {_key(item): item for item in items}
        fresh = [item for key, item in now.items() if key not in self._known]
        self._known = set(now)
        for item in fresh:
            self._tell(item)


def _key(item: Any) -> tuple[Any, Any]:
    return item.id, getattr(item, "phase", "")
