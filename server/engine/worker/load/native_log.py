"""llama.cpp's own log as lines on stderr, each with its level."""

import os
from collections.abc import Callable
from typing import Any

from server.engine.worker.load.native import lib, vision

LEVELS = {2: b"info: ", 3: b"warning: ", 4: b"error: "}
CONTINUED = 5
STDERR = 2


class NativeLog:
    """Joins the pieces llama.cpp prints into whole lines; drops its debug chatter."""

    def __init__(self) -> None:
        self._level = b""
        self._line = b""
        self._muted: Callable[[], bool] = bool
        self._callback = lib.llama_log_callback(self._write)

    def install(self) -> None:
        lib.llama_log_set(self._callback, None)
        vision.mtmd_helper_log_set(self._callback, None)

    def mute_while(self, muted: Callable[[], bool]) -> None:
        """An answer that was cancelled is no error, though llama.cpp says so."""
        self._muted = muted

    def _write(self, level: int, text: bytes, _user_data: Any) -> None:
        if level != CONTINUED:
            self._level = LEVELS.get(level, b"")
        self._line += text or b""
        *whole, self._line = self._line.split(b"\n")
        for line in whole:
            if self._level and not self._muted() and line.strip(b". "):
                os.write(STDERR, self._level + line + b"\n")
