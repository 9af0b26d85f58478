"""The Home page: the state, the address, the model in use, and the current activity."""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.probe import FirstClient
from app.look import theme
from app.look.controls import (
    Banner,
    Button,
    Card,
    Column,
    CopyButton,
    Label,
    drop_all,
    line_to_copy,
    put,
    restyle,
    row,
    short_name,
    stack,
)
from app.look.icons import LookPicture
from app.look.layouts import Flow
from app.look.machine import Activity
from app.look.page import Page
from app.look.summary import (
    Summary,
    describe_model,
    is_heard,
    sentence,
    size,
    watch,
    where_words,
)
from app.look.translate import told, tr
from server.face.core import Face, ModelStatus, ServerStatus
from server.face.models import ModelCard


class Hero(Card):
    def __init__(self, switch: Callable[[], None]) -> None:
        """`switch` is called when the button is clicked."""
        super().__init__()
        self.picture = LookPicture(theme.HERO_SIDE)
        self.headline = Label("", "headline", wrap=True)
        self.detail = Label("", "muted", wrap=True)
        self.facts = Label("", "small", wrap=True)
        self.switch = Button(tr("Start"), kind="primary")
        self.switch.setProperty("scale", "big")
        self.switch.clicked.connect(lambda: self.switch.setEnabled(False))
        self.switch.clicked.connect(switch)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName(tr("Loading the model"))
        line = QHBoxLayout()
        line.setSpacing(theme.LARGE)
        line.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        line.addLayout(stack(self.headline, self.detail, self.facts), 1)
        line.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(line)
        self.column.addWidget(self.progress)

    def show_summary(self, summary: Summary, facts: str) -> None:
        self.picture.show_look(summary.look)
        self.headline.setText(summary.headline)
        # A failure is described in its banner.
        self.detail.tell("" if summary.look == "failed" else summary.detail)
        self.facts.tell(facts)

    def show_server(self, server: ServerStatus) -> None:
        serving = server.phase == "ready"
        words = {"ready": tr("Stop"), "starting": tr("Starting"), "hung": tr("Restart")}
        self.switch.setText(words.get(server.phase, tr("Start")))
        self.switch.setAccessibleName(tr("{do} the server").format(do=self.switch.text()))
        self.switch.setEnabled(server.phase != "starting")
        self.switch.setProperty("kind", "" if serving else "primary")
        restyle(self.switch)

    def show_model(self, model: ModelStatus) -> None:
        self.progress.setVisible(model.phase == "loading")
        self.progress.setRange(0, 100 if model.progress else 0)
        self.progress.setValue(round(model.progress * 100))


NO_MODEL = "No model is installed yet. Put a GGUF file into the model folder."


class ModelPicker(Card):
    def __init__(self, page: Page) -> None:
        super().__init__()
        self.choice = QComboBox()
        self.choice.setAccessibleName(tr("Model in use"))
        self.choice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.choice.setMinimumContentsLength(12)
        self.choice.activated.connect(
            lambda index: page.run(page.core.load_model(self.choice.itemData(index)))
        )
        self._lines: list[tuple[str, str]] = []
        self.unload = Button(tr("Unload"), "unload")
        self.unload.clicked.connect(lambda: page.run(page.core.unload_model()))
        self.note = Label("", "small", wrap=True)
        put(self.column, Label(tr("Model"), "section"), row(self.choice, self.unload), self.note)

    def show_models(
        self, cards: tuple[ModelCard, ...], model: ModelStatus, *, is_known: bool = True
    ) -> None:
        """Shows the models. `is_known` is False until a server has listed them."""
        lines = [(_line(card), card.name) for card in cards]
        with QSignalBlocker(self.choice):
            # Only if they changed: while a model loads this is called often, and the list may be
            # open.
            if lines != self._lines:
                self._lines = lines
                self.choice.clear()
                for text, name in lines:
                    self.choice.addItem(short_name(text), name)
            self.choice.setCurrentIndex(self.choice.findData(model.name))
            self.choice.setPlaceholderText(tr("Choose a model") if cards else tr("None"))
        self.choice.setEnabled(bool(cards))
        loads = model.phase == "loading"
        self.unload.setText(tr("Stop loading") if loads else tr("Unload"))
        self.unload.setAccessibleName(
            tr("Stop loading") if loads else tr("Unload the model and free its memory")
        )
        self.unload.setEnabled(loads or model.phase == "ready")
        chosen = next((card for card in cards if card.name == model.name), None)
        label = sentence(told(chosen.label)) or where_words(chosen.hosts) if chosen else ""
        none = tr(NO_MODEL) if is_known else tr("Models are listed when the server responds.")
        self.note.tell(label if cards else none)


