"""Engines elsewhere: the servers whose models Moat serves, and a form to add another."""

from collections.abc import Callable

from pydantic import ValidationError
from PySide6.QtCore import Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QWidget,
)

from app.look import theme
from app.look.controls import (
    Button,
    Card,
    FractionBox,
    Label,
    NumberBox,
    Remark,
    Rows,
    restyle,
    reveal,
    row,
    secrets_words,
    stack,
)
from app.look.model_rows import facts, parameters, show_use
from app.look.summary import where_words
from app.look.translate import numeral, told, tr
from server.errors import AppError
from server.face.core import ModelStatus
from server.face.models import EngineState
from server.settings import ENGINE_FORM, EngineElsewhere

_TEST_NAME = "-"
"""A test needs no name; the model's own is offered after it."""


class EngineRow(QWidget):
    loaded = Signal(str)
    removed = Signal(str)

    def __init__(self, state: EngineState) -> None:
        super().__init__()
        name = state.engine.name
        self.name = Label(name, "section", wrap=True)
        self.facts = Label("", "small", wrap=True)
        self.where = Label("", "small", wrap=True)
        self.note = Remark()
        self.load = Button(tr("Load"), name=tr("Load {name}").format(name=name))
        self.remove = Button("", "trash", "icon", name=tr("Remove {name}").format(name=name))
        self.sure = Button(
            tr("Remove"), "trash", name=tr("Confirm: remove {name}").format(name=name)
        )
        self.keep = Button(tr("Cancel"), name=tr("Cancel: keep {name}").format(name=name))
        self.load.clicked.connect(lambda: self.loaded.emit(name))
        self.remove.clicked.connect(lambda: self._ask(asking=True))
        self.keep.clicked.connect(lambda: self._ask(asking=False))
        self.sure.clicked.connect(lambda: self.removed.emit(name))
        self._state = state
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(theme.SMALL)
        line.addLayout(stack(self.name, self.facts, self.where, self.note, spacing=2), 1)
        for button in (self.load, self.remove, self.sure, self.keep):
            line.addWidget(button)
        self._ask(asking=False)

    def show_state(self, state: EngineState, model: ModelStatus) -> None:
        self._state = state
        self.facts.tell(describe(state))
        self.where.tell(where_words(state.engine.hosts))
        show_use(self.load, state.engine.name, model)
        if not self.sure.isVisibleTo(self):
            self._ask(asking=False)

    def _ask(self, *, asking: bool) -> None:
        if asking:
            self.note.tell(tr("Its key is deleted too. The server itself is not changed."))
        else:
            self.note.tell(*_note(self._state))
        reveal(self.sure, shown=asking)
        reveal(self.keep, shown=asking)
        reveal(self.load, shown=not asking)
        reveal(self.remove, shown=not asking and not self._state.is_given)


def describe(state: EngineState) -> str:
    context = state.context_tokens
    return facts(
        state.kind,
        state.model if state.model != state.engine.name else "",
        parameters(state.parameters),
        tr("{tokens} tokens of context").format(tokens=numeral(context)) if context else "",
        tr("reads images") if state.sees_images else "",
    )


def _note(state: EngineState) -> tuple[str, str, str]:
    """What is to be said about how it stands, how loudly, and what is technical about it."""
    if state.phase == "failed":
        return told(state.reason), "bad", state.details
    if state.out:
        hosts = ", ".join(state.out)
        return tr("Not responding: {hosts}. The others take over.").format(hosts=hosts), "warn", ""
    if state.phase == "unknown":
        return tr("Asking the server for its models…"), "small", ""
    if state.is_given:
        return tr("Set on the command line, for this session only."), "small", ""
    return "", "small", ""


class Engines(Card):
    """The list, or what to do where it is empty."""

    loaded = Signal(str)
    removed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._model = ModelStatus()
        self.empty = Label(
            tr(
                "No remote engine yet. If vLLM, SGLang, llama-server or another server with "
                "the OpenAI API runs on a computer you trust, enter its address below."
            ),
            "muted",
            wrap=True,
        )
        self.list: Rows[EngineState, EngineRow] = Rows(
            lambda state: state.engine.name,
            self._make,
            lambda line, state: line.show_state(state, self._model),
        )
        about = tr(
            "Models on other servers. Your prompts leave this computer, unless the server "
            "runs on it."
        )
        self.column.addWidget(Label(tr("Remote"), "headline"))
        self.column.addWidget(Label(about, "small", wrap=True))
        self.column.addWidget(self.empty)
        self.column.addLayout(self.list.layout)

    def show_engines(self, states: tuple[EngineState, ...], model: ModelStatus) -> None:
        self._model = model
        self.list.show(states)
        self.empty.setVisible(not states)

    def _make(self, state: EngineState) -> EngineRow:
        made = EngineRow(state)
        made.loaded.connect(self.loaded)
        made.removed.connect(self.removed)
        return made


