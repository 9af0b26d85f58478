"""How long others wait for an answer while something is done to a server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from tests.prove.wire import ask

EVERY_S = 0.1


@dataclass
class Longest:
    seconds: float = 0.0


@contextmanager
def waiting(port: int) -> Iterator[Longest]:
    """Asks for the health of the server all the while."""
    longest, done = Longest(), threading.Event()

    def look() -> None:
        while not done.wait(EVERY_S):
            began = perf_counter()
            ask(port, "GET", "/health")
            longest.seconds = max(longest.seconds, perf_counter() - began)

    looking = threading.Thread(target=look, name="waiting", daemon=True)
    looking.start()
    try:
        yield longest
    finally:
        done.set()
        looking.join()
