"""What the chat shows before the first message: what to do now."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from app.chat.suggestion import Suggestion
from app.look import theme
from app.look.controls import Button, Label
from app.look.picture import Picture
from app.look.sentences import told
from app.look.translate import tr
from server.face.core import ModelStatus, ServerStatus
from server.face.plugins import PluginCard

_MOST_OFFERS = 2


def suggestions() -> tuple[str, ...]:
    return (
        tr("Explain in two sentences what a moat is in investing."),
        tr("Write a short table with three kinds of bonds and their risks."),
        tr("Write a Python function that computes a moving average."),
    )


class EmptyChat(QScrollArea):
    """In the middle of the page; scrolls where questions leave it little room."""

    suggested = Signal(str)
    wants_start = Signal()
    wants_model = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.title = Label("", "headline")
        self.text = Label("", "muted", wrap=True)
        self.action = Button(tr("Start"), kind="primary")
        self.action.clicked.connect(self._act)
        self._needs_model = False
        self._is_ready = False
        self.suggestions = [self._suggestion(text) for text in suggestions()]
        self.offers = [self._suggestion("") for _ in range(_MOST_OFFERS)]
        column = QVBoxLayout()
        column.setSpacing(theme.SMALL)
        column.addWidget(Picture("chat", 40, "muted"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(theme.SMALL)
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addSpacing(theme.MEDIUM)
        column.addWidget(self.action, 0, Qt.AlignmentFlag.AlignHCenter)
        for button in (*self.offers, *self.suggestions):
            column.addWidget(button)
            button.hide()
        self._lay_out(column)

    def _lay_out(self, column: QVBoxLayout) -> None:
        inner = QWidget()
        inner.setMinimumWidth(theme.INVITATION_WIDTH)
        inner.setMaximumWidth(theme.BUBBLE_WIDTH + 2 * theme.HUGE)
        inner.setLayout(column)
        holder = QWidget()
        holder.setObjectName("column")
        outer = QVBoxLayout(holder)
        outer.addWidget(inner, 0, Qt.AlignmentFlag.AlignCenter)
        self.setWidget(holder)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_state(self, server: ServerStatus, model: ModelStatus) -> None:
        title, text, action = _words(server, model)
        self.title.setText(title)
        self.text.setText(text)
        self.action.setVisible(bool(action))
        if action:
            self.action.setText(action)
            self.action.setAccessibleName(action)
        self._needs_model = server.phase == "ready"
        self._is_ready = server.phase == "ready" and model.phase == "ready"
        self._update()

    def show_plugins(self, cards: tuple[PluginCard, ...]) -> None:
        """What enabled plugins offer to be asked takes the place of what anybody may ask."""
        asked = [f"@{one.key} {one.question}" for one in cards if one.enabled and one.question]
        for place, button in enumerate(self.offers):
            text = asked[place] if place < len(asked) else ""
            button.ask(text)
        self._update()

    def _update(self) -> None:
        offered = [button for button in self.offers if button.question]
        for button in self.offers:
            button.setVisible(self._is_ready and button in offered)
        for place, button in enumerate(self.suggestions):
            button.setVisible(self._is_ready and place < len(self.suggestions) - len(offered))

    def _act(self) -> None:
        (self.wants_model if self._needs_model else self.wants_start).emit()

    def _suggestion(self, text: str) -> Suggestion:
        button = Suggestion(text)
        button.clicked.connect(lambda: self.suggested.emit(button.question))
        return button


def _words(server: ServerStatus, model: ModelStatus) -> tuple[str, str, str]:
    """A title, a sentence and the label of the one button, if there is something to press."""
    if server.phase in ("stopped", "failed", "hung"):
        return (
            tr("Moat is not serving"),
            told(server.reason) or tr("Start it to chat with a model."),
            tr("Restart") if server.phase == "hung" else tr("Start"),
        )
    if server.phase == "starting":
        return tr("Moat is starting"), tr("One moment."), ""
    match model.phase:
        case "empty":
            return (
                tr("No model is loaded"),
                tr("Your first message loads it, or pick one now."),
                tr("Pick a model"),
            )
        case "loading":
            return (
                tr("Loading {name}").format(name=model.name),
                tr("{percent}. You can write already.").format(percent=f"{model.progress:.0%}"),
                "",
            )
        case "failed":
            return (
                tr("{name} could not be loaded").format(name=model.name),
                told(model.reason),
                tr("Pick another model"),
            )
        case "ready":
            text = tr("Everything you write stays on this computer.")
            return tr("Ask {name}").format(name=model.name), text, ""
