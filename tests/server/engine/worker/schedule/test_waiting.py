"""Clients take turns, and the line has an end."""

import sys
import threading

import numpy as np

from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule.scheduler import WaitingLine


def request(request_id: int, client: str) -> Request:
    return Request(request_id, np.zeros(1, np.int32), client=client)


def line_of(*clients: str) -> WaitingLine:
    line = WaitingLine(len(clients))
    assert all(line.join(request(number, client)) for number, client in enumerate(clients))
    return line


def test_a_client_with_many_requests_does_not_hold_up_another() -> None:
    line = line_of("a", "a", "a", "b")
    order = []
    while len(line):
        first = next(line.in_turn())
        line.leave(first, served=True)
        order.append(first.client)
    assert order == ["a", "b", "a", "a"]


def test_a_full_line_takes_nobody() -> None:
    line = line_of("a", "b")
    assert not line.join(request(9, "c"))


def test_who_leaves_without_a_turn_costs_the_client_none() -> None:
    line = line_of("a", "a", "b")
    line.leave(next(line.in_turn()), served=False)
    assert [waiting.id for waiting in line.in_turn()] == [1, 2]


def test_another_thread_may_ask_how_long_the_line_is() -> None:
    line = WaitingLine(100)
    requests = [request(number, str(number)) for number in range(50)]
    failures: list[Exception] = []
    ended = threading.Event()

    def ask() -> None:
        try:
            while not ended.is_set():
                assert 0 <= len(line) <= len(requests)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test tells it
            failures.append(error)

    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(200):
            for one in requests:
                line.join(one)
            for one in requests:
                line.leave(one, served=True)
    finally:
        ended.set()
        asking.join()
        sys.setswitchinterval(usual_s)
    assert failures == []
    assert len(line) == 0
