"""The Logs page: live lines, filtered by level and text, to pause and to copy."""

import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QVBoxLayout,
)

from app.look import theme
from app.look.controls import Button, CopyButton, Label, delay, row, search_field
from app.look.page import Page
from app.look.theme import Colours
from app.look.translate import numeral, tr
from server.errors import LinkLost
from server.face.core import Face, LogLine
from server.system.limits import one_line

MOST_LINES = 50_000
"""The most lines that are kept; older lines are dropped."""
_FLUSH_MS = 100
_TRIM = MOST_LINES // 10
LEVELS = ("debug", "info", "warning", "error")
_RANKS = {**{name: rank for rank, name in enumerate(LEVELS)}, "critical": len(LEVELS)}

LINE_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()


class LogLines(QAbstractListModel):
    """The model of the log. `add` is cheap; ten times a second new lines are filtered and shown."""

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
        self._flush = delay(self, _FLUSH_MS, self.flush)

    def add(self, line: LogLine) -> None:
        self._new.append(line)
        if not self._flush.isActive():
            self._flush.start()

    def recall(self, earlier: Iterable[LogLine]) -> None:
        """Inserts earlier lines by their time, each once. Lines from before `clear` stay away."""
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

    @property
    def has_hidden(self) -> bool:
        """Whether there are lines that the filter hides."""
        return len(self._all) > len(self._shown)

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
            # Drop many at once, because removing from the front of a list moves all the rest.
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


_PAINTED = 2000
"""The most characters of a line that are measured; no screen shows more."""
_LEVEL_WORDS = {"warning": "warn", "critical": "fatal"}


