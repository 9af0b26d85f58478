"""The Chat page: a client that talks to the server over the same API as every other program.

`ChatPage` connects the parts: the list of saved chats, the transcript, the composer, the options
and the raw events. A `Turn` carries one question and its answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QSettings, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.chat import dialects
from app.chat.attachments import Attachment, name_filters
from app.chat.chat_list import ChatList
from app.chat.chats import Chat, ChatStore, Said, asked, put_beside, versions
from app.chat.composer import AttachedFiles, Composer
from app.chat.dialects import Name, Options
from app.chat.presets import Presets, PresetStore
from app.chat.transcript import Answer, Question, Suggestion, Transcript
from app.chat.turn import Turn, used_words
from app.look import theme
from app.look.controls import (
    Button,
    Column,
    CopyButton,
    Details,
    Label,
    ReadBox,
    Slider,
    breakable,
    delay,
    for_menu,
    hint,
    put,
    row,
    shortened,
    stack,
    text_to_read,
)
from app.look.icons import Picture
from app.look.layouts import Beside, Panel, centred
from app.look.page import Page
from app.look.translate import numeral, told, tr
from server.errors import AppError
from server.events import Finished
from server.face.core import Face, ModelStatus, ServerStatus, find_away
from server.face.models import ModelCard
from server.face.plugins import PluginCard
from server.system import files, paths

_NAMES = {"openai": "OpenAI", "openbb": "OpenBB", "agui": "AG-UI"}
_TEMPERATURES = (None, 0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 1.0, 1.2, 1.5, 2.0)
_TOP_PS = (None, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
_LENGTHS = (None, 64, 128, 256, 512, 1024, 2048, 4096, 8192)


class ChatOptions(Column):
    """The panel of options: the protocol, the sampling values and the system prompt."""

    system_changed = Signal(str)
    raw_wanted = Signal(bool)

    def __init__(self, presets: PresetStore) -> None:
        super().__init__()
        self.protocol = QComboBox()
        self.protocol.setAccessibleName(tr("Protocol"))
        for name in get_args(Name):
            self.protocol.addItem(_NAMES[name], name)
        self.raw = QCheckBox(tr("Show raw events"))
        self.raw.setAccessibleName(self.raw.text())
        self.raw.toggled.connect(self.raw_wanted)
        self.system = QPlainTextEdit()
        self.system.setTabChangesFocus(True)
        self.system.setAccessibleName(tr("System prompt"))
        self.system.setPlaceholderText(tr("Instructions for the model"))
        self.system.setFixedHeight(theme.LINES_HEIGHT)
        self.system.textChanged.connect(self._write_system)
        self.presets = Presets(presets)
        self.presets.chosen.connect(self.show_system)
        self.temperature = Slider(tr("Temperature"), _value_words)
        self.top_p = Slider("Top P", _value_words)
        self.length = Slider(tr("Maximum length"), _value_words)
        self.temperature.offer(_TEMPERATURES, None)
        self.top_p.offer(_TOP_PS, None)
        self.length.offer(_LENGTHS, None)
        self.note = Label(
            tr("OpenBB's protocol has no system prompt and no sampling options."),
            "small",
            wrap=True,
        )
        self.protocol.currentIndexChanged.connect(self._chosen)
        self._lay_out()
        self._chosen()

    def options(self) -> Options:
        return Options(
            self.protocol.currentData(),
            self.temperature.value(),
            self.top_p.value(),
            self.length.value(),
        )

    def show_system(self, text: str) -> None:
        if text != self.system.toPlainText():
            self.system.setPlainText(text)

    def _write_system(self) -> None:
        text = self.system.toPlainText()
        self.presets.show_text(text)
        self.system_changed.emit(text)

    def _chosen(self) -> None:
        is_openbb = self.protocol.currentData() == "openbb"
        self.note.setVisible(is_openbb)
        for part in (self.system, self.presets, self.temperature, self.length):
            part.setEnabled(not is_openbb)
        self.top_p.setEnabled(self.protocol.currentData() == "openai")

    def _lay_out(self) -> None:
        self.body.setContentsMargins(*([theme.MEDIUM] * 4))
        self.body.setSpacing(theme.MEDIUM)
        put(self.body, self.temperature, self.top_p, self.length)
        put(self.body, _titled(tr("System prompt"), self.presets), self.system)
        put(self.body, _titled(tr("Protocol"), self.protocol), self.note, self.raw, 0)


def _titled(title: str, part: QWidget) -> QWidget:
    holder = QWidget()
    holder.setLayout(stack(Label(title, "section"), part))
    return holder


def _value_words(value: float | None) -> str:
    return tr("Automatic") if value is None else numeral(value)


_MOST_LINES = 5000
"""The most lines of raw events; older lines are dropped."""


class RawEvents(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.lines = ReadBox(tr("Raw events"))
        self.lines.setMaximumBlockCount(_MOST_LINES)
        self.lines.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.lines.setPlaceholderText(tr("The events of the next answer appear here."))
        copy = CopyButton(tr("the raw events"), self.lines.toPlainText, "icon")
        head = row(Label(tr("Raw events"), "section"), 0, copy)
        column = stack(head, self.lines, spacing=theme.SMALL, grows=self.lines)
        column.setContentsMargins(theme.MEDIUM, 0, theme.MEDIUM, theme.MEDIUM)
        self.setLayout(column)

    def add(self, line: str) -> None:
        self.lines.appendPlainText(text_to_read(line))

    def clear(self) -> None:
        self.lines.clear()


_MOST_OFFERS = 2
"""The most questions of plugins that are offered."""


def suggestions() -> tuple[str, ...]:
    return (
        tr("Write three tips for better sleep."),
        tr("Write a short table with three kinds of bonds and their risks."),
        tr("Write a Python function that computes a moving average."),
    )


class EmptyChat(QScrollArea):
    """The page of a chat without messages. It scrolls if there is little room."""

    suggested = Signal(str)
    wants_start = Signal()
    wants_model = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.title = Label("", "headline", wrap=True)
        self.text = Label("", "muted", wrap=True)
        self._needs_model = False
        self._is_ready = False
        self.action = Button(tr("Start"), kind="primary")
        self.action.clicked.connect(
            lambda: (self.wants_model if self._needs_model else self.wants_start).emit()
        )
        self.suggestions = [self._suggestion(text) for text in suggestions()]
        self.offers = [self._suggestion("") for _ in range(_MOST_OFFERS)]
        column = QVBoxLayout()
        column.setSpacing(theme.SMALL)
        column.addWidget(Picture("chat", 40, "muted"), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(theme.SMALL)
        for label in (self.title, self.text):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        self.details = Details()
        column.addWidget(self.details)
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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._keep_title_whole()

    def _keep_title_whole(self) -> None:
        """Gives a long name its full height: a page that is too low scrolls."""
        self.title.setMinimumHeight(max(0, self.title.heightForWidth(self.title.width())))

    def show_state(self, server: ServerStatus, model: ModelStatus) -> None:
        title, text, action = _state_words(server, model)
        self.title.setText(breakable(title))
        self.title.setAccessibleName(title)
        self.text.setText(text)
        self._keep_title_whole()
        self.details.tell(server.details if server.phase == "failed" else model.details)
        self.action.setVisible(bool(action))
        if action:
            self.action.setText(action)
            self.action.setAccessibleName(action)
        self._needs_model = server.phase == "ready"
        self._is_ready = server.phase == "ready" and model.phase == "ready"
        self._update()

    def show_plugins(self, cards: tuple[PluginCard, ...]) -> None:
        """Offers the questions of enabled plugins in place of the general suggestions."""
        asked = [f"@{one.key} {one.question}" for one in cards if one.enabled and one.question]
        for place, button in enumerate(self.offers):
            button.ask(asked[place] if place < len(asked) else "")
        self._update()

    def _update(self) -> None:
        offered = [button for button in self.offers if button.question]
        for button in self.offers:
            button.setVisible(self._is_ready and button in offered)
        for place, button in enumerate(self.suggestions):
            button.setVisible(self._is_ready and place < len(self.suggestions) - len(offered))

    def _suggestion(self, text: str) -> Suggestion:
        button = Suggestion(text)
        button.clicked.connect(lambda: self.suggested.emit(button.question))
        return button


def _titles_at_rest() -> dict[str, str]:
    """Returns the titles for the phases in which the server does not answer."""
    return {
        "stopped": tr("Moat is stopped"),
        "failed": tr("The server is not running"),
        "hung": tr("Moat does not respond"),
    }


def _state_words(server: ServerStatus, model: ModelStatus) -> tuple[str, str, str]:
    """Returns a title, a sentence and the label of the button; no label means no button."""
    titles = _titles_at_rest()
    if server.phase in titles:
        return (
            titles[server.phase],
            told(server.reason) or tr("Start it to chat with a model."),
            tr("Restart") if server.phase == "hung" else tr("Start"),
        )
    if server.phase == "starting":
        return tr("Moat is starting"), tr("One moment."), ""
    match model.phase:
        case "empty":
            return (
                tr("No model is loaded"),
                tr("Your first message loads the default model, or choose one now."),
                tr("Choose a model"),
            )
        case "loading":
            return (
                tr("Loading {name}").format(name=model.name),
                tr("{percent}. You can already type your message.").format(
                    percent=numeral(model.progress, ".0%")
                ),
                "",
            )
        case "failed":
            return (
                tr("{name} could not be loaded").format(name=model.name),
                told(model.reason),
                tr("Choose another model"),
            )
        case "ready":
            away = ", ".join(find_away(model.hosts))
            text = tr("Everything you write stays on this computer.")
            if away:
                text = tr("Everything you write is sent to {hosts}.").format(hosts=away)
            return tr("Ask {name}").format(name=model.name), text, ""


_SURROUND = theme.ICON + 3 * theme.MEDIUM
"""The width of a button beside its text, in pixels."""


class ModelPicker(Button):
    """A button that shows the model in use and opens the list. Cuts a long name in the middle."""

    def __init__(self) -> None:
        super().__init__("", "down")
        self._full = ""
        self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)

    def show_model(self, server: ServerStatus, model: ModelStatus) -> None:
        self.setEnabled(server.phase == "ready")
        words = model.name or tr("Choose a model")
        if model.phase == "loading":
            words = (
                tr("Loading {name}").format(name=model.name) + f"  {numeral(model.progress, '.0%')}"
            )
        self._full = for_menu(words)
        self.setAccessibleName(tr("Model: {name}").format(name=words))
        self.setToolTip(tr("Choose the model that answers"))
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802
        wide = self.fontMetrics().horizontalAdvance(self._full) + _SURROUND
        return QSize(wide, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        return QSize(_SURROUND + theme.HUGE, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = max(self.width() - _SURROUND, theme.HUGE) + 1
        cut = Qt.TextElideMode.ElideMiddle
        self.setText(self.fontMetrics().elidedText(self._full, cut, room))


def keep_room(label: Label) -> None:
    """Keeps the label's place while it is hidden, so that nothing below it moves."""
    policy = label.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    label.setSizePolicy(policy)


