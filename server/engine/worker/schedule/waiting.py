"""Requests that wait for a slot: clients take turns, and the line is bounded."""

from collections import OrderedDict, deque
from collections.abc import Iterator

from server.engine.worker.prompt.request import Request


class WaitingLine:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lines: OrderedDict[str, deque[Request]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        """Asked from other threads too, while the line changes: so it is counted along."""
        return self._count

    def join(self, request: Request) -> bool:
        """False when the line is full."""
        if len(self) >= self.limit:
            return False
        self._lines.setdefault(request.client, deque()).append(request)
        self._count += 1
        return True

    def in_turn(self) -> Iterator[Request]:
        """The first of each client in turn, then the second of each, and so on."""
        lines = [list(line) for line in self._lines.values()]
        for place in range(max(map(len, lines), default=0)):
            yield from (line[place] for line in lines if place < len(line))

    def leave(self, request: Request, *, served: bool) -> None:
        """Its turn came (its client goes to the back), or it is cancelled."""
        line = self._lines[request.client]
        line.remove(request)
        self._count -= 1
        if not line:
            del self._lines[request.client]
        elif served:
            self._lines.move_to_end(request.client)