class LogView(QTableView):
    """A table of log lines. It follows the newest line unless the person scrolls up.

    A list view would lay out all lines for each batch. A table with rows of one height does not.
    """

    def __init__(self, lines: LogLines) -> None:
        super().__init__()
        self.setAccessibleName(tr("Log lines"))
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setItemDelegate(_Painter(self))
        self.setModel(lines)
        self.horizontalHeader().hide()
        self.horizontalHeader().setStretchLastSection(True)
        rows = self.verticalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(QFontMetrics(_font()).height() + 2 * theme.ROW_PADDING)
        self._lines = lines
        self._following = True
        bar = self.verticalScrollBar()
        bar.valueChanged.connect(self._look)
        bar.rangeChanged.connect(self._follow)

    def chosen(self) -> tuple[LogLine, ...]:
        """Returns the selected lines in order, or all shown lines if none is selected."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        lines = self._lines.lines()
        return tuple(lines[row] for row in rows) if rows else lines

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if event.matches(QKeySequence.StandardKey.Copy):
            event.ignore()
            return
        super().keyPressEvent(event)

    def _look(self, value: int) -> None:
        self._following = value >= self.verticalScrollBar().maximum() - theme.HUGE

    def _follow(self, _least: int, most: int) -> None:
        if self._following:
            self.verticalScrollBar().setValue(most)


class _Painter(QStyledItemDelegate):
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        line: LogLine = index.data(LINE_ROLE)
        box: QRect = option.rect  # type: ignore[attr-defined,unused-ignore]
        state: QStyle.StateFlag = option.state  # type: ignore[attr-defined,unused-ignore]
        colours = theme.colours_of(option.palette)  # type: ignore[attr-defined,unused-ignore]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, QColor(colours.accent_soft))
        painter.setFont(_font())
        metrics = QFontMetrics(_font())
        left = box.left() + theme.MEDIUM
        level = _level_colour(line.level, colours)
        for text, width, colour in (
            (clock(line.at), 13, colours.muted),
            (_LEVEL_WORDS.get(line.level, line.level), 6, level),
            (line.source, 18, colours.muted),
            (line.text, 0, level if level == colours.bad else colours.text),
        ):
            room = metrics.averageCharWidth() * width or box.right() - left - theme.MEDIUM
            cut = metrics.elidedText(
                one_line(text[:_PAINTED]), Qt.TextElideMode.ElideRight, room - theme.SMALL
            )
            painter.setPen(QColor(colour))
            painter.drawText(
                QRect(left, box.top(), room, box.height()), Qt.AlignmentFlag.AlignVCenter, cut
            )
            left += room


def _font() -> QFont:
    font = theme.mono()
    font.setPixelSize(theme.LOG_TEXT_PX)
    return font


def _level_colour(level: str, colours: Colours) -> str:
    return {
        "warning": colours.warn,
        "error": colours.bad,
        "critical": colours.bad,
        "info": colours.accent,
    }.get(level, colours.muted)


_RECENT = 5000
"""How many earlier lines are requested."""
_TYPING_MS = 150
"""Milliseconds after the last key before the filter is applied."""
LEVEL_CHOICES = (
    ("Everything", "debug"),
    ("Info and above", "info"),
    ("Warnings and errors", "warning"),
    ("Errors only", "error"),
)


class LogsPage(Page):
    title = "Logs"
    icon = "logs"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.lines = LogLines(self)
        self.view = LogView(self.lines)
        self.level = QComboBox()
        self.search = search_field(tr("Filter by text"))
        self.pause = Button(tr("Pause"), "pause")
        self.copy = CopyButton(tr("the visible or selected lines"), self._copied, "icon")
        self.clear = Button("", "trash", "icon", name=tr("Clear the list"))
        self.count = Label("", "small")
        self.empty = Label("", "muted")
        self.detail = Label("", "small", wrap=True)
        self._typing = delay(self, _TYPING_MS, self._filter)
        self._prepare()
        self._lay_out()
        self.show_count()
        self.observe(core.logged, self.lines.add)
        self.observe(core.server, lambda _: self.run(self._recall()))

    def show_count(self) -> None:
        shown = self.lines.rowCount()
        words = tr("1 line") if shown == 1 else tr("{count} lines")
        text = words.format(count=numeral(shown))
        if self.pause.isChecked():
            waiting = tr("{count} new").format(count=numeral(self.lines.waiting))
            text = f"{tr('Paused')}  ·  {waiting}  ·  {text}"
        self.count.setText(text)
        none = tr("No line matches the filter.") if self.lines.has_hidden else tr("No lines yet.")
        self.empty.tell("" if shown else none)

    def show_detail(self) -> None:
        """Shows the whole of a selected line, which the list may cut."""
        chosen = self.view.selectionModel().selectedIndexes()
        self.detail.tell(as_text(self.view.chosen()) if len(chosen) == 1 else "")

    async def _recall(self) -> None:
        """Fetches earlier lines. Called for each change of the server, which may be a new one."""
        with suppress(LinkLost):
            self.lines.recall(await self.core.recent_logs(_RECENT))

    def _copied(self) -> str:
        return as_text(self.view.chosen())

    def _filter(self) -> None:
        self.lines.filter(self.level.currentData(), self.search.text())
        self.view.scrollToBottom()

    def _paused(self, paused: bool) -> None:
        self.lines.pause(paused=paused)
        self.pause.setText(tr("Resume") if paused else tr("Pause"))
        self.pause.set_icon("play" if paused else "pause", self.pause.text())

    def _prepare(self) -> None:
        for words, level in LEVEL_CHOICES:
            self.level.addItem(tr(words), level)
        self.level.setCurrentIndex(1)
        self.level.setAccessibleName(tr("Minimum level"))
        self.level.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        # Both may become narrow: in a small window the buttons need the room.
        self.search.setMinimumWidth(theme.LEAST_SEARCH)
        self.level.setMinimumWidth(theme.LEAST_SEARCH)
        self.level.currentIndexChanged.connect(self._filter)
        self.search.textChanged.connect(lambda _: self._typing.start())
        self.pause.setCheckable(True)
        self.pause.toggled.connect(self._paused)
        self.clear.clicked.connect(self.lines.clear)
        self.lines.changed.connect(self.show_count)
        self.view.selectionModel().selectionChanged.connect(self.show_detail)
        copying = QAction(tr("Copy"), self)
        copying.setShortcut(QKeySequence.StandardKey.Copy)
        copying.triggered.connect(self.copy.click)
        self.view.addAction(copying)

    def _lay_out(self) -> None:
        self.detail.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*([theme.PAGE_MARGIN] * 4))
        layout.setSpacing(theme.MEDIUM)
        layout.addLayout(row(Label(tr("Logs"), "title"), 0, self.count))
        bar = row(self.search, self.level, self.pause, self.copy, self.clear)
        bar.setStretch(0, 1)
        layout.addLayout(bar)
        layout.addWidget(self.empty)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.detail)
