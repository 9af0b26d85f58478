"""A small live plot: the last values as an area, nothing to read off but its shape."""

from collections import deque

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look import theme

KEPT = 240
"""Two minutes at the pace of the core's measurements."""
_HEIGHT = 44
_HEADROOM = 1.15


class Plot(QWidget):
    def __init__(self, role: str) -> None:
        super().__init__()
        self._role = role
        self.values: deque[float] = deque(maxlen=KEPT)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def add(self, value: float, name: str) -> None:
        self.values.append(value)
        most = max(self.values)
        self.setAccessibleName(name)
        self.setAccessibleDescription(f"{value:,.1f} / {most:,.1f}")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.colours_of(QGuiApplication.palette())
        colour = QColor(getattr(colours, self._role))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ground = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.raised))
        painter.drawRoundedRect(ground, theme.CODE_RADIUS, theme.CODE_RADIUS)
        line = self._line(ground)
        if line is not None:
            clip = QPainterPath()
            clip.addRoundedRect(ground, theme.CODE_RADIUS, theme.CODE_RADIUS)
            painter.setClipPath(clip)
            area = QPainterPath(line)
            area.lineTo(ground.right(), ground.bottom())
            area.lineTo(line.pointAtPercent(0).x(), ground.bottom())
            fill = QColor(colour)
            fill.setAlpha(48)
            painter.fillPath(area, fill)
            painter.strokePath(line, QPen(colour, 1.6))
        painter.end()

    def _line(self, ground: QRectF) -> QPainterPath | None:
        """The newest value stands at the right edge."""
        most = max(self.values, default=0.0) * _HEADROOM
        if len(self.values) < 2 or most <= 0:
            return None
        step = ground.width() / (KEPT - 1)
        left = ground.right() - step * (len(self.values) - 1)
        path = QPainterPath()
        for number, value in enumerate(self.values):
            point = QPointF(left + number * step, ground.bottom() - ground.height() * value / most)
            if number:
                path.lineTo(point)
            else:
                path.moveTo(point)
        return path
