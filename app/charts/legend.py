"""Which colour is what: names beside little squares, in lines or one under the other."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from app.charts.pie import colour_of
from app.look import theme
from app.look.theme import Colours

_SIDE = 10.0
_MOST_LINES = 2


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    place: int


@dataclass(frozen=True, slots=True)
class Legend:
    """`spots` are where each entry stands; `height` is what they take together."""

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
