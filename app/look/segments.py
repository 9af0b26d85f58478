"""A row of choices of which one holds: the parts of a page."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QPushButton, QWidget

from app.look import theme


class Segments(QWidget):
    """The keyboard goes to the chosen one; the arrow keys choose another."""

    chosen = Signal(int)

    def __init__(self, name: str, texts: tuple[str, ...]) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._group = QButtonGroup(self)
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.TINY)
        self.buttons: list[QPushButton] = []
        for number, text in enumerate(texts):
            button = QPushButton(text)
            button.setProperty("kind", "segment")
            button.setCheckable(True)
            button.setAccessibleName(text)
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            self._group.addButton(button, number)
            line.addWidget(button)
            self.buttons.append(button)
        line.addStretch(1)
        self.buttons[0].setChecked(True)
        self._group.idClicked.connect(self.chosen)

    def choose(self, number: int) -> None:
        self.buttons[number].setChecked(True)
        self.chosen.emit(number)

    def set_text(self, number: int, text: str) -> None:
        self.buttons[number].setText(text)
        self.buttons[number].setAccessibleName(text)
