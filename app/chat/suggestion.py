"""A question that is asked by pressing it; a long one goes on in a second line."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QVBoxLayout

from app.look import theme
from app.look.controls import Button, Label
from app.look.translate import tr


class Suggestion(Button):
    def __init__(self, text: str) -> None:
        super().__init__(kind="suggestion")
        self._words = Label(wrap=True)
        self._words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.MEDIUM, theme.SMALL, theme.MEDIUM, theme.SMALL)
        self._column.addWidget(self._words)
        policy = self.sizePolicy()
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.ask(text)

    @property
    def question(self) -> str:
        return self._words.text()

    def ask(self, text: str) -> None:
        self._words.setText(text)
        self.setAccessibleName(text or tr("A question to ask"))
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:  # noqa: N802
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        return self._column.totalHeightForWidth(width)

    def sizeHint(self) -> QSize:  # noqa: N802
        return self._column.totalSizeHint()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return self._column.totalMinimumSize()
