"""Slices of a whole, as a pie or a ring."""

import math

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from app.charts.figure import Figure, shares
from app.look.theme import Colours

_HOLE = 0.56
_PULLED = 5.0


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
    """Which slice is under the pointer."""
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
    """After the last colour they come again, a little different."""
    colour = QColor(colours.series[at % len(colours.series)])
    return colour.lighter(100 + 18 * (at // len(colours.series)))
