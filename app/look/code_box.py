"""A few lines to paste elsewhere, in a box that is as tall as they are."""

from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QPlainTextEdit

from app.look import theme
from server.system.limits import printable

LONGEST_LINE = 1000
"""Letters: Qt lays a line out as a whole, however little of it is seen."""


class CodeBox(QPlainTextEdit):
    def __init__(self, name: str, most_lines: int = 24) -> None:
        super().__init__()
        self._most_lines = most_lines
        self.setObjectName("code")
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName(name)
        self.setFont(theme.mono())
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)

    def show_text(self, text: str) -> None:
        text = text_to_read(text)
        if text == self.toPlainText():
            return
        self.setPlainText(text)
        lines = min(text.count("\n") + 1, self._most_lines)
        high = QFontMetrics(self.font()).lineSpacing() * lines
        self.setFixedHeight(high + 2 * theme.CODE_PADDING + theme.SMALL)


def text_to_read(text: str) -> str:
    """Plain text as a box lays it out quickly: lines without end go on in the next one."""
    return "\n".join(
        line[at : at + LONGEST_LINE]
        for line in printable(text).split("\n")
        for at in range(0, max(1, len(line)), LONGEST_LINE)
    )
