"""How long others wait for an answer while something is done to a server."""

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
    """Asks for the health of the server all the while."""
    longest = Longest()

    def look() -> None:
        began = perf_counter()
        ask(port, "GET", "/health")
        longest.seconds = max(longest.seconds, perf_counter() - began)

    with again_and_again(look, EVERY_S):
        yield longest
