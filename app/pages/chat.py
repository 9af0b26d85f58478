"""Chat: a tester that talks to the server over the same API as everybody else."""

import asyncio
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

from app import attachments, theme
from app.attachments import Attachment
from app.chats import Chat, ChatStore, Said
from app.pages.base import Page
from app.sentences import told
from app.turn import listen, why
from app.widgets.beside import Beside, Panel
from app.widgets.centred import centred
from app.widgets.chat_list import ChatList
from app.widgets.chat_options import ChatOptions
from app.widgets.composer import Composer
from app.widgets.controls import Button, Label, row, stack
from app.widgets.empty_chat import EmptyChat
from app.widgets.message import Answer, Question
from app.widgets.raw_events import RawEvents
from app.widgets.transcript import Transcript
from app.words import tr
from server import files, paths, tasks
from server.errors import AppError
from server.events import Finished
from server.face import Face

_SHOWN_LETTERS = 2000
SHOWN_AT_ONCE = 40


class ChatPage(Page):
    title = "Chat"
    icon = "chat"

    def __init__(self, core: Face, store: ChatStore | None = None) -> None:
        super().__init__(core)
        self._store = store or ChatStore(paths.find().data / "chats")
        self._chat = Chat()
        self._turn: asyncio.Task[None] | None = None
        self._attached: list[Attachment] = []
        self.new_chat = Button(tr("New chat"), "plus")
        self.show_list = Button(tr("Chats"), "logs", name=tr("Show kept chats"))
        self.show_options = Button(tr("Options"), "settings", name=tr("Show options"))
        self.export = Button("", "external", "icon", name=tr("Export this chat"))
        self.used = Label("", "small")
        self.attached = Label("", "small", wrap=True)
        self.detach = Button("", "close", "icon", name=tr("Remove the attached files"))
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
        """One turn at a time: what is asked while an answer comes waits in the composer."""
        if self._turn:
            if not self.composer.editor.toPlainText():
                self.composer.editor.setPlainText(text)
            return
        self.show_conversation()
        whole = attachments.joined(text, self._attached)
        images = [attachments.as_url(one.image) for one in self._attached if one.image]
        self.attach([])
        self._show_question(whole)
        self._chat.said.append(Said("user", whole, images))
        self._answer()

    def stop(self) -> None:
        if self._turn:
            self._turn.cancel()

    def clear(self) -> None:
        self.open(Chat(system=self._chat.system))
        self.composer.editor.setFocus()

    def open(self, chat: Chat, most: int = SHOWN_AT_ONCE) -> None:
        """Its last messages; the earlier ones when they are asked for."""
        self.stop()
        self._turn = None
        self._chat = chat
        self.composer.show_answering(answering=False)
        self.transcript.clear()
        self.used.setText("")
        self.options.show_system(chat.system)
        hidden = max(0, len(chat.said) - most)
        if hidden:
            self.transcript.offer_earlier(hidden, lambda: self.open(chat, most + SHOWN_AT_ONCE))
        for place, said in enumerate(chat.said[hidden:], hidden):
            if said.role == "user":
                self._show_question(said.text, place)
            else:
                self._new_answer(place).show_whole(said.text)
        self._body.setCurrentWidget(self.transcript if chat.said else self.empty)
        self.export.setEnabled(bool(chat.said))
        self.show_chats()

    def attach(self, found: list[Attachment]) -> None:
        self._attached = found
        names = ", ".join(one.name for one in found)
        words = [tr("With {names}").format(names=names)] if found else []
        words += [told(note) for one in found for note in one.notes]
        self.attached.tell("  ".join(words))
        self.detach.setVisible(bool(found))

    def show_chats(self) -> None:
        if self.chats.isVisibleTo(self):
            self.chats.show_chats(self._store.all(), self._chat.id)

    def show_state(self, _: object) -> None:
        server, model = self.core.server.get(), self.core.model.get()
        self.empty.show_state(server, model)
        serving = server.phase == "ready"
        hint = tr("Write a message") if serving else tr("Start Moat to write to a model")
        self.composer.show_open(hint, is_open=serving)

    def show_conversation(self) -> None:
        self._body.setCurrentWidget(self.transcript)

    def answer_again(self, answer: Answer) -> None:
        self._cut(answer)
        self._answer()

    def edit(self, question: Question) -> None:
        """Back to before this question, with its text to change."""
        self._cut(question)
        self.composer.editor.setPlainText(question.text)
        self.composer.editor.setFocus()

    async def export_to(self, path: Path) -> None:
        try:
            files.write_atomically(path, self._chat.as_markdown())
        except OSError as error:
            text = tr("The chat could not be exported: {why}.")
            raise AppError(text.format(why=error.strerror)) from error

    def _cut(self, message: Question | Answer) -> None:
        self.stop()
        self._turn = None
        del self._chat.said[message.place :]
        # A new list, so that the turn that was stopped adds nothing to it.
        self._chat.said = list(self._chat.said)
        self.transcript.cut(message)
        self.composer.show_answering(answering=False)

    def _show_question(self, text: str, place: int | None = None) -> None:
        shown = text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…"
        question = self.transcript.ask(shown, len(self._chat.said) if place is None else place)
        question.text = text
        question.edited.connect(lambda: self.edit(question))

    def _new_answer(self, place: int) -> Answer:
        answer = self.transcript.answer(self.core.model.get().name or "Moat", place)
        answer.again.connect(lambda: self.answer_again(answer))
        answer.suggested.connect(self.ask)
        return answer

    def _answer(self) -> None:
        answer = self._new_answer(len(self._chat.said))
        self.raw.clear()
        self.composer.show_answering(answering=True)
        self._turn = tasks.spawn(self._take_turn(answer), "chat turn")

    async def _take_turn(self, answer: Answer) -> None:
        chat, said = self._chat, self._chat.said
        try:
            finished = await listen(
                self.core, chat.messages(), self.options.options(), answer, self.raw.add
            )
            if finished:
                self._show_used(finished)
        except asyncio.CancelledError:
            # After "New chat" the answer's widget is gone.
            if said is self._chat.said:
                answer.stop()
        except Exception as error:  # noqa: BLE001 - whatever it was, the turn is over
            sentence = why(error)
            if said is self._chat.said:
                answer.fail(sentence)
        finally:
            if said is self._chat.said:
                self._end_turn(answer)

    def _end_turn(self, answer: Answer) -> None:
        if answer.text():
            self._chat.said.append(Said("assistant", answer.text()))
        self._turn = None
        self.composer.show_answering(answering=False)
        self.export.setEnabled(True)
        self.run(self._keep(self._chat))

    async def _keep(self, chat: Chat) -> None:
        self._store.keep(chat)
        self.show_chats()

    def _show_used(self, finished: Finished) -> None:
        used = finished.usage.prompt_tokens + finished.usage.completion_tokens
        context = self.core.model.get().context_tokens
        if used and context:
            words = tr("{used} of {all} tokens of context used")
            self.used.setText(words.format(used=f"{used:,}", all=f"{context:,}"))

    def _attach_files(self) -> None:
        picked, _ = QFileDialog.getOpenFileNames(self, tr("Attach files"))
        self.run(self.attach_files([Path(one) for one in picked]))

    async def attach_files(self, paths: list[Path]) -> None:
        """Those before a file that cannot be read stay attached."""
        for path in paths:
            self.attach([*self._attached, await attachments.read(path, self.core)])

    def _export(self) -> None:
        picked, _ = QFileDialog.getSaveFileName(self, tr("Export this chat"), "chat.md")
        if picked:
            self.run(self.export_to(Path(picked)))

    def _open_kept(self, chat_id: str) -> None:
        found = next((one for one in self._store.all() if one.id == chat_id), None)
        if found and found.id != self._chat.id:
            self.open(found)

    def _forget(self, chat_id: str) -> None:
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
        self.detach.clicked.connect(lambda: self.attach([]))
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
        head.setLayout(
            row(
                Label(tr("Chat"), "title"), 0, self.used, self.export,
                self.show_list, self.show_options, self.new_chat,
            )
        )  # fmt: skip
        self.side.setLayout(stack(self.options, self.raw, spacing=theme.MEDIUM))
        files_line = QWidget()
        files_line.setLayout(row(self.attached, self.detach, 0))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.PAGE_MARGIN, 0, theme.LARGE)
        layout.addLayout(centred(head))
        layout.addWidget(self.middle, 1)
        layout.addLayout(centred(files_line))
        layout.addLayout(centred(self.composer))
        for hidden in (self.raw, self.attached, self.detach):
            hidden.hide()
