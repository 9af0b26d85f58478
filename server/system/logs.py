"""Logs: recent lines in memory, a rotating file, and secrets redacted in both."""

import asyncio
import json
import logging
import logging.handlers
import os
import re
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from server.face.core import LogLine
from server.observe import Signal
from server.system.files import open_private
from server.system.limits import printable

KEPT_LINES = 5000
FILE_BYTES = 2 * 1024 * 1024
HIDDEN = "•••"
FIELDS = "fields"
"""The key of a record's extra fields for a line in JSON."""
_LAYOUT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"

_PATTERNS = (
    (re.compile(r"(?i)(bearer\s+)[^\s\"',]+"), r"\1" + HIDDEN),
    (
        re.compile(
            r"(?i)(\b(?:authorization|x-api-key|api[_-]?key|token|password|secret)\b"
            r"[\"']?\s*[:=]\s*[\"']?)(?!bearer\b)[^\s\"',}&]+"
        ),
        r"\1" + HIDDEN,
    ),
    (re.compile(r"(://)[^/\s:@]+:[^/\s@]+@"), r"\1" + HIDDEN + "@"),
    (re.compile(r"\b(?:hf_|sk-|moat-)[A-Za-z0-9_-]{8,}"), HIDDEN),
)


class Redactor:
    """A filter that replaces known secrets, and text that looks like one, by dots."""

    def __init__(self) -> None:
        self._secrets: frozenset[str] = frozenset()

    def hide(self, secret: str) -> None:
        if len(secret) >= 6:
            # A new set: other threads may be reading the old one.
            self._secrets |= {secret}

    def clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        return printable(text)


class LogRing(logging.Handler):
    """The most recent lines. New ones are sent to listeners on the loop's thread."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.logged: Signal[LogLine] = Signal()
        self._lines: deque[LogLine] = deque(maxlen=KEPT_LINES)
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def bind(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop

    def recent(self, count: int) -> list[LogLine]:
        return list(self._lines)[-count:] if count > 0 else []

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - as in the handlers of the standard library
            self.handleError(record)
            return
        self._count += 1
        level = record.levelname.lower()
        line = LogLine(record.created, level, record.name, text, self._count)
        self._lines.append(line)
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.logged.emit, line)


class Logs:
    """All log handling of a process. Call open() once and close() at the end."""

    def __init__(self, folder: Path | None) -> None:
        self.redactor = Redactor()
        self.ring = LogRing(_Redacting("%(message)s", self.redactor))
        self._handlers: list[logging.Handler] = [self.ring]
        self._is_open = False
        self._as_json = False
        if folder is not None:
            self._add_file(folder)

    def open(self) -> None:
        logging.raiseExceptions = False  # a full disk must not print over the terminal
        root = logging.getLogger()
        root.setLevel(logging.INFO)
        for handler in self._handlers:
            root.addHandler(handler)
        self._is_open = True
        self.ring.bind(asyncio.get_running_loop())

    def write_json(self, *, as_json: bool) -> None:
        """Switches the format of the file and the stream. Lines in memory stay text."""
        self._as_json = as_json
        for handler in self._handlers[1:]:
            handler.setFormatter(self._formatter())

    def write_to(self, stream: TextIO) -> None:
        """Writes to a stream, too: a container's log is what its program prints."""
        handler = logging.StreamHandler(stream)
        handler.setFormatter(self._formatter())
        self._handlers.append(handler)
        if self._is_open:
            logging.getLogger().addHandler(handler)

    def _formatter(self) -> logging.Formatter:
        return (_AsJson if self._as_json else _Redacting)(_LAYOUT, self.redactor)

    def close(self) -> None:
        self.ring.bind(None)
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)
            handler.close()

    def _add_file(self, folder: Path) -> None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / "moat.log"
            os.close(open_private(path, os.O_CREAT | os.O_APPEND))
            handler = _PrivateFile(
                path, maxBytes=FILE_BYTES, backupCount=3, encoding="utf-8", delay=True
            )
        except OSError:
            return  # the ring still works; a read-only or full disk must not stop the app
        handler.setFormatter(self._formatter())
        self._handlers.append(handler)


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """Rotating files that are private to their owner. Text is dropped if the disk is full."""

    def close(self) -> None:
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", opener=open_private)


class _Redacting(logging.Formatter):
    def __init__(self, layout: str, redactor: Redactor) -> None:
        super().__init__(layout)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        return self._redactor.clean(super().format(record))


class _AsJson(_Redacting):
    """A formatter that writes each line as a JSON object, for programs that collect logs."""

    def format(self, record: logging.LogRecord) -> str:
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "source": record.name,
            "message": self._redactor.clean(text),
        }
        for name, value in getattr(record, FIELDS, {}).items():
            line[name] = self._redactor.clean(value) if isinstance(value, str) else value
        return json.dumps(line, ensure_ascii=False)
