"""A lock on a file, for one process at a time. The system releases it when its holder dies."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scripts.bootstrap.say import Ticker
from server.system.files import try_lock


@contextmanager
def held(path: Path, waiting: str) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(file, waiting)
        yield
    finally:
        os.close(file)


def _wait_for(file: int, waiting: str) -> None:
    ticker = Ticker(waiting)
    while True:
        try:
            try_lock(file)
        except OSError:
            ticker.show("")
            time.sleep(0.2)
        else:
            return
