"""The running requests of a core without models, without keys and with unlimited room."""

from collections.abc import Callable
from pathlib import Path

from server.core.figures import Figures
from server.core.keys import Keys
from server.core.running_requests import RequestLimits, Requests

MUCH = RequestLimits(slots=1, queue=1 << 30)


def make_requests(
    changed: Callable[[], None] = lambda: None,
    room: RequestLimits = MUCH,
    figures: Figures | None = None,
) -> Requests:
    keys = Keys(Path("no such folder"))
    return Requests(changed, lambda: room, lambda: figures or Figures(lambda: ()), keys)
