"""The log as a list model: bounded, filtered, filled in batches however fast lines come."""

import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTimer,
    Signal,
)

from server.face.core import LogLine

MOST_LINES = 50_000
_FLUSH_MS = 100
_TRIM = MOST_LINES // 10
LEVELS = ("debug", "info", "warning", "error")
_RANKS = {**{name: rank for rank, name in enumerate(LEVELS)}, "critical": len(LEVELS)}

LINE_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class LogLines(QAbstractListModel):
    """`add` costs next to nothing; ten times a second what came is filtered and shown."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._new: deque[LogLine] = deque(maxlen=MOST_LINES)
        self._shown: list[LogLine] = []
        self._least = _RANKS["info"]
        self._text = ""
        self._paused = False
        self._cleared_at = float("-inf")
        self._flush = QTimer(self)
        self._flush.setSingleShot(True)
        self._flush.setInterval(_FLUSH_MS)
        self._flush.timeout.connect(self.flush)

    def add(self, line: LogLine) -> None:
        self._new.append(line)
        if not self._flush.isActive():
            self._flush.start()

    def recall(self, earlier: Iterable[LogLine]) -> None:
        """Put lines among those already here that were logged before, each once.

        What was cleared stays away.
        """
        known = set(self._all) | set(self._new)
        since = self._cleared_at
        missing = [line for line in earlier if line.at > since and line not in known]
        if missing:
            merged = sorted([*self._all, *missing], key=lambda line: line.at)
            self._all = deque(merged, maxlen=MOST_LINES)
            self._show_all()

    def flush(self) -> None:
        if not self._paused and self._new:
            came = list(self._new)
            self._new.clear()
            self._all.extend(came)
            self._append([line for line in came if self._matches(line)])
        self.changed.emit()

    def filter(self, level: str, text: str) -> None:
        self._least = _RANKS[level]
        self._text = text.casefold()
        self._show_all()

    def pause(self, *, paused: bool) -> None:
        self._paused = paused
        self.flush()

    def clear(self) -> None:
        self._cleared_at = time.time()
        self.beginResetModel()
        for lines in (self._all, self._new, self._shown):
            lines.clear()
        self.endResetModel()
        self.changed.emit()

    @property
    def waiting(self) -> int:
        return len(self._new)

    def rowCount(self, parent: _Index = _NOWHERE) -> int:  # noqa: N802
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self._shown[index.row()]
        if role == LINE_ROLE:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return as_text([line])
        return None

    def lines(self) -> tuple[LogLine, ...]:
        return tuple(self._shown)

    def _show_all(self) -> None:
        self.beginResetModel()
        self._shown = [line for line in self._all if self._matches(line)]
        self.endResetModel()
        self.changed.emit()

    def _append(self, lines: list[LogLine]) -> None:
        if not lines:
            return
        over = len(self._shown) + len(lines) - MOST_LINES
        if over > 0:
            # In larger steps, because taking from the front of a list moves all the rest.
            drop = min(len(self._shown), max(over, _TRIM))
            self.beginRemoveRows(QModelIndex(), 0, drop - 1)
            del self._shown[:drop]
            self.endRemoveRows()
        first = len(self._shown)
        self.beginInsertRows(QModelIndex(), first, first + len(lines) - 1)
        self._shown.extend(lines)
        self.endInsertRows()

    def _matches(self, line: LogLine) -> bool:
        if _RANKS.get(line.level, 0) < self._least:
            return False
        if not self._text:
            return True
        return self._text in line.text.casefold() or self._text in line.source.casefold()


def as_text(lines: Iterable[LogLine]) -> str:
    return "\n".join(
        f"{clock(line.at)} {line.level:<7} {line.source}: {line.text}" for line in lines
    )


def clock(at: float) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}.{int(at % 1 * 1000):03d}"
