"""Lines, bars and points between two axes."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from app.charts.figure import Figure, number
from app.charts.scale import Scale, linear, upwards
from app.look import theme
from app.look.theme import Colours

_BAR_SHARE = 0.72
_WIDEST_BAR = 56.0
_LABEL_GAP = 14.0
_DOTS_UNTIL = 60


@dataclass(frozen=True, slots=True)
class Axes:
    """Where things stand in the plot."""

    figure: Figure
    plot: QRectF
    up: Scale
    along: Scale | None

    @classmethod
    def of(cls, figure: Figure, room: QRectF, metrics: QFontMetricsF) -> "Axes":
        up = upwards(figure)
        along = linear(min(figure.places), max(figure.places)) if figure.places else None
        left = max(metrics.horizontalAdvance(number(tick)) for tick in up.ticks) + theme.SMALL
        below = metrics.height() + theme.SMALL
        if figure.across:
            below += metrics.height()
        top = metrics.height() / 2
        return cls(figure, room.adjusted(left, top, -theme.SMALL, -below), up, along)

    def x(self, at: int) -> float:
        if self.along is not None:
            return self.plot.left() + self.plot.width() * self.along.part(self.figure.places[at])
        return self.plot.left() + self.slot * (at + 0.5)

    def y(self, value: float) -> float:
        return self.plot.bottom() - self.plot.height() * self.up.part(value)

    @property
    def slot(self) -> float:
        return self.plot.width() / max(len(self.figure.labels), 1)

    def nearest(self, x: float) -> int:
        return min(range(len(self.figure.labels)), key=lambda at: abs(self.x(at) - x))


def draw_axes(painter: QPainter, axes: Axes, colours: Colours) -> None:
    metrics = QFontMetricsF(painter.font())
    plot = axes.plot
    for tick in axes.up.ticks:
        y = axes.y(tick)
        base = tick in (0, axes.up.low)
        painter.setPen(QPen(QColor(colours.strong_border if base else colours.border), 1))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(QColor(colours.muted))
        box = QRectF(0, y - metrics.height() / 2, plot.left() - theme.SMALL, metrics.height())
        painter.drawText(box, Qt.AlignmentFlag.AlignRight, number(tick))
    _draw_labels(painter, axes, metrics)
    if axes.figure.across:
        line = QRectF(
            plot.left(), plot.bottom() + metrics.height() + theme.TINY, plot.width(),
            metrics.height(),
        )  # fmt: skip
        shown = metrics.elidedText(axes.figure.across, Qt.TextElideMode.ElideRight, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignHCenter, shown)


def draw_marks(painter: QPainter, axes: Axes, colours: Colours) -> None:
    if axes.figure.kind == "bar":
        _draw_bars(painter, axes, colours)
        return
    for place, series in enumerate(axes.figure.series):
        colour = QColor(colours.series[place % len(colours.series)])
        points = [QPointF(axes.x(at), axes.y(value)) for at, value in _stacked(axes.figure, place)]
        if axes.figure.kind == "line":
            _draw_line(painter, points, colour, series.values)
        if axes.figure.kind == "scatter" or len(points) <= _DOTS_UNTIL:
            painter.setPen(QPen(QColor(colours.surface), 1))
            painter.setBrush(colour)
            for point in points:
                painter.drawEllipse(point, theme.CHART_DOT, theme.CHART_DOT)


def draw_pointer(painter: QPainter, axes: Axes, at: int, colours: Colours) -> None:
    """A line through the place one looks at, and its points made larger."""
    x = axes.x(at)
    painter.setPen(QPen(QColor(colours.muted), 1, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(x, axes.plot.top()), QPointF(x, axes.plot.bottom()))
    if axes.figure.kind == "bar":
        return
    for place in range(len(axes.figure.series)):
        painter.setPen(QPen(QColor(colours.surface), 1.5))
        painter.setBrush(QColor(colours.series[place % len(colours.series)]))
        for other, value in _stacked(axes.figure, place):
            if other == at:
                side = theme.CHART_DOT + 1.5
                painter.drawEllipse(QPointF(x, axes.y(value)), side, side)


def _draw_labels(painter: QPainter, axes: Axes, metrics: QFontMetricsF) -> None:
    """As many as fit without touching each other."""
    top = axes.plot.bottom() + theme.TINY
    if axes.along is not None:
        for tick in axes.along.ticks:
            x = axes.plot.left() + axes.plot.width() * axes.along.part(tick)
            box = QRectF(x - 40, top, 80, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, number(tick))
        return
    labels = axes.figure.labels
    widest = max(metrics.horizontalAdvance(label) for label in labels) + _LABEL_GAP
    every = max(1, round(min(widest, 120.0) / max(axes.slot, 0.1) + 0.49))
    room = axes.slot * every - theme.TINY
    for at in range(0, len(labels), every):
        shown = metrics.elidedText(labels[at], Qt.TextElideMode.ElideRight, room)
        box = QRectF(axes.x(at) - room / 2, top, room, metrics.height())
        if box.right() <= axes.plot.right() + theme.LARGE:
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, shown)


def _stacked(figure: Figure, place: int) -> list[tuple[int, float]]:
    """The points of a series, on top of those before it when they are stacked."""
    known = figure.series[place].known()
    if not figure.is_stacked:
        return known
    below = figure.series[:place]
    return [(at, value + sum(one.values[at] or 0.0 for one in below)) for at, value in known]


def _draw_line(
    painter: QPainter, points: list[QPointF], colour: QColor, values: tuple[float | None, ...]
) -> None:
    """A gap where a number is missing."""
    path = QPainterPath()
    waiting = iter(points)
    is_down = False
    for value in values:
        if value is None:
            is_down = False
            continue
        point = next(waiting)
        if is_down:
            path.lineTo(point)
        else:
            path.moveTo(point)
        is_down = True
    pen = QPen(colour, theme.CHART_STROKE)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(path, pen)


def _draw_bars(painter: QPainter, axes: Axes, colours: Colours) -> None:
    figure = axes.figure
    side_by_side = 1 if figure.is_stacked else len(figure.series)
    wide = min(axes.slot * _BAR_SHARE / side_by_side, _WIDEST_BAR)
    painter.setPen(Qt.PenStyle.NoPen)
    ends: dict[tuple[int, bool], float] = {}
    for place, series in enumerate(figure.series):
        painter.setBrush(QColor(colours.series[place % len(colours.series)]))
        shift = 0.0 if figure.is_stacked else place
        for at, value in series.known():
            start = ends.get((at, value < 0), max(axes.up.low, 0.0))
            end = start + value if figure.is_stacked else value
            if figure.is_stacked:
                ends[at, value < 0] = end
            left = axes.x(at) - wide * side_by_side / 2 + wide * shift
            top, bottom = sorted((axes.y(start), axes.y(end)))
            painter.drawRect(QRectF(left, top, max(wide - 1, 1), max(bottom - top, 1)))