_MENU_LETTERS = 60
"""So much of a model's name fits into the smallest window."""


def model_menu(
    parent: QWidget, cards: Sequence[ModelCard], current: str, choose: Callable[[str], None]
) -> QMenu:
    menu = QMenu(parent)
    # The button it opens from has its icon at the right; the menu is as others are.
    menu.setLayoutDirection(QGuiApplication.layoutDirection())
    menu.setToolTipsVisible(True)
    for card in cards:
        failed = tr("could not be loaded")
        name = shortened(card.name, _MENU_LETTERS)
        action = menu.addAction(for_menu(f"{name}  ·  {failed}" if card.failure else name))
        action.setToolTip(hint(told(card.failure) or card.name))
        action.setCheckable(True)
        action.setChecked(card.name == current)
        action.triggered.connect(lambda _=False, name=card.name: choose(name))
    return menu


_LIST_OPEN, _LIST_WIDTH = "chat/list", "chat/list_width"
SHOWN_AT_ONCE = 40
"""How many messages of a saved chat are shown at first."""
DRAWN_AT_ONCE = 2
"""The most messages that are drawn before the window answers again."""


class ChatPage(Page):
    title = "Chat"
    icon = "chat"
    _left_to_draw = (0, 0)
    """The place before which messages are still to be drawn, and how many."""
    _has_room = _was_listed = True

    def __init__(self, core: Face, store: ChatStore | None = None) -> None:
        super().__init__(core)
        self._store = store or ChatStore(paths.find().data / "chats")
        self._chat = Chat()
        self._turn: Turn | None = None
        self._edited: list[Said] = []
        """The question that is being edited, and all messages after it."""
        self.drawing = delay(self, 0, lambda: self._show_before(*self._left_to_draw))
        """Draws more of an opened chat. It is active until all that is to be shown is drawn."""
        self._drafts: dict[str, str] = {}
        """The unsent text of each chat, by chat id."""
        self.new_chat = Button(tr("New chat"), "plus")
        self.show_list = Button("", "sidebar", "icon", name=tr("Show saved chats"))
        self.picker = ModelPicker()
        self.show_options = Button(tr("Options"), "settings", name=tr("Show options"))
        self.export = Button("", "external", "icon", name=tr("Export this chat"))
        self.used = Label("", "small")
        keep_room(self.used)
        self.used.hide()
        self.attached = AttachedFiles(core)
        self.chats = ChatList()
        self.options = ChatOptions(PresetStore(self._store.folder.parent / "prompts.json"))
        self.raw = RawEvents()
        self.empty = EmptyChat()
        self.transcript = Transcript()
        self.composer = Composer()
        self._body = QStackedWidget()
        self._halves = QSplitter(Qt.Orientation.Vertical)
        self.middle = Beside(
            self._halves,
            Panel(self.chats, theme.PANEL_WIDTH),
            Panel(self.options, theme.WIDE_PANEL),
        )
        self._lay_out()
        self._bind(core)

    def ask(self, text: str) -> None:
        """Sends a question. While an answer or a file is on its way, it waits in the composer."""
        if self._turn or self.attached.is_reading or self._is_refused():
            if not self.composer.editor.toPlainText():
                self.composer.editor.setPlainText(text)
            return
        self.show_conversation()
        said = asked(text, self.attached.take())
        if self._edited:
            put_beside(said, self._edited)
            self._edited = []
        self._chat.sources = list(self.attached.sources)
        self._show_question(said, len(self._chat.said))
        self._chat.said.append(said)
        self._answer()
        self._keep(self._chat)

    def _ask_suggested(self, text: str) -> None:
        """Asks a suggested question and focuses the input, because the pressed button goes away."""
        self.composer.editor.setFocus()
        self.ask(text)

    def stop(self) -> None:
        if self._turn:
            self._turn.stop()

    def clear(self) -> None:
        """Opens a new, empty chat."""
        self.attached.clear()
        self.open(Chat())
        self.composer.editor.setFocus()

    def open(self, chat: Chat, most: int = SHOWN_AT_ONCE) -> None:
        """Opens a chat and shows its last `most` messages. A button shows earlier ones."""
        self._leave_turn()
        self._edited = []
        self._change_draft(chat)
        self._chat = chat
        self.transcript.clear()
        self.used.tell("")
        self.options.show_system(chat.system)
        self.attached.show_sources(chat.sources)
        self._show_before(len(chat.said), most)
        self._body.setCurrentWidget(self.transcript if chat.said else self.empty)
        self.export.setEnabled(bool(chat.said))
        self.show_chats()

    def close_something(self) -> None:
        """Stops the answer; else gives up an edit, closes panels and focuses the composer."""
        if self._turn:
            self.stop()
            return
        if self._edited:
            self._give_up_edit()
            self.composer.editor.clear()
        self.show_options.setChecked(False)
        if self.middle.left.property("over"):
            self.show_list.setChecked(False)
        self.composer.editor.setFocus()

    def remember(self, memory: QSettings) -> None:
        """Restores whether the list of chats is open and how wide. Saves changes to `memory`."""
        if (kept := str(memory.value(_LIST_WIDTH, ""))).isdecimal():
            self.middle.left.widen(int(kept))
        self.show_list.setChecked(memory.value(_LIST_OPEN, "yes") == "yes")
        self.show_list.toggled.connect(
            lambda is_open: memory.setValue(_LIST_OPEN, "yes" if is_open else "no")
        )
        self.middle.left.widened.connect(lambda width: memory.setValue(_LIST_WIDTH, width))

    def saved(self) -> list[tuple[str, str]]:
        """Returns the id and title of each saved chat, newest first."""
        return [(chat.id, chat.title) for chat in self._store.all()]

    def attach(self, found: list[Attachment]) -> None:
        self.attached.add(found)

    async def attach_files(self, paths: list[Path]) -> None:
        self.composer.editor.setFocus()
        await self.attached.read(paths)

    def show_chats(self) -> None:
        if self.chats.isVisibleTo(self):
            self.chats.show_chats(self._store.all(), self._chat.id)

    def show_state(self, _: object) -> None:
        server, model = self.core.server.get(), self.core.model.get()
        self.empty.show_state(server, model)
        self.picker.show_model(server, model)
        serving = server.phase == "ready"
        hint = tr("Write a message") if serving else tr("Start Moat to chat with a model")
        if server.phase == "starting":
            hint = tr("Write a message; it can be sent in a moment")
        self.composer.show_open(hint, is_open=serving)
        self.transcript.allow_again(allowed=serving)

    def show_conversation(self) -> None:
        self._body.setCurrentWidget(self.transcript)

    def answer_again(self, answer: Answer, model: str = "") -> None:
        """Replaces an answer, by the model in use or, for this answer only, by `model`."""
        self._leave_turn()
        self._give_up_edit()
        replaced = self._chat.said[answer.place :]
        self._cut(answer)
        self._answer(replaced, model)

    def edit(self, question: Question) -> None:
        """Removes this question and what follows, and puts its text and files into the composer.

        Once the question is sent, the removed messages stay as another version.
        """
        self._leave_turn()
        self._give_up_edit()
        self._edited = self._chat.said[question.place :]
        self._cut(question)
        self.attach(question.attached)
        self.composer.editor.setPlainText(question.text)
        self.composer.editor.setFocus()

    async def export_to(self, path: Path) -> None:
        try:
            files.write_atomically(path, self._chat.as_markdown())
        except OSError as error:
            text = tr("The chat could not be exported: {why}.")
            raise AppError(text.format(why=error.strerror)) from error

    def turn_version(self, message: Question | Answer, number: int) -> None:
        """Switches to another version of this message and the messages that followed it."""
        self._leave_turn()
        self._give_up_edit()
        self._chat.turn_to(message.place, number)
        self.transcript.cut(message)
        self._show_from(message.place)
        self._keep(self._chat)

    def offer_models(self, answer: Answer) -> QMenu:
        """Shows a menu of the models that may answer again."""
        menu = model_menu(
            answer,
            self.core.models.cards.get(),
            answer.model,
            lambda name: self.answer_again(answer, name),
        )
        menu.popup(answer.other.mapToGlobal(answer.other.rect().bottomLeft()))
        return menu

    def _give_up_edit(self) -> None:
        """Restores the messages that were removed for an edit."""
        edited, self._edited = self._edited, []
        place = len(self._chat.said)
        self._chat.said.extend(edited)
        if edited:
            self._show_from(place)

    def _show_from(self, place: int) -> None:
        for number in range(place, len(self._chat.said)):
            self._show_said(number)

    def _change_draft(self, chat: Chat) -> None:
        """Saves the unsent text for the old chat and shows that of the new one.

        An unsent text moves along between two empty chats.
        """
        editor = self.composer.editor
        if not self._chat.said and not chat.said:
            return
        self._drafts[self._chat.id] = editor.toPlainText()
        editor.setPlainText(self._drafts.pop(chat.id, ""))

    def _cut(self, message: Question | Answer) -> None:
        self._leave_turn(kept=False)
        del self._chat.said[message.place :]
        self.transcript.cut(message)

    def _is_refused(self) -> bool:
        """Shows an error if the protocol cannot carry an image. The question and its files stay."""
        carries = dialects.of(self.options.options()).carries_images
        if carries or not any(one.image for one in self.attached.files):
            return False
        self.failed.emit(dialects.ImagesNotCarried())
        return True

    def _show_before(self, end: int, most: int = SHOWN_AT_ONCE) -> None:
        """Inserts the messages before `end` at the top, a few at a time, the nearest first.

        An answer in progress is not disturbed.
        """
        last = max(0, end - most)
        first = max(last, end - DRAWN_AT_ONCE)
        for at, place in enumerate(range(first, end)):
            self._show_said(place, at)
        self._left_to_draw = (first, first - last)
        if first > last:
            self.drawing.start()
            return
        self.drawing.stop()
        if first:
            self.transcript.offer_earlier(first, lambda: self._show_before(first))

    def _show_said(self, place: int, at: int | None = None) -> None:
        said = self._chat.said[place]
        if said.role == "user":
            self._show_question(said, place, at)
        else:
            answer = self._new_answer(place, at, said.model)
            answer.show_whole(said.text)
            before = self._chat.said[place - 1] if place else None
            answer.show_quotes(before.quotes if before else ())
            answer.versions.show_place(said.at, len(versions([said])))

    def _show_question(self, said: Said, place: int, at: int | None = None) -> None:
        question = self.transcript.ask(said.text, place, said.attached(), at)
        question.edited.connect(lambda: self.edit(question))
        question.versions.show_place(said.at, len(versions([said])))
        question.versions.turned.connect(lambda number: self.turn_version(question, number))

    def _new_answer(self, place: int, at: int | None = None, model: str = "") -> Answer:
        model = model or self.core.model.get().name or "Moat"
        answer = self.transcript.answer(model, place, at)
        answer.again.connect(lambda: self.answer_again(answer))
        answer.again_with_another.connect(lambda: self.offer_models(answer))
        answer.versions.turned.connect(lambda number: self.turn_version(answer, number))
        answer.suggested.connect(self._ask_suggested)
        return answer

    def _answer(self, replaced: Sequence[Said] = (), model: str = "") -> None:
        answer = self._new_answer(len(self._chat.said), model=model)
        self.raw.clear()
        self.composer.show_answering(answering=True)
        self._turn = Turn(self._chat, answer, self._end_turn, replaced)
        self._turn.begin(self.core, replace(self.options.options(), model=model), self.raw.add)

    def _end_turn(self, finished: Finished | None) -> None:
        turn, self._turn = self._turn, None
        try:
            # Save first: while the program ends, the widgets may be gone.
            self._keep(self._chat)
        finally:
            self.composer.show_answering(answering=False)
            self.export.setEnabled(True)
            if finished:
                self.used.tell(used_words(finished, self.core.model.get().context_tokens))
            if turn and turn.is_in_vain:
                self._show_replaced(turn)
            elif turn and turn.answer.text():
                said = self._chat.said[turn.answer.place]
                turn.answer.versions.show_place(said.at, len(versions([said])))

    def _show_replaced(self, turn: Turn) -> None:
        """Shows the old answer and what followed it again, because no new answer came."""
        self.transcript.cut(turn.answer)
        self._show_from(turn.answer.place)
        if turn.problem:
            self.failed.emit(turn.problem)

    def _leave_turn(self, *, kept: bool = True) -> None:
        """Ends the answer in progress. If `kept`, its chat keeps what has arrived."""
        turn, self._turn = self._turn, None
        self.composer.show_answering(answering=False)
        if turn:
            turn.leave()
        if turn and kept:
            turn.put_down()
            self._keep(turn.chat)

    def _keep(self, chat: Chat) -> None:
        try:
            self._store.keep(chat)
        except AppError as error:
            self.failed.emit(error)
        self.show_chats()

    def _offer_files(self) -> None:
        menu = QMenu(self.composer.attach)
        menu.addAction(tr("Attach files…")).triggered.connect(self._attach_files)
        menu.addAction(tr("Search a folder…")).triggered.connect(self._attach_folder)
        menu.popup(self.composer.attach.mapToGlobal(self.composer.attach.rect().topLeft()))

    def _attach_folder(self) -> None:
        if picked := QFileDialog.getExistingDirectory(self, tr("Search a folder")):
            self.attached.add_source(Path(picked))
            self.composer.editor.setFocus()

    def _let_go(self, path: str) -> None:
        """Stops reading a source, and deletes its index if no chat uses it any more."""
        chats = [self._chat, *(chat for chat in self._store.all() if chat.id != self._chat.id)]
        is_used = any(path in chat.sources for chat in chats)
        command = self.core.sources.stop if is_used else self.core.sources.forget
        self.run(command(path))

    def _keep_sources(self) -> None:
        self._chat.sources = list(self.attached.sources)
        if self._chat.said and not self._turn:
            self._keep(self._chat)

    def _attach_files(self) -> None:
        picked, _ = QFileDialog.getOpenFileNames(self, tr("Attach files"), filter=name_filters())
        self.run(self.attach_files([Path(one) for one in picked]))

    def _export(self) -> None:
        picked, _ = QFileDialog.getSaveFileName(self, tr("Export this chat"), "chat.md")
        if picked:
            self.run(self.export_to(Path(picked)))

    def open_saved(self, chat_id: str) -> None:
        found = self._store.find(chat_id) if chat_id != self._chat.id else None
        if found:
            self.open(found)

    def _forget(self, chat_id: str) -> None:
        gone = self._store.find(chat_id)
        if chat_id == self._chat.id:
            self._leave_turn(kept=False)
        try:
            self._store.forget(chat_id)
        except AppError as error:
            self.failed.emit(error)
        if chat_id == self._chat.id:
            self.clear()
        for path in gone.sources if gone else ():
            self._let_go(path)
        self.show_chats()

    def _amend(self, chat_id: str, **changes: object) -> None:
        if chat_id == self._chat.id:
            for name, value in changes.items():
                setattr(self._chat, name, value)
        try:
            self._store.amend(chat_id, **changes)
        except AppError as error:
            self.failed.emit(error)
        self.show_chats()

    def _set_system(self, text: str) -> None:
        self._chat.system = text

    def _show_panels(self) -> None:
        """Opens and closes the two panels. The options replace the list if both do not fit."""
        is_listed, has_options = self.show_list.isChecked(), self.show_options.isChecked()
        both_fit = self.middle.fits(self.middle.left, self.middle.right)
        shown = is_listed and (not has_options or both_fit)
        self.middle.open(self.middle.left, shown=shown)
        self.middle.open(self.middle.right, shown=has_options)
        self.show_chats()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._make_room()
        self._show_panels()

    def _make_room(self) -> None:
        """Closes the list of chats if it would cover the chat; reopens it when there is room."""
        has_room = self.middle.fits(self.middle.left)
        if has_room == self._has_room:
            return
        self._has_room = has_room
        # Without a signal: the person's own choice is what is remembered.
        with QSignalBlocker(self.show_list):
            if not has_room:
                self._was_listed = self.show_list.isChecked()
            self.show_list.setChecked(has_room and self._was_listed)

    def _offer_models(self) -> None:
        self.models_menu().popup(self.picker.mapToGlobal(self.picker.rect().bottomLeft()))

    def models_menu(self) -> QMenu:
        """Returns a menu of the installed models, with a way to more."""
        menu = model_menu(
            self.picker,
            self.core.models.cards.get(),
            self.core.model.get().name,
            lambda name: self.run(self.core.load_model(name)),
        )
        menu.addSeparator()
        more = menu.addAction(tr("More models…"))
        more.triggered.connect(lambda: self.wants_page.emit("Models"))
        return menu

    def _bind(self, core: Face) -> None:
        self.composer.sent.connect(self.ask)
        self.composer.stopped.connect(self.stop)
        self.composer.escaped.connect(self.close_something)
        self.composer.attach.clicked.connect(self._offer_files)
        self.attached.sources_changed.connect(self._keep_sources)
        self.attached.source_dropped.connect(self._let_go)
        self.take_drops(lambda _path: True, lambda found: self.run(self.attach_files(found)))
        self.attached.changed.connect(lambda: self.composer.hold(held=self.attached.is_reading))
        self.new_chat.clicked.connect(self.clear)
        self.export.clicked.connect(self._export)
        self.picker.clicked.connect(self._offer_models)
        for button in (self.show_list, self.show_options):
            button.toggled.connect(lambda _: self._show_panels())
        self.options.raw_wanted.connect(self.raw.setVisible)
        self.options.system_changed.connect(self._set_system)
        self.chats.opened.connect(self.open_saved)
        self.chats.forgotten.connect(self._forget)
        self.chats.renamed.connect(lambda chat_id, name: self._amend(chat_id, name=name))
        self.chats.pinned.connect(lambda chat_id, pinned: self._amend(chat_id, pinned=pinned))
        self.empty.suggested.connect(self._ask_suggested)
        self.empty.wants_start.connect(lambda: self.run(core.start()))
        self.empty.wants_model.connect(lambda: self.wants_page.emit("Home"))
        self.observe(core.server, self.show_state)
        self.observe(core.model, self.show_state)
        self.observe(core.sources.cards, self.attached.show_cards)
        self.observe(core.plugins.cards, self.empty.show_plugins)

    def _lay_out(self) -> None:
        self._body.addWidget(self.empty)
        self._body.addWidget(self.transcript)
        self.first = self.composer.editor
        for button in (self.show_list, self.show_options):
            button.setCheckable(True)
        self.show_list.setChecked(True)
        self.export.setEnabled(False)
        buttons = (self.export, self.show_options, self.new_chat)
        head = stack(row(self.show_list, self.picker, 0, *buttons), self.used)
        head.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
        self._halves.addWidget(self._body)
        self._halves.addWidget(self.raw)
        self._halves.setChildrenCollapsible(False)
        below = (centred(self.attached), centred(self.composer))
        layout = stack(head, self.middle, *below, grows=self.middle)
        layout.setContentsMargins(0, theme.PAGE_MARGIN, 0, theme.LARGE)
        self.setLayout(layout)
        self.raw.hide()
