"""A chart widget: axes, marks, slices and a legend. It is read with the pointer or arrow keys."""

import html
import math
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.charts.figure import Figure, describe, kind_words, number, point_words, shares
from app.look import theme
from app.look.theme import Colours
from app.look.translate import numeral

_HOLE = 0.56
"""The size of a ring's hole, as a share of the ring."""
_PULLED = 5.0
"""How far the slice under the pointer is moved out, in pixels."""


def square(room: QRectF) -> QRectF:
    side = min(room.width(), room.height()) - 2 * _PULLED
    found = QRectF(0, 0, side, side)
    found.moveCenter(room.center())
    return found


def draw(
    painter: QPainter, figure: Figure, box: QRectF, colours: Colours, pointed: int | None
) -> None:
    angle = 90.0
    painter.setPen(QPen(QColor(colours.surface), 1.5))
    for at, share in enumerate(shares(figure)):
        span = 360.0 * share
        turn = math.radians(angle - span / 2)
        shift = QPointF(math.cos(turn), -math.sin(turn)) * (_PULLED if at == pointed else 0.0)
        slice_box = box.translated(shift)
        path = QPainterPath(slice_box.center())
        path.arcTo(slice_box, angle, -span)
        path.closeSubpath()
        if figure.kind == "donut":
            hole = QPainterPath()
            inner = QRectF(0, 0, box.width() * _HOLE, box.height() * _HOLE)
            inner.moveCenter(slice_box.center())
            hole.addEllipse(inner)
            path = path.subtracted(hole)
        painter.setBrush(colour_of(at, colours))
        painter.drawPath(path)
        angle -= span


def slice_at(figure: Figure, box: QRectF, point: QPointF) -> int | None:
    """Returns the index of the slice under the point; None if there is none."""
    from_middle = point - box.center()
    distance = math.hypot(from_middle.x(), from_middle.y())
    if not 0 < distance <= box.width() / 2:
        return None
    turned = (90.0 - math.degrees(math.atan2(-from_middle.y(), from_middle.x()))) % 360.0
    passed = 0.0
    for at, share in enumerate(shares(figure)):
        passed += 360.0 * share
        if turned < passed:
            return at
    return None


