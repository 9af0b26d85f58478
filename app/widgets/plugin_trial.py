"""Trying a plugin: a question to one of its flows, and exactly what comes of it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.sentences import told
from app.widgets.code_box import CodeBox
from app.widgets.controls import Button, CopyButton, Label, row
from app.words import tr
from server.abilities import PluginCard, PluginTest

_MOST_LINES = 16


class PluginTrial(QWidget):
    asked = Signal(str, str, str)
    """Flow, question and mode: dry, mock or run."""

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self.flow = QComboBox()
        self.flow.setAccessibleName(tr("Flow to try"))
        for flow in card.flows:
            if flow.usable:
                self.flow.addItem(flow.key, flow.key)
        self.question = QLineEdit(card.question)
        self.question.setPlaceholderText(tr("A question to try it with"))
        self.question.setAccessibleName(tr("A question to try it with"))
        self.modes = {
            "dry": Button(tr("Dry run"), name=tr("Dry run: shows the request, sends nothing")),
            "mock": Button(tr("Mock"), name=tr("Mock: goes on with made-up answers")),
            "run": Button(tr("Run"), "play", name=tr("Run it for real")),
        }
        for mode, button in self.modes.items():
            button.setToolTip(button.accessibleName())
            button.clicked.connect(lambda _=False, mode=mode: self._ask(mode))
        self.state = Label("", "small", wrap=True)
        self.result = CodeBox(tr("What came of it"), _MOST_LINES)
        self.result.hide()
        self.copy = CopyButton(tr("the report"), self.result.toPlainText)
        self.copy.hide()
        self._lay_out()
        self.question.textChanged.connect(lambda _: self._update())
        self.is_empty = self.flow.count() == 0
        self._is_enabled = card.enabled
        self._update()

    def show_card(self, card: PluginCard) -> None:
        self._is_enabled = card.enabled
        self._update()

    def show_test(self, found: PluginTest) -> None:
        self.state.tell(tr("It failed.") if found.failed else tr("Done."))
        self.result.show_text(report(found))
        self.result.show()
        self.copy.show()
        self._update()

    def show_failure(self, sentence: str) -> None:
        self.state.tell(told(sentence))
        self._update()

    def _ask(self, mode: str) -> None:
        for button in self.modes.values():
            button.setEnabled(False)
        self.state.tell(tr("Running…"))
        self.asked.emit(self.flow.currentData(), self.question.text().strip(), mode)

    def _update(self) -> None:
        has_question = bool(self.question.text().strip())
        for mode, button in self.modes.items():
            button.setEnabled(has_question and (mode != "run" or self._is_enabled))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        line = row(self.flow)
        line.addWidget(self.question, 1)
        column.addLayout(line)
        column.addLayout(row(*self.modes.values(), self.copy, 0))
        column.addWidget(self.state)
        column.addWidget(self.result)
        self.state.hide()


def report(found: PluginTest) -> str:
    """Its steps, the requests it made or would make, and its answer."""
    end = told(found.text) if found.failed else found.text
    parts = ["\n".join(found.steps), *found.requests, end]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
