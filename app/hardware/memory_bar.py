"""How much of the free memory a model takes, by what it is for, drawn to scale."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look import theme
from app.look.controls import Label, row, stack
from app.look.summary import size
from app.look.translate import tr
from server.face.models import Fit

_HEIGHT = 14
_RADIUS = 5.0
_SWATCH = 10


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    size_bytes: int
    colour: str
    """The name of a colour of the theme."""


def parts_of(fit: Fit) -> tuple[Part, ...]:
    memory = fit.memory
    weights = memory.weights + memory.repacked - memory.reclaimable
    found = (
        Part(tr("Weights"), weights, "accent"),
        Part(tr("Context"), memory.cache, "good"),
        Part(tr("Working space"), memory.compute + memory.program, "warn"),
        Part(tr("On the graphics card"), memory.gpu, "muted"),
    )
    return tuple(part for part in found if part.size_bytes > 0)


class _Bar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._parts: tuple[Part, ...] = ()
        self._free = 1
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, parts: tuple[Part, ...], free_bytes: int) -> None:
        self._parts, self._free = parts, free_bytes
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        colours = theme.colours_of(QGuiApplication.palette())
        needed = sum(part.size_bytes for part in self._parts)
        scale = self.width() / max(needed, self._free, 1)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.border))
        painter.drawRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        left = 0.0
        for part in self._parts:
            wide = part.size_bytes * scale
            painter.setBrush(QColor(getattr(colours, part.colour)))
            painter.drawRoundedRect(QRectF(left, 0, max(wide, 2), _HEIGHT), _RADIUS, _RADIUS)
            left += wide
        if needed > self._free:
            painter.fillRect(QRectF(self._free * scale - 1, 0, 2, _HEIGHT), QColor(colours.bad))
        painter.end()


class _Swatch(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.colour = "accent"
        self.setFixedSize(_SWATCH, _SWATCH)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(getattr(theme.colours_of(QGuiApplication.palette()), self.colour)))
        painter.drawRoundedRect(self.rect(), 3, 3)
        painter.end()


class MemoryBar(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.bar = _Bar()
        self._legend = [(_Swatch(), Label("", "small")) for _ in range(4)]
        line = row(spacing=theme.SMALL)
        for swatch, label in self._legend:
            line.addWidget(swatch)
            line.addWidget(label)
            line.addSpacing(theme.SMALL)
        line.addStretch(1)
        column = stack(self.bar, spacing=theme.SMALL)
        column.addLayout(line)
        self.setLayout(column)

    def show_fit(self, fit: Fit) -> None:
        parts = parts_of(fit)
        self.bar.show_parts(parts, fit.free_bytes)
        for number, (swatch, label) in enumerate(self._legend):
            is_there = number < len(parts)
            swatch.setVisible(is_there)
            label.setVisible(is_there)
            if is_there:
                swatch.colour = parts[number].colour
                swatch.update()
                label.setText(f"{parts[number].name} {size(parts[number].size_bytes)}")
        words = ", ".join(f"{part.name} {size(part.size_bytes)}" for part in parts)
        self.setAccessibleName(words)
