"""Chat: a tester that talks to the server over the same API as everybody else."""

import asyncio
from contextlib import aclosing

from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app import client, theme
from app.pages.base import Page
from app.widgets.composer import Composer
from app.widgets.controls import Button, Label, row
from app.widgets.empty_chat import EmptyChat
from app.widgets.message import Answer
from app.widgets.transcript import Transcript
from server import tasks
from server.chat import Message
from server.errors import AppError
from server.events import Finished, ReasoningDelta, TextDelta
from server.face import Face


class ChatPage(Page):
    title = "Chat"
    icon = "chat"

    def __init__(self, core: Face) -> None:
        super().__init__(core)
        self._messages: list[Message] = []
        self._turn: asyncio.Task[None] | None = None
        self.new_chat = Button("New chat", "plus")
        self.empty = EmptyChat()
        self.transcript = Transcript()
        self.composer = Composer()
        self._body = QStackedWidget()
        self._lay_out()
        self._bind(core)

    def ask(self, text: str) -> None:
        self.show_conversation()
        self.transcript.ask(text)
        self._messages.append(Message("user", text))
        answer = self.transcript.answer(self.core.model.get().name or "Moat")
        self.composer.show_answering(answering=True)
        self._turn = tasks.spawn(self._take_turn(answer), "chat turn")

    def stop(self) -> None:
        if self._turn:
            self._turn.cancel()

    def clear(self) -> None:
        self.stop()
        self._turn = None
        self._messages = []
        self.composer.show_answering(answering=False)
        self.transcript.clear()
        self._body.setCurrentWidget(self.empty)
        self.composer.editor.setFocus()

    def show_state(self, _: object) -> None:
        server, model = self.core.server.get(), self.core.model.get()
        self.empty.show_state(server, model)
        serving = server.phase == "ready"
        hint = "Write a message" if serving else "Start Moat to write to a model"
        self.composer.show_open(hint, is_open=serving)

    def show_conversation(self) -> None:
        self._body.setCurrentWidget(self.transcript)

    async def _take_turn(self, answer: Answer) -> None:
        messages = self._messages
        try:
            await self._listen(answer, messages)
        except asyncio.CancelledError:
            # After "New chat" the answer's widget is gone.
            if messages is self._messages:
                answer.stop()
        except AppError as error:
            answer.fail(str(error))
        if messages is self._messages:
            if answer.text():
                messages.append(Message("assistant", answer.text()))
            self._turn = None
            self.composer.show_answering(answering=False)

    async def _listen(self, answer: Answer, messages: list[Message]) -> None:
        settings = self.core.settings.get().server
        needs_key = settings.require_key or settings.listen == "network"
        key = await self.core.access_key() if needs_key else ""
        address = self.core.server.get().address
        async with aclosing(client.ask(address, key, messages)) as heard:
            async for piece in heard:
                match piece:
                    case TextDelta(text):
                        answer.add_text(text)
                    case ReasoningDelta(text):
                        answer.add_thought(text)
                    case Finished():
                        answer.finish(piece)

    def _bind(self, core: Face) -> None:
        self.composer.sent.connect(self.ask)
        self.composer.stopped.connect(self.stop)
        self.new_chat.clicked.connect(self.clear)
        self.empty.suggested.connect(self.ask)
        self.empty.wants_start.connect(lambda: self.run(core.start()))
        self.empty.wants_model.connect(lambda: self.wants_page.emit("Home"))
        self.observe(core.server, self.show_state)
        self.observe(core.model, self.show_state)

    def _lay_out(self) -> None:
        self._body.addWidget(self.empty)
        self._body.addWidget(self.transcript)
        self.first = self.composer.editor
        head = QWidget()
        head.setLayout(row(Label("Chat", "title"), 0, self.new_chat))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.PAGE_MARGIN, 0, theme.LARGE)
        layout.addLayout(_centred(head))
        layout.addWidget(self._body, 1)
        layout.addLayout(_centred(self.composer))


def _centred(part: QWidget) -> QHBoxLayout:
    part.setMaximumWidth(theme.READING_WIDTH)
    line = QHBoxLayout()
    line.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
    line.addStretch(1)
    line.addWidget(part, 1000)
    line.addStretch(1)
    return line
