"""A slider over a few sensible values, with the chosen one in words."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QSlider, QWidget

from app.look.controls import Label, row, stack


class _Steps(QSlider):
    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # Scrolling the page must not change a value under the pointer.
        event.ignore()


class Slider(QWidget):
    changed = Signal()

    def __init__(self, title: str, words: Callable[[Any], str], note: str = "") -> None:
        super().__init__()
        self._values: Sequence[Any] = (0,)
        self._words = words
        self.title = Label(title)
        self.chosen = Label("", "section")
        self.note = Label("", "small", wrap=True)
        self.slider = _Steps(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName(title)
        self.slider.setAccessibleDescription(note)
        self.slider.valueChanged.connect(self._moved)
        column = stack()
        column.addLayout(row(self.title, 0, self.chosen))
        column.addWidget(self.slider)
        column.addWidget(self.note)
        self.setLayout(column)
        self.note.tell(note)

    def offer(self, values: Sequence[Any], chosen: Any) -> None:
        """These values; the one nearest to `chosen` is shown."""
        self._values = values
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(values) - 1)
            self.slider.setPageStep(max(1, len(values) // 10))
            self.slider.setValue(_nearest(values, chosen))
        self._tell()

    def value(self) -> Any:
        return self._values[self.slider.value()]

    def _moved(self) -> None:
        self._tell()
        self.changed.emit()

    def _tell(self) -> None:
        words = self._words(self.value())
        self.chosen.setText(words)
        # A screen reader would else say only the number of the step.
        self.slider.setAccessibleName(f"{self.title.text()}: {words}")


def _nearest(values: Sequence[Any], chosen: Any) -> int:
    if chosen in values:
        return list(values).index(chosen)
    distances = [abs(value - chosen) if value is not None else float("inf") for value in values]
    return distances.index(min(distances))
