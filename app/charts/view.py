"""A chart in the window: drawn by hand, read off with pointer or arrow keys, told to readers."""

import html

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.charts import pie
from app.charts.figure import Figure, describe, kind_words, point_words, shares
from app.charts.legend import Entry, Legend
from app.charts.marks import Axes, draw_axes, draw_marks, draw_pointer
from app.look import theme
from app.look.theme import Colours

_PIE_LEGEND_SHARE = 0.45


class ChartView(QWidget):
    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self.figure = figure
        self.pointed: int | None = None
        """The place one reads off just now."""
        self.setMinimumHeight(theme.CHART_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setAccessibleName(figure.title or kind_words(figure))
        self.setAccessibleDescription(describe(figure))

    def sizeHint(self) -> QSize:  # noqa: N802
        return QSize(theme.READING_WIDTH, theme.CHART_HEIGHT)

    def point_at(self, at: int | None) -> None:
        if at == self.pointed:
            return
        self.pointed = at
        told = describe(self.figure) if at is None else point_words(self.figure, at)
        self.setAccessibleDescription(told)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        where = event.position()
        self.point_at(self._place_at(where))
        self._tell(where.toPoint())

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        super().leaveEvent(event)
        self.point_at(None)
        QToolTip.hideText()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        last = len(self.figure.labels) - 1
        now = -1 if self.pointed is None else self.pointed
        moves = {
            Qt.Key.Key_Right: min(now + 1, last),
            Qt.Key.Key_Left: max(now - 1, 0),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if event.key() not in moves:
            super().keyPressEvent(event)
            return
        self.point_at(moves[Qt.Key(event.key())])
        self._tell(QPoint(self.width() // 2, self.height() // 3))

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.colours_of(QGuiApplication.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        border = colours.accent if self.hasFocus() else colours.border
        painter.setPen(QPen(QColor(border), 1))
        painter.setBrush(QColor(colours.surface))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, theme.CODE_RADIUS, theme.CODE_RADIUS)
        self._draw_title(painter, colours)
        painter.setFont(self._small())
        if self.figure.is_round:
            self._draw_round(painter, colours)
        else:
            self._draw_plot(painter, colours)
        painter.end()

    def _draw_title(self, painter: QPainter, colours: Colours) -> None:
        if not self.figure.title:
            return
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        metrics = QFontMetricsF(font)
        line = QRectF(theme.LARGE, theme.MEDIUM, self.width() - 2 * theme.LARGE, metrics.height())
        shown = metrics.elidedText(self.figure.title, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft, shown)

    def _draw_plot(self, painter: QPainter, colours: Colours) -> None:
        legend = self._legend()
        legend.draw(painter, colours)
        axes = self._axes(legend)
        draw_axes(painter, axes, colours)
        draw_marks(painter, axes, colours)
        if self.pointed is not None:
            draw_pointer(painter, axes, self.pointed, colours)

    def _draw_round(self, painter: QPainter, colours: Colours) -> None:
        self._legend().draw(painter, colours)
        pie.draw(painter, self.figure, self._pie(), colours, self.pointed)

    def _inside(self) -> QRectF:
        top = theme.MEDIUM
        if self.figure.title:
            top += round(QFontMetricsF(self.font()).height()) + theme.SMALL
        return QRectF(self.rect()).adjusted(theme.LARGE, top, -theme.LARGE, -theme.MEDIUM)

    def _legend(self) -> Legend:
        figure, room = self.figure, self._inside()
        metrics = QFontMetricsF(self._small())
        if figure.is_round:
            room.setLeft(room.left() + room.width() * (1 - _PIE_LEGEND_SHARE))
            named = zip(figure.labels, shares(figure), strict=True)
            entries = [
                Entry(f"{label}  {share:.1%}", place) for place, (label, share) in enumerate(named)
            ]
            return Legend.downwards(entries, room, metrics)
        names = [series.name for series in figure.series]
        entries = [Entry(name, place) for place, name in enumerate(names)] if len(names) > 1 else []
        return Legend.across(entries, room, metrics)

    def _axes(self, legend: Legend) -> Axes:
        room = self._inside()
        room.setTop(room.top() + legend.height)
        return Axes.of(self.figure, room, QFontMetricsF(self._small()))

    def _pie(self) -> QRectF:
        room = self._inside()
        room.setWidth(room.width() * (1 - _PIE_LEGEND_SHARE))
        return pie.square(room)

    def _place_at(self, where: QPointF) -> int | None:
        if self.figure.is_round:
            return pie.slice_at(self.figure, self._pie(), where)
        axes = self._axes(self._legend())
        return axes.nearest(where.x()) if axes.plot.contains(where) else None

    def _tell(self, where: QPoint) -> None:
        if self.pointed is None:
            QToolTip.hideText()
        else:
            # Names come from strangers, and a tooltip would take their markup for markup.
            told = html.escape(point_words(self.figure, self.pointed))
            QToolTip.showText(self.mapToGlobal(where), f"<pre>{told}</pre>", self)

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.sizes_of(QGuiApplication.font()).small)
        return font
