"""Clients take turns, and the line has an end."""

import numpy as np

from server.engine.worker.request import Request
from server.engine.worker.waiting import WaitingLine


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
