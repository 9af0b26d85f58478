"""How much of a model's answer is drawn with its marks, and the rest as plain text.

Qt lays out a whole document at once. A long table or thousands of code words would stop the window,
so only a beginning is drawn; all of it can be read as text, which costs little.
"""

from collections.abc import Callable

from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.code_box import text_to_read
from app.look.controls import Button, Label, row
from app.look.translate import tr

MOST_READ = 400_000
"""Letters of an answer that are looked through for charts and text."""
MOST_LETTERS = 40_000
MOST_LINES = 1_000
MOST_TABLE_ROWS = 200
LONGEST_LINE = 8_000
MOST_MARKS = 6_000
"""Backticks, stars, brackets and the like. Each may begin a piece with a look of its own."""
_MARKS = "`*_[]<>~!|&\\"
_MARK_TABLE = str.maketrans("", "", _MARKS)


class Budget:
    """What may still be drawn of one answer; `is_spent` when something was left out."""

    def __init__(self) -> None:
        self.is_spent = False
        self._letters = MOST_LETTERS
        self._lines = MOST_LINES
        self._rows = MOST_TABLE_ROWS
        self._marks = MOST_MARKS

    def take(self, text: str) -> str:
        """The beginning of the text that can be drawn; a line is left out or cut, never hidden."""
        if self.is_spent:
            return ""
        kept: list[str] = []
        at = 0
        while at <= len(text):
            end = text.find("\n", at, at + LONGEST_LINE + 1)
            is_cut = end < 0 and len(text) - at > LONGEST_LINE
            end = at + LONGEST_LINE if is_cut else len(text) if end < 0 else end
            line = self._line(text[at:end])
            if line is not None:
                kept.append(line)
            self.is_spent = self.is_spent or is_cut
            if self.is_spent:
                break
            at = end + 1
        return "\n".join(kept)

    def _line(self, line: str) -> str | None:
        marks = len(line) - len(line.translate(_MARK_TABLE))
        is_row = line.lstrip().startswith("|") or line.count("|") > 1
        self._letters -= len(line) + 1
        self._lines -= 1
        self._rows -= is_row
        self._marks -= 0 if is_row and marks == line.count("|") else marks
        if min(self._letters, self._lines, self._rows, self._marks) >= 0:
            return line
        self.is_spent = True
        plain = line.translate(_MARK_TABLE)[: max(0, self._letters + len(line))]
        return plain if self._rows >= 0 and self._lines >= 0 and plain.strip() else None


class AllText(QWidget):
    """Says that only a beginning is drawn, and shows all of it as plain text on demand."""

    def __init__(self, name: str, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text
        self.note = Label(tr("Only the beginning is shown."), "small")
        self.button = Button(tr("Show all as text"), "logs", name=tr("Show all as text"))
        self.button.setCheckable(True)
        self.button.toggled.connect(self._turn)
        self.box = QPlainTextEdit()
        self.box.setObjectName("code")
        self.box.setReadOnly(True)
        self.box.setUndoRedoEnabled(False)
        self.box.setTabChangesFocus(True)
        self.box.setAccessibleName(name)
        self.box.setFont(theme.mono())
        self.box.setFixedHeight(theme.ALL_TEXT_HEIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        column.addLayout(row(self.note, self.button, 0))
        column.addWidget(self.box)
        self.box.hide()
        self.hide()

    def offer(self, *, offered: bool) -> None:
        self.setVisible(offered)

    def refresh(self) -> None:
        """The text has come to its end."""
        if self.button.isChecked():
            self.box.setPlainText(text_to_read(self._text()))

    def _turn(self, shown: bool) -> None:
        self.button.setText(tr("Hide the text") if shown else tr("Show all as text"))
        self.button.setAccessibleName(self.button.text())
        self.refresh()
        self.box.setVisible(shown)
