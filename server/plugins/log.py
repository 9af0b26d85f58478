"""A plugin's own log: the last lines in memory, more in a small file, without secrets."""

import logging
import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

KEPT_LINES = 500
LONGEST_LINE = 2000
FILE_BYTES = 512 * 1024


class Journal:
    def __init__(self, path: Path, clean: Callable[[str], str]) -> None:
        self._path = path
        self._clean = clean
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)

    def note(self, text: str) -> None:
        for line in self._clean(text)[: LONGEST_LINE * 4].splitlines():
            stamped = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line[:LONGEST_LINE]}"
            self._lines.append(stamped)
            self._write(stamped)

    def recent(self, count: int) -> list[str]:
        return list(self._lines)[-count:] if count > 0 else []

    def _write(self, line: str) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > FILE_BYTES:
                self._path.replace(self._path.with_suffix(".old.log"))
            handle = os.open(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            log.debug("A plugin's log could not be written: %s", error.strerror)