def _line(card: ModelCard) -> str:
    place = ", ".join(card.hosts) if card.hosts else size(card.size_bytes)
    facts = [card.name, card.quantisation, place]
    return "  ·  ".join(fact for fact in facts if fact)


ADDRESS_HELP = "Enter this address in OpenBB, an OpenAI client or CopilotKit."


class HomePage(Page):
    title = "Home"
    icon = "home"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self.hero = Hero(self.switch)
        self.failure = self._build_failure()
        self.address = line_to_copy(
            tr("Address of the server"), tr("There is no address while Moat is stopped.")
        )
        self.copy = CopyButton(tr("the address"), self.address.text)
        self.port_note = Label("", "small", wrap=True)
        self.chat = Button(tr("Chat here"), "chat")
        self.openbb = Button(tr("Connect OpenBB Workspace"), "connect")
        self.editor = Button(tr("Connect an editor"), "edit")
        self.client = FirstClient(core)
        self.picker = ModelPicker(self)
        self.activity = Activity(self)
        self._notices = QVBoxLayout()
        self._notices.setSpacing(theme.SMALL)
        self._lay_out()
        self._bind(core)

    def show_summary(self, summary: Summary) -> None:
        facts = describe_model(self.core.model.get(), self.core.models.cards.get())
        self.hero.show_summary(summary, facts if summary.look in ("ready", "busy") else "")
        self.failure.setVisible(summary.look == "failed")
        self.failure.tell("", summary.detail, summary.advice, summary.details)

    def show_server(self, server: ServerStatus) -> None:
        self.hero.show_server(server)
        self.address.setText(server.address)
        self.copy.setEnabled(bool(server.address))
        self.port_note.tell(told(server.port_note) or (tr(ADDRESS_HELP) if server.address else ""))

    def show_models(self, _: object) -> None:
        is_known = is_heard(self.core.server.get())
        cards = self.core.models.cards.get()
        self.picker.show_models(cards, self.core.model.get(), is_known=is_known)

    def show_notices(self, notices: tuple[str, ...]) -> None:
        drop_all(self._notices)
        for text in notices:
            self._notices.addWidget(self._notice(text))

    def switch(self) -> None:
        serving = self.core.server.get().phase == "ready"
        self.run(self.core.stop() if serving else self.core.start())

    def try_again(self) -> None:
        if self.core.server.get().phase == "ready":
            self.run(self.core.load_model(self.core.model.get().name))
        else:
            self.run(self.core.start())

    def _bind(self, core: Face) -> None:
        self.chat.clicked.connect(lambda: self.wants_page.emit("Chat"))
        self.openbb.clicked.connect(lambda: self.wants_page.emit("Connect"))
        self.editor.clicked.connect(lambda: self.wants_page.emit("Connect"))
        self.failed.connect(lambda _: self.show_server(core.server.get()))
        self.failed.connect(self.show_models)
        self.until_gone(watch(core, self.show_summary))
        self.observe(core.server, self.show_server)
        self.observe(core.server, self.show_models)
        self.observe(core.model, self.show_models)
        self.observe(core.model, self.hero.show_model)
        self.observe(core.models.cards, self.show_models)
        self.observe(core.requests, self.activity.show_requests)
        self.observe(core.load, self.activity.show_load)
        self.observe(core.notices, self.show_notices)

    def _notice(self, text: str) -> QWidget:
        banner = Banner("warn", text=told(text))
        banner.dismissed.connect(lambda: self.run(self.core.dismiss_notice(text)))
        return banner

    def _build_failure(self) -> Banner:
        banner = Banner("bad", closes=False)
        again = Button(tr("Try again"), "reset")
        again.clicked.connect(self.try_again)
        logs = Button(tr("Open the log"), "logs")
        logs.clicked.connect(lambda: self.wants_page.emit("Logs"))
        banner.add_button(again)
        banner.add_button(logs)
        return banner

    def _lay_out(self) -> None:
        address, column = Card(), Column()
        ways, line = Flow(self.chat, self.openbb, self.editor), row(self.address, self.copy)
        put(address.column, Label(tr("Use it"), "section"), ways, line, self.port_note, self.client)
        put(column.body, Label(tr("Home"), "title"), self._notices, self.hero, self.failure)
        put(column.body, address, self.picker, self.activity)
        column.fill(self)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
