"""What is new in a list of things: told once each time one comes or changes its phase."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from server.observe import Disconnect, Value

T = TypeVar("T")


class News(Generic[T]):
    """What is there at first is no news; things have an `id` and may have a `phase`.

    `arrivals`: whether one that comes is news. Not so where things are kept for long: the list is
    empty while there is no server, and what then comes may be of last week.
    """

    def __init__(
        self, source: Value[tuple[T, ...]], tell: Callable[[T], None], *, arrivals: bool = True
    ) -> None:
        self._known = _phases(source.get())
        self._tell = tell
        self._arrivals = arrivals
        self.end: Disconnect = source.connect(self._hear)

    def _hear(self, items: tuple[T, ...]) -> None:
        before, now = self._known, _phases(items)
        self._known = now if self._arrivals else {**before, **now}
        for item in items:
            number = _id(item)
            if before[number] != now[number] if number in before else self._arrivals:
                self._tell(item)


def _phases(items: tuple[Any, ...]) -> dict[Any, Any]:
    return {_id(item): getattr(item, "phase", "") for item in items}


def _id(item: Any) -> Any:
    return item.id
