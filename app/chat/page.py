"""Chat: a tester that talks to the server over the same API as everybody else."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app.chat import dialects
from app.chat.attached import AttachedFiles
from app.chat.attachments import Attachment
from app.chat.chat_list import ChatList
from app.chat.chats import Chat, ChatStore, Said, asked
from app.chat.composer import Composer
from app.chat.empty_chat import EmptyChat
from app.chat.message import Answer, Question
from app.chat.options import ChatOptions
from app.chat.raw_events import RawEvents
from app.chat.transcript import Transcript
from app.chat.turn import Turn, used_words
from app.look import theme
from app.look.beside import Beside, Panel
from app.look.centred import centred
from app.look.controls import Button, Label, row, stack
from app.look.page import Page
from app.look.translate import tr
from server.errors import AppError
from server.events import Finished
from server.face.core import Face
from server.system import files, paths

SHOWN_AT_ONCE = 40


class ChatPage(Page):
    title = "Chat"
    icon = "chat"

    def __init__(self, core: Face, store: ChatStore | None = None) -> None:
        super().__init__(core)
        self._store = store or ChatStore(paths.find().data / "chats")
        self._chat = Chat()
        self._turn: Turn | None = None
        self.new_chat = Button(tr("New chat"), "plus")
        self.show_list = Button(tr("Chats"), "logs", name=tr("Show kept chats"))
        self.show_options = Button(tr("Options"), "settings", name=tr("Show options"))
        self.export = Button("", "external", "icon", name=tr("Export this chat"))
        self.used = Label("", "small")
        self.used.hide()
        self.attached = AttachedFiles(core)
        self.chats = ChatList()
        self.options = ChatOptions()
        self.raw = RawEvents()
        self.side = QWidget()
        self.empty = EmptyChat()
        self.transcript = Transcript()
        self.composer = Composer()
        self._body = QStackedWidget()
        self.middle = Beside(
            self._body,
            Panel(self.chats, theme.PANEL_WIDTH),
            Panel(self.side, theme.WIDE_PANEL),
        )
        self._lay_out()
        self._bind(core)

    def ask(self, text: str) -> None:
        """One turn at a time, with all its files: until then it waits in the composer."""
        if self._turn or self.attached.is_reading or self._is_refused():
            if not self.composer.editor.toPlainText():
                self.composer.editor.setPlainText(text)
            return
        self.show_conversation()
        said = asked(text, self.attached.take())
        self._show_question(said, len(self._chat.said))
        self._chat.said.append(said)
        self._answer()
        self._keep(self._chat)

    def stop(self) -> None:
        if self._turn:
            self._turn.stop()

    def clear(self) -> None:
        self.open(Chat(system=self._chat.system))
        self.composer.editor.setFocus()

    def open(self, chat: Chat, most: int = SHOWN_AT_ONCE) -> None:
        """Its last messages; the earlier ones when they are asked for."""
        self._leave_turn()
        self._chat = chat
        self.transcript.clear()
        self.used.tell("")
        self.options.show_system(chat.system)
        self._show_before(len(chat.said), most)
        self._body.setCurrentWidget(self.transcript if chat.said else self.empty)
        self.export.setEnabled(bool(chat.said))
        self.show_chats()

    def attach(self, found: list[Attachment]) -> None:
        self.attached.add(found)

    async def attach_files(self, paths: list[Path]) -> None:
        await self.attached.read(paths)

    def show_chats(self) -> None:
        if self.chats.isVisibleTo(self):
            self.chats.show_chats(self._store.all(), self._chat.id)

    def show_state(self, _: object) -> None:
        server, model = self.core.server.get(), self.core.model.get()
        self.empty.show_state(server, model)
        serving = server.phase == "ready"
        hint = tr("Write a message") if serving else tr("Start Moat to write to a model")
        self.composer.show_open(hint, is_open=serving)
        self.transcript.allow_again(allowed=serving)

    def show_conversation(self) -> None:
        self._body.setCurrentWidget(self.transcript)

    def answer_again(self, answer: Answer) -> None:
        self._leave_turn()
        replaced = self._chat.said[answer.place :]
        self._cut(answer)
        self._answer(replaced)

    def edit(self, question: Question) -> None:
        """Back to before this question, with its text to change and its images."""
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

    def _cut(self, message: Question | Answer) -> None:
        self._leave_turn(kept=False)
        del self._chat.said[message.place :]
        self.transcript.cut(message)

    def _is_refused(self) -> bool:
        """Told before anything is asked, so that question and files stay where they are."""
        carries = dialects.of(self.options.options()).carries_images
        if carries or not any(one.image for one in self.attached.files):
            return False
        self.failed.emit(str(dialects.ImagesNotCarried()))
        return True

    def _show_before(self, end: int, most: int = SHOWN_AT_ONCE) -> None:
        """Above what is there, so that an answer on its way goes on."""
        first = max(0, end - most)
        for at, place in enumerate(range(first, end)):
            self._show_said(place, at)
        if first:
            self.transcript.offer_earlier(first, lambda: self._show_before(first))

    def _show_said(self, place: int, at: int | None = None) -> None:
        said = self._chat.said[place]
        if said.role == "user":
            self._show_question(said, place, at)
        else:
            self._new_answer(place, at).show_whole(said.text)

    def _show_question(self, said: Said, place: int, at: int | None = None) -> None:
        question = self.transcript.ask(said.text, place, said.attached(), at)
        question.edited.connect(lambda: self.edit(question))

    def _new_answer(self, place: int, at: int | None = None) -> Answer:
        answer = self.transcript.answer(self.core.model.get().name or "Moat", place, at)
        answer.again.connect(lambda: self.answer_again(answer))
        answer.suggested.connect(self.ask)
        return answer

    def _answer(self, replaced: Sequence[Said] = ()) -> None:
        answer = self._new_answer(len(self._chat.said))
        self.raw.clear()
        self.composer.show_answering(answering=True)
        self._turn = Turn(self._chat, answer, self._end_turn, replaced)
        self._turn.begin(self.core, self.options.options(), self.raw.add)

    def _end_turn(self, finished: Finished | None) -> None:
        turn, self._turn = self._turn, None
        try:
            # First: while the program ends there may be nothing left to show it on.
            self._keep(self._chat)
        finally:
            self.composer.show_answering(answering=False)
            self.export.setEnabled(True)
            if finished:
                self.used.tell(used_words(finished, self.core.model.get().context_tokens))
            if turn and turn.is_in_vain:
                self._show_replaced(turn)

    def _show_replaced(self, turn: Turn) -> None:
        """No new answer came: the old one and what followed it are there again."""
        self.transcript.cut(turn.answer)
        for place in range(turn.answer.place, len(self._chat.said)):
            self._show_said(place)
        if turn.problem:
            self.failed.emit(turn.problem)

    def _leave_turn(self, *, kept: bool = True) -> None:
        """The answer ends here; its chat keeps what has come of it."""
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
            self.failed.emit(str(error))
        self.show_chats()

    def _attach_files(self) -> None:
        picked, _ = QFileDialog.getOpenFileNames(self, tr("Attach files"))
        self.run(self.attach_files([Path(one) for one in picked]))

    def _export(self) -> None:
        picked, _ = QFileDialog.getSaveFileName(self, tr("Export this chat"), "chat.md")
        if picked:
            self.run(self.export_to(Path(picked)))

    def _open_kept(self, chat_id: str) -> None:
        found = next((one for one in self._store.all() if one.id == chat_id), None)
        if found and found.id != self._chat.id:
            self.open(found)

    def _forget(self, chat_id: str) -> None:
        if chat_id == self._chat.id:
            self._leave_turn(kept=False)
        try:
            self._store.forget(chat_id)
        except AppError as error:
            self.failed.emit(str(error))
        if chat_id == self._chat.id:
            self.clear()
        self.show_chats()

    def _set_system(self, text: str) -> None:
        self._chat.system = text

    def _show_panels(self, pressed: Button) -> None:
        """One beside the conversation at a time: both leave it too little room."""
        other = self.show_options if pressed is self.show_list else self.show_list
        if pressed.isChecked():
            other.setChecked(False)
        self.middle.open(self.middle.left, shown=self.show_list.isChecked())
        self.middle.open(self.middle.right, shown=self.show_options.isChecked())
        self.show_chats()

    def _bind(self, core: Face) -> None:
        self.composer.sent.connect(self.ask)
        self.composer.stopped.connect(self.stop)
        self.composer.attach.clicked.connect(self._attach_files)
        self.attached.changed.connect(lambda: self.composer.hold(held=self.attached.is_reading))
        self.new_chat.clicked.connect(self.clear)
        self.export.clicked.connect(self._export)
        self.show_list.toggled.connect(lambda _: self._show_panels(self.show_list))
        self.show_options.toggled.connect(lambda _: self._show_panels(self.show_options))
        self.options.raw_wanted.connect(self.raw.setVisible)
        self.options.system_changed.connect(self._set_system)
        self.chats.opened.connect(self._open_kept)
        self.chats.forgotten.connect(self._forget)
        self.empty.suggested.connect(self.ask)
        self.empty.wants_start.connect(lambda: self.run(core.start()))
        self.empty.wants_model.connect(lambda: self.wants_page.emit("Home"))
        self.observe(core.server, self.show_state)
        self.observe(core.model, self.show_state)
        self.observe(core.plugins, self.empty.show_plugins)

    def _lay_out(self) -> None:
        self._body.addWidget(self.empty)
        self._body.addWidget(self.transcript)
        self.first = self.composer.editor
        for button in (self.show_list, self.show_options):
            button.setCheckable(True)
        self.export.setEnabled(False)
        head = QWidget()
        lines = stack(spacing=0)
        buttons = (self.export, self.show_list, self.show_options, self.new_chat)
        lines.addLayout(row(Label(tr("Chat"), "title"), 0, *buttons))
        lines.addWidget(self.used)
        head.setLayout(lines)
        self.side.setLayout(stack(self.options, self.raw, spacing=theme.MEDIUM))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.PAGE_MARGIN, 0, theme.LARGE)
        layout.addLayout(centred(head))
        layout.addWidget(self.middle, 1)
        layout.addLayout(centred(self.attached))
        layout.addLayout(centred(self.composer))
        self.raw.hide()
