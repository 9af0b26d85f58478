"""Measures how long others wait for an answer while something is done to a server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from tests.prove.again import again_and_again
from tests.prove.wire import ask

EVERY_S = 0.1


@dataclass
class Longest:
    seconds: float = 0.0


@contextmanager
def waiting(port: int) -> Iterator[Longest]:
    """Requests `/health` again and again until the block ends."""
    longest = Longest()

    def look() -> None:
        began = perf_counter()
        ask(port, "GET", "/health")
        longest.seconds = max(longest.seconds, perf_counter() - began)

    with again_and_again(look, EVERY_S):
        yield longest
