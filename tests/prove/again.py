"""Repeats an action in a thread while something else is measured."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def again_and_again(look: Callable[[], None], every_s: float) -> Iterator[None]:
    done = threading.Event()

    def go_on() -> None:
        while not done.wait(every_s):
            look()

    beside = threading.Thread(target=go_on, name="beside", daemon=True)
    beside.start()
    try:
        yield
    finally:
        done.set()
        beside.join()
