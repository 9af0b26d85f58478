"""What came over the wire, line by line, for people who build on these protocols."""

from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.code_box import text_to_read
from app.look.controls import CopyButton, Label, row
from app.look.translate import tr

_MOST_LINES = 5000


class RawEvents(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.lines = QPlainTextEdit()
        self.lines.setObjectName("code")
        self.lines.setReadOnly(True)
        self.lines.setTabChangesFocus(True)
        self.lines.setMaximumBlockCount(_MOST_LINES)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setFont(theme.mono())
        self.lines.setAccessibleName(tr("Raw events"))
        self.lines.setPlaceholderText(tr("The events of the next answer appear here."))
        copy = CopyButton(tr("the raw events"), self.lines.toPlainText, "icon")
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, theme.MEDIUM)
        column.setSpacing(theme.SMALL)
        column.addLayout(row(Label(tr("Raw events"), "section"), 0, copy))
        column.addWidget(self.lines, 1)

    def add(self, line: str) -> None:
        self.lines.appendPlainText(text_to_read(line))

    def clear(self) -> None:
        self.lines.clear()
