"""Engines elsewhere: the servers whose models Moat uses, and a form to add one."""

from pydantic import ValidationError
from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QLineEdit,
    QWidget,
)

from app.look import theme
from app.look.controls import (
    Button,
    Card,
    Choice,
    FractionBox,
    Label,
    NumberBox,
    Remark,
    Removable,
    Rows,
    SecretsPlace,
    field,
    form,
    name_label,
    put,
    reveal,
    row,
    stack,
)
from app.look.model_rows import facts, parameters, show_use
from app.look.page import Page
from app.look.summary import where_words
from app.look.translate import numeral, told, tr
from server.errors import AppError
from server.face.core import ModelStatus
from server.face.models import EngineState
from server.settings import ENGINE_FORM, EngineElsewhere

_TEST_NAME = "-"
"""A placeholder for the name during a test. After it the model's own name is offered."""


class EngineRow(Removable):
    def __init__(self, state: EngineState, page: Page) -> None:
        name = state.engine.name
        super().__init__(
            name,
            Button("", "trash", "icon", name=tr("Remove {name}").format(name=name)),
            Button(tr("Remove"), "trash", name=tr("Confirm: remove {name}").format(name=name)),
        )
        self.name = name_label(name)
        self.facts = Label("", "small", wrap=True)
        self.where = Label("", "small", wrap=True)
        self.note = Remark()
        self.load = Button(tr("Load"), name=tr("Load {name}").format(name=name))
        self.load.clicked.connect(lambda: page.run(page.core.load_model(name)))
        self.sure.clicked.connect(lambda: page.run(page.core.engines.remove(name)))
        self._state = state
        words = stack(self.name, self.facts, self.where, self.note, spacing=2)
        self.setLayout(row(words, self.load, self.remove, self.sure, self.keep, grows=words))
        self.ask(asking=False)

    def show_state(self, state: EngineState, model: ModelStatus) -> None:
        self._state = state
        self.facts.tell(describe(state))
        self.where.tell(where_words(state.engine.hosts))
        show_use(self.load, state.engine.name, model)
        if not self.sure.isVisibleTo(self):
            self.ask(asking=False)

    def ask(self, *, asking: bool) -> None:
        super().ask(asking=asking)
        if asking:
            self.note.tell(tr("Its key is deleted too. The server itself is not changed."))
        else:
            self.note.tell(*_note(self._state))
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
    """Returns a note about the state, the label's role, and technical details."""
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
    """The list of engines, with advice while it is empty."""

    def __init__(self, page: Page) -> None:
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
            lambda state: EngineRow(state, page),
            lambda line, state: line.show_state(state, self._model),
        )
        about = tr(
            "Models on other servers. Your prompts leave this computer, unless the server "
            "runs on it."
        )
        put(self.column, Label(tr("Remote"), "headline"), Label(about, "small", wrap=True))
        put(self.column, self.empty, self.list.layout)

    def show_engines(self, states: tuple[EngineState, ...], model: ModelStatus) -> None:
        self._model = model
        self.list.show(states)
        self.empty.setVisible(not states)


class EngineForm(Card):
    kept = Signal()
    """Emitted when an engine was added and its key stored."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self._run, self._room = page.run, page.core.engines
        self.urls = field(tr("Addresses"), "http://gpu-box:8000/v1")
        self.name = field(tr("Name"), tr("The name programs use for it"))
        self.model = field(tr("Model on the server"), tr("Empty: the first model it lists"))
        self.key = field(tr("Key"), tr("If the server needs one"))
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
        self.place = SecretsPlace()
        self.state = Remark()
        self.more = Button(tr("More options"))
        self.options = QWidget()
        self.test = Button(tr("Test connection"), "reset")
        self.add = Button(tr("Add"), "plus", "primary", name=tr("Add the engine"))
        self.test.clicked.connect(lambda: self._send(is_test=True))
        self.add.clicked.connect(lambda: self._send(is_test=False))
        self._lay_out()

    async def try_out(self, engine: EngineElsewhere, key: str) -> None:
        self.state.tell(tr("Connecting to {hosts}…").format(hosts=self.urls.text().strip()))
        self.test.setEnabled(False)
        try:
            self._show_found(await self._room.test(engine, key))
        except AppError as error:
            self._show_problem(error)

    async def _add(self, engine: EngineElsewhere, key: str) -> None:
        try:
            await self._room.add(engine, key)
        except AppError as error:
            self._show_problem(error)
        else:
            self._clear()
            self.kept.emit()

    def _show_found(self, state: EngineState) -> None:
        self.test.setEnabled(True)
        if not self.name.text().strip():
            self.name.setText(state.model)
        model = state.model if state.model == state.engine.name else ""
        self.state.tell(facts(tr("It works"), model, describe(state)), "good")

    def _show_problem(self, error: AppError) -> None:
        self.test.setEnabled(True)
        self.state.fail(error)

    def _clear(self) -> None:
        for edit in (self.urls, self.name, self.model, self.key):
            edit.clear()
        for number in (self.context, self.billions):
            number.setValue(0)
        for choice in (self.images, self.tools):
            choice.setCurrentIndex(0)
        self.state.tell("")

    def _send(self, *, is_test: bool) -> None:
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
        self._run((self.try_out if is_test else self._add)(engine, self.key.text().strip()))

    def _turn(self) -> None:
        reveal(self.options, shown=not self.options.isVisibleTo(self))

    def _lay_out(self) -> None:
        needed = _aligned(
            {
                tr("Addresses"): self.urls,
                tr("Name"): self.name,
                tr("Model on the server"): self.model,
                tr("Key"): self.key,
            }
        )
        options = _aligned(
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
        several = tr("Several addresses of the same model, separated by spaces, share the work.")
        about, send = Label(several, "small", wrap=True), row(self.more, 0, self.test, self.add)
        put(self.column, Label(tr("Add an engine"), "headline"), about, needed)
        put(self.column, self.options, self.place, self.state, send)
        self.options.hide()


def _aligned(controls: dict[str, QWidget]) -> QFormLayout:
    """Returns a form. Both forms have titles of the same width, so that their fields align."""
    made = form(controls)
    for control in controls.values():
        label = made.labelForField(control)
        label.setFixedHeight(control.sizeHint().height())
        label.setMinimumWidth(theme.FIELD_WIDTH * 3 // 4)
    return made


def _choice(options: dict[str, str]) -> Choice:
    made = Choice()
    for value, words in options.items():
        made.addItem(words, value)
    return made