class EngineForm(Card):
    tested = Signal(object, str)
    added = Signal(object, str)
    """An `EngineElsewhere` and its key."""

    def __init__(self) -> None:
        super().__init__()
        self.urls = _line(tr("Addresses"), "http://gpu-box:8000/v1")
        self.name = _line(tr("Name"), tr("The name programs use for it"))
        self.model = _line(tr("Model on the server"), tr("Empty: the first model it lists"))
        self.key = _line(tr("Key"), tr("If the server needs one"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        says = tr("As the server reports")
        self.context = NumberBox()
        self.context.setRange(0, 16_777_216)
        self.billions = FractionBox()
        self.billions.setRange(0, 100_000)
        self.billions.setDecimals(1)
        self.images = _choice({"ask": says, "yes": tr("Yes"), "no": tr("No")})
        self.tools = _choice({"server": tr("The server"), "moat": tr("Moat")})
        for number in (self.context, self.billions):
            number.setSpecialValueText(says)
        self.place = Label("", "small", wrap=True)
        self.state = Remark()
        self.more = Button(tr("More options"))
        self.options = QWidget()
        self.test = Button(tr("Test connection"), "reset")
        self.add = Button(tr("Add"), "plus", "primary", name=tr("Add the engine"))
        self.test.clicked.connect(lambda: self._send(self.tested.emit, is_test=True))
        self.add.clicked.connect(lambda: self._send(self.added.emit, is_test=False))
        self._lay_out()

    def show_place(self, plain_file: str) -> None:
        self.place.setText(secrets_words(plain_file))
        self.place.setProperty("role", "warn" if plain_file else "small")
        restyle(self.place)

    def show_busy(self) -> None:
        self.state.tell(tr("Connecting to {hosts}…").format(hosts=self.urls.text().strip()))
        self.test.setEnabled(False)

    def show_found(self, state: EngineState) -> None:
        self.test.setEnabled(True)
        if not self.name.text().strip():
            self.name.setText(state.model)
        model = state.model if state.model == state.engine.name else ""
        self.state.tell(facts(tr("It works"), model, describe(state)), "good")

    def show_problem(self, error: AppError) -> None:
        self.test.setEnabled(True)
        self.state.fail(error)

    def clear(self) -> None:
        for edit in (self.urls, self.name, self.model, self.key):
            edit.clear()
        for number in (self.context, self.billions):
            number.setValue(0)
        for choice in (self.images, self.tools):
            choice.setCurrentIndex(0)
        self.state.tell("")

    def _send(self, emit: Callable[[EngineElsewhere, str], None], *, is_test: bool) -> None:
        try:
            engine = EngineElsewhere(
                name=self.name.text().strip() or (_TEST_NAME if is_test else ""),
                urls=tuple(self.urls.text().replace(",", " ").split()),
                model=self.model.text().strip(),
                context_tokens=self.context.value(),
                billions=self.billions.value(),
                images=self.images.currentData(),
                tools=self.tools.currentData(),
            )
        except ValidationError as error:
            is_name = error.errors()[0]["loc"][0] == "name"
            self.test.setEnabled(True)
            self.state.tell(tr("Give it a name.") if is_name else told(ENGINE_FORM), "bad")
            return
        emit(engine, self.key.text().strip())

    def _turn(self) -> None:
        reveal(self.options, shown=not self.options.isVisibleTo(self))

    def _lay_out(self) -> None:
        form = _form(
            {
                tr("Addresses"): self.urls,
                tr("Name"): self.name,
                tr("Model on the server"): self.model,
                tr("Key"): self.key,
            }
        )
        options = _form(
            {
                tr("Context (tokens)"): self.context,
                tr("Parameters (billions)"): self.billions,
                tr("Reads images"): self.images,
                tr("Tool calls are parsed by"): self.tools,
            }
        )
        options.setContentsMargins(0, 0, 0, 0)
        self.options.setLayout(options)
        self.more.clicked.connect(self._turn)
        several = tr("Several addresses of the same model, with spaces between, share the work.")
        self.column.addWidget(Label(tr("Add an engine"), "headline"))
        self.column.addWidget(Label(several, "small", wrap=True))
        self.column.addLayout(form)
        for part in (self.options, self.place, self.state):
            self.column.addWidget(part)
        self.column.addLayout(row(self.more, 0, self.test, self.add))
        self.options.hide()


class _Choice(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        # Scrolling the page must not change what is under the pointer.
        event.ignore()


def _form(controls: dict[str, QWidget]) -> QFormLayout:
    form = QFormLayout()
    form.setSpacing(theme.SMALL)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    for title, control in controls.items():
        control.setAccessibleName(title)
        label = Label(title)
        label.setFixedHeight(control.sizeHint().height())
        label.setMinimumWidth(theme.FIELD_WIDTH * 3 // 4)
        form.addRow(label, control)
    return form


def _line(name: str, hint: str) -> QLineEdit:
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    return made


def _choice(options: dict[str, str]) -> QComboBox:
    made = _Choice()
    for value, words in options.items():
        made.addItem(words, value)
    return made
