"""Trying a plugin: a question to a flow, or the arguments of a tool, and what comes of it."""

import json

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLineEdit, QVBoxLayout, QWidget

from app.look import theme
from app.look.code_box import CodeBox
from app.look.controls import Button, CopyButton, Label, hint, row, short_name
from app.look.sentences import told
from app.look.translate import tr
from app.plugins.answer_fields import Unfit
from app.plugins.form_box import AnswerGrid
from server.chat import Json
from server.face.plugins import PluginCard, PluginTest, ToolCard

_MOST_LINES = 16


class PluginTrial(QWidget):
    asked = Signal(str, str, str)
    """Flow, question and mode: dry, mock or run."""
    called = Signal(str, str, str)
    """Tool, arguments as JSON, and mode."""
    tools_wanted = Signal()

    def __init__(self, card: PluginCard) -> None:
        super().__init__()
        self.flow = QComboBox()
        self.flow.setAccessibleName(tr("Flow to try"))
        self.tools: dict[str, ToolCard] = {}
        self.form: AnswerGrid | None = None
        self.finder = Button(tr("Find its tools"), name=tr("Find its tools: starts its programs"))
        self.finder.setToolTip(hint(self.finder.accessibleName()))
        self.finder.setVisible(card.has_tools)
        self.finder.clicked.connect(self._find)
        for flow in card.flows:
            if flow.usable:
                self.flow.addItem(short_name(flow.key), flow.key)
        self.question = QLineEdit(card.question)
        self.question.setPlaceholderText(tr("A question to try it with"))
        self.question.setAccessibleName(tr("A question to try it with"))
        self.modes = {
            "dry": Button(tr("Dry run"), name=tr("Dry run: shows the request, sends nothing")),
            "mock": Button(tr("Mock"), name=tr("Mock: goes on with made-up answers")),
            "run": Button(tr("Run"), "play", name=tr("Run it for real")),
        }
        for mode, button in self.modes.items():
            button.setToolTip(hint(button.accessibleName()))
            button.clicked.connect(lambda _=False, mode=mode: self._ask(mode))
        self.state = Label("", "small", wrap=True)
        self.result = CodeBox(tr("What came of it"), _MOST_LINES)
        self.result.hide()
        self.copy = CopyButton(tr("the report"), self.result.toPlainText)
        self.copy.hide()
        self._lay_out()
        self.question.textChanged.connect(lambda _: self._update())
        self.flow.currentIndexChanged.connect(lambda _: self._choose())
        self.is_empty = self.flow.count() == 0 and not card.has_tools
        self._is_enabled = card.enabled
        self._update()

    def show_card(self, card: PluginCard) -> None:
        self._is_enabled = card.enabled
        self._update()

    def show_tools(self, tools: tuple[ToolCard, ...]) -> None:
        """Behind its flows; what was chosen stays chosen."""
        for tool in tools:
            if tool.key not in self.tools:
                self.flow.addItem(tr("{name} (tool)").format(name=short_name(tool.key)), tool.key)
            self.tools[tool.key] = tool
        self.state.tell("" if tools else tr("It has no tools."))
        self._choose()

    def show_test(self, found: PluginTest) -> None:
        self.state.tell(tr("It failed.") if found.failed else tr("Done."))
        self.result.show_text(report(found))
        self.result.show()
        self.copy.show()
        self._update()

    def show_failure(self, sentence: str) -> None:
        self.state.tell(told(sentence))
        self._update()

    def _find(self) -> None:
        self.state.tell(tr("Running\u2026"))
        self.tools_wanted.emit()

    def _choose(self) -> None:
        """A flow takes a question, a tool its own arguments."""
        tool = self._tool()
        if self.form is not None:
            self._column.removeWidget(self.form)
            self.form.deleteLater()
            self.form = None
        if tool is not None:
            self.form = AnswerGrid(_with_choices(json.loads(tool.schema)))
            self.form.changed.connect(self._update)
            self._column.insertWidget(1, self.form)
        self.question.setHidden(tool is not None)
        self._update()

    def _tool(self) -> ToolCard | None:
        is_flow = self.flow.currentText() == self.flow.currentData()
        return None if is_flow else self.tools.get(self.flow.currentData())

    def _ask(self, mode: str) -> None:
        for button in self.modes.values():
            button.setEnabled(False)
        self.state.tell(tr("Running\u2026"))
        if self.form is None:
            self.asked.emit(self.flow.currentData(), self.question.text().strip(), mode)
        else:
            given = json.dumps(self.form.values(), ensure_ascii=False)
            self.called.emit(self.flow.currentData(), given, mode)

    def _update(self) -> None:
        self.finder.setEnabled(self._is_enabled)
        is_ready = bool(self.question.text().strip()) and self.flow.count() > 0
        if self.form is not None:
            try:
                is_ready = self.form.is_whole()
            except Unfit as error:
                self.state.tell(str(error))
                is_ready = False
        for mode, button in self.modes.items():
            button.setEnabled(is_ready and (mode != "run" or self._is_enabled))

    def _lay_out(self) -> None:
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SMALL)
        line = row(self.flow, self.finder)
        line.addWidget(self.question, 1)
        column.addLayout(line)
        column.addLayout(row(*self.modes.values(), self.copy, 0))
        column.addWidget(self.state)
        column.addWidget(self.result)
        self.state.hide()


def _with_choices(schema: Json) -> Json:
    """A switch that may be left alone is a choice: it is not sent unless it is made."""
    required = schema.get("required", [])
    parts = {
        name: {**part, "enum": [True, False]}
        if part.get("type") == "boolean" and name not in required
        else part
        for name, part in schema.get("properties", {}).items()
    }
    return {**schema, "properties": parts}


def report(found: PluginTest) -> str:
    """Its steps, the requests it made or would make, and its answer."""
    end = told(found.text) if found.failed else found.text
    parts = ["\n".join(found.steps), *found.requests, end]
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
