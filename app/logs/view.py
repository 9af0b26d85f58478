"""The list of log lines: only what is on screen is painted."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QKeySequence, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from app.logs.lines import LINE_ROLE, LogLines, clock
from app.look import theme
from app.look.theme import Colours
from app.look.translate import tr
from server.face.core import LogLine
from server.system.limits import one_line

_PAINTED = 2000
"""Letters of a line that are measured: no screen shows more."""
_LEVEL_WORDS = {"warning": "warn", "critical": "fatal"}


class LogView(QTableView):
    """Follows the newest line unless one scrolls up. A list view lays all its lines out again
    for each batch; a table with rows of one height does not."""

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
        """The selected lines in their order, or all that are shown when none is selected."""
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
