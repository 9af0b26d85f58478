"""The log of one plugin: its last lines, read when one asks for them."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.look import theme
from app.look.code_box import CodeBox
from app.look.controls import Button, CopyButton, row
from app.look.translate import tr

_MOST_LINES = 14


class PluginLog(QWidget):
    wanted = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.read = Button(
            tr("Show its log"), "logs", name=tr("Show the log of {name}").format(name=name)
        )
        self.lines = CodeBox(tr("Log of {name}").format(name=name), _MOST_LINES)
        self.copy = CopyButton(tr("the log"), self.lines.toPlainText)
        self.read.clicked.connect(self.wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        column.addLayout(row(self.read, self.copy, 0))
        column.addWidget(self.lines)
        for hidden in (self.lines, self.copy):
            hidden.hide()

    def show_lines(self, lines: list[str]) -> None:
        self.lines.show_text("\n".join(lines) or tr("Nothing has been written yet."))
        self.lines.show()
        self.copy.setVisible(bool(lines))
        self.read.setText(tr("Read it again"))
        bar = self.lines.verticalScrollBar()
        bar.setValue(bar.maximum())