def colour_of(at: int, colours: Colours) -> QColor:
    """Returns the colour of a slice or series. The colours repeat, a little lighter each time."""
    colour = QColor(colours.series[at % len(colours.series)])
    return colour.lighter(100 + 18 * (at // len(colours.series)))


_SIDE = 10.0
_MOST_LINES = 2


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class Legend:
    """A legend. `spots` holds the place of each entry; `height` is that of all entries."""

    spots: tuple[tuple[Entry, QRectF], ...]
    height: float

    @classmethod
    def across(cls, entries: list[Entry], room: QRectF, metrics: QFontMetricsF) -> "Legend":
        line = metrics.height() + theme.TINY
        widest = room.width() / 2
        spots: list[tuple[Entry, QRectF]] = []
        at = QPointF(room.left(), room.top())
        for entry in entries:
            wide = min(metrics.horizontalAdvance(entry.text), widest) + _SIDE + theme.SMALL
            if at.x() + wide > room.right() and at.x() > room.left():
                at = QPointF(room.left(), at.y() + line)
            if at.y() >= room.top() + _MOST_LINES * line:
                break
            spots.append((entry, QRectF(at.x(), at.y(), wide, metrics.height())))
            at.setX(at.x() + wide + theme.LARGE)
        height = at.y() + line - room.top() + theme.TINY if spots else 0.0
        return cls(tuple(spots), height)

    @classmethod
    def downwards(cls, entries: list[Entry], room: QRectF, metrics: QFontMetricsF) -> "Legend":
        line = metrics.height() + theme.TINY
        shown = entries[: max(1, int(room.height() // line))]
        top = room.center().y() - line * len(shown) / 2
        spots = [
            (entry, QRectF(room.left(), top + line * place, room.width(), metrics.height()))
            for place, entry in enumerate(shown)
        ]
        return cls(tuple(spots), line * len(shown))

    def draw(self, painter: QPainter, colours: Colours) -> None:
        metrics = QFontMetricsF(painter.font())
        for entry, box in self.spots:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour_of(entry.place, colours))
            middle = box.center().y()
            square = QRectF(box.left(), middle - _SIDE / 2, _SIDE, _SIDE)
            painter.drawRoundedRect(square, 2, 2)
            painter.setPen(QColor(colours.text))
            words = box.adjusted(_SIDE + theme.SMALL, 0, 0, 0)
            shown = metrics.elidedText(entry.text, Qt.TextElideMode.ElideRight, words.width() + 1)
            painter.drawText(words, Qt.AlignmentFlag.AlignVCenter, shown)


_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""The steps between ticks, times a power of ten."""
_NEAR_ZERO = 0.4
"""An axis starts at 0 if its lowest value is below this share of the highest."""
_SAME = 1e-12
"""The relative difference below which numbers cannot be distinguished on an axis."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A range of values with its ticks, linear or logarithmic."""

    low: float
    high: float
    ticks: tuple[float, ...]
    is_log: bool = False

    def part(self, value: float) -> float:
        """Returns the position of a value: 0 at the low end, 1 at the high end."""
        low, high = self.low, self.high
        if self.is_log:
            value = math.log10(max(value, low))
            low, high = math.log10(low), math.log10(high)
        return (value - low) / (high - low)


def linear(low: float, high: float, most: int = 6) -> Scale:
    largest = max(abs(low), abs(high))
    if high - low <= _SAME * largest:
        spread = largest / 2 or 1.0
        low, high = low - spread, high + spread
    rough = (high - low) / max(most - 1, 1)
    exponent = math.floor(math.log10(rough))
    power = 10.0**exponent
    step = next(one * power for one in _STEPS if one * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(place * step, 12 - exponent) for place in range(first, last + 1))
    return Scale(ticks[0], ticks[-1], ticks)


def logarithmic(low: float, high: float) -> Scale:
    first = math.floor(math.log10(low) + 1e-9)
    last = max(math.ceil(math.log10(high) - 1e-9), first + 1)
    every = max(1, (last - first) // 6)
    ticks = tuple(10.0**power for power in range(first, last + 1, every))
    return Scale(10.0**first, 10.0**last, ticks, is_log=True)


def upwards(figure: Figure) -> Scale:
    """Returns the scale of the values. Bars start at 0, lines near their lowest value."""
    values = [value for series in figure.series for _, value in series.known()]
    if figure.is_stacked:
        values += _heights(figure)
    if figure.is_log and (positive := [value for value in values if value > 0]):
        return logarithmic(min(positive), max(positive))
    low, high = min(values), max(values)
    if figure.kind == "bar" or figure.is_stacked or 0 <= low <= _NEAR_ZERO * high:
        low, high = min(low, 0.0), max(high, 0.0)
    return linear(low, high)


def _heights(figure: Figure) -> list[float]:
    """Returns the top and the bottom of each stack."""
    found = []
    for at in range(len(figure.labels)):
        values = [series.values[at] or 0.0 for series in figure.series]
        found.append(math.fsum(value for value in values if value > 0))
        found.append(math.fsum(value for value in values if value < 0))
    return found


_BAR_SHARE = 0.72
_WIDEST_BAR = 56.0
_LABEL_GAP = 14.0
_DOTS_UNTIL = 60
"""Up to this many points, lines have dots."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The plot area and its scales. It converts values to pixels."""

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
    """Draws a line through the place under the pointer, and enlarges its points."""
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
    """Draws as many labels as fit without touching."""
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
    """Returns the points of a series, on top of the series before it if they are stacked."""
    known = figure.series[place].known()
    if not figure.is_stacked:
        return known
    below = figure.series[:place]
    return [(at, value + sum(one.values[at] or 0.0 for one in below)) for at, value in known]


def _draw_line(
    painter: QPainter, points: list[QPointF], colour: QColor, values: tuple[float | None, ...]
) -> None:
    """Draws a line, with a gap where a number is missing."""
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


_PIE_LEGEND_SHARE = 0.45


class ChartView(QWidget):
    """A chart that can be read with the pointer and the arrow keys."""

    def __init__(self, figure: Figure) -> None:
        super().__init__()
        self.figure = figure
        self.pointed: int | None = None
        """The index of the place under the pointer; None if there is none."""
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
        draw(painter, self.figure, self._pie(), colours, self.pointed)

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
                Entry(f"{label}  {numeral(share, '.1%')}", place)
                for place, (label, share) in enumerate(named)
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
        return square(room)

    def _place_at(self, where: QPointF) -> int | None:
        if self.figure.is_round:
            return slice_at(self.figure, self._pie(), where)
        axes = self._axes(self._legend())
        return axes.nearest(where.x()) if axes.plot.contains(where) else None

    def _tell(self, where: QPoint) -> None:
        if self.pointed is None:
            QToolTip.hideText()
        else:
            # Escape the names: they come from outside, and a tooltip would interpret their markup.
            told = html.escape(point_words(self.figure, self.pointed))
            QToolTip.showText(self.mapToGlobal(where), f"<pre>{told}</pre>", self)

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.sizes_of(QGuiApplication.font()).small)
        return font
