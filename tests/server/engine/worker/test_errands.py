"""What a worker tells of the work it does outside of steps."""

import queue
import threading
from typing import Any

from server.engine.worker.main import Worker


class Frames:
    """Both ends of a worker's pipe."""

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._sent: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.receive = self._given.get
        self.received_bytes = 0
        self.send = self._sent.put

    def give(self, **frame: Any) -> None:
        self._given.put(frame)

    def sent(self) -> dict[str, Any]:
        return self._sent.get(timeout=30)

    def end(self) -> None:
        self._given.put(None)


class Asked:
    """Answers when it may."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def answer(self, _what: str, _question: dict[str, Any], _is_wanted: object) -> str:
        self.may_answer.wait(60)
        return "done"


def test_a_pong_tells_of_errands_in_hand_and_done() -> None:
    frames, asked = Frames(), Asked()
    worker = Worker(frames, None)  # type: ignore[arg-type]
    worker._asks = asked  # type: ignore[assignment]
    serving = threading.Thread(target=worker.serve)
    serving.start()
    for number in (1, 2):
        frames.give(op="ask", id=number, what="render", **{"with": {}})
    frames.give(op="ping", id=3)
    pong = frames.sent()
    assert (pong["errands"], pong["errands_done"]) == (2, 0)
    asked.may_answer.set()
    assert [frames.sent()["id"], frames.sent()["id"]] == [1, 2]
    while pong["errands_done"] < 2:
        frames.give(op="ping", id=4)
        pong = frames.sent()
    assert pong["errands"] == 0
    frames.end()
    serving.join(60)
