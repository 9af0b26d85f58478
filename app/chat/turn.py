"""One turn of a chat: the question goes to the server, what comes back goes into the answer."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from app.charts.option import written
from app.chat import client
from app.chat.chats import Chat, Said
from app.chat.dialects import Options
from app.chat.message import Answer
from app.look.translate import tr
from server import tasks
from server.chat import Message
from server.errors import AppError
from server.events import (
    Artifact,
    Finished,
    ReasoningDelta,
    StatusNote,
    Suggestions,
    TextDelta,
)
from server.face.core import Face

log = logging.getLogger(__name__)

Raw = Callable[[str], None]
Over = Callable[[Finished | None], None]


class Turn:
    """An answer on its way into a chat. `over` is called at its end, unless one has left it.

    What it takes the place of goes back into the chat when nothing comes.
    """

    def __init__(
        self, chat: Chat, answer: Answer, over: Over, replaced: Sequence[Said] = ()
    ) -> None:
        self.chat = chat
        self.answer = answer
        self.problem = ""
        """Why nothing came, unless the person stopped it."""
        self._replaced = replaced
        self._over = over
        self._is_left = False
        self._is_stopped = False
        self._has_begun = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, core: Face, options: Options, raw: Raw) -> None:
        self._task = tasks.spawn(self._take(core, options, raw), "chat turn")

    def stop(self) -> None:
        """A task that is cancelled before it begins would end without a word."""
        self._is_stopped = True
        if self._task and self._has_begun:
            self._task.cancel()

    def leave(self) -> None:
        """From here on the answer's widget may be gone."""
        self._is_left = True
        self.stop()

    @property
    def is_in_vain(self) -> bool:
        """There is still only what it was to take the place of."""
        return bool(self._replaced) and not self.answer.text()

    def put_down(self) -> None:
        """What has come so far, as a part of the chat."""
        if text := self.answer.text():
            self.chat.said.append(Said("assistant", text))
        else:
            self.chat.said.extend(self._replaced)

    async def _take(self, core: Face, options: Options, raw: Raw) -> None:
        finished = None
        self._has_begun = True
        if self._is_stopped:
            self.stop()
        try:
            asked = replace(options, chat=self.chat.id)
            finished = await listen(core, self.chat.messages(), asked, self.answer, raw)
            self.problem = tr("The model gave an empty answer.")
        except asyncio.CancelledError:
            if not self._is_left:
                self.answer.stop()
        except Exception as error:  # noqa: BLE001 - whatever it was, the turn is over
            self.problem = why(error)
            if not self._is_left:
                self.answer.fail(self.problem)
        finally:
            if not self._is_left:
                self.put_down()
                self._over(finished)


async def listen(
    core: Face,
    messages: Sequence[Message],
    options: Options,
    answer: Answer,
    raw: Raw,
) -> Finished | None:
    """Until the answer is over; None when it never said so."""
    settings = core.settings.get().server
    needs_key = settings.require_key or settings.listen == "network"
    key = await core.access_key() if needs_key else ""
    address = core.server.get().address
    finished: Finished | None = None
    asked = client.ask(address, key, messages, options, raw, await core.own_key())
    async with aclosing(asked) as heard:
        async for piece in heard:
            match piece:
                case TextDelta(text):
                    answer.add_text(text)
                case ReasoningDelta(text):
                    answer.add_thought(text)
                case StatusNote(text):
                    answer.add_step(text)
                case Suggestions(prompts):
                    answer.suggest(prompts)
                case Artifact():
                    answer.add_block(written(piece))
                case Finished():
                    answer.finish(piece)
                    finished = piece
    return finished


def used_words(finished: Finished, context_tokens: int) -> str:
    """How much of the context is used; nothing where that is not known."""
    used = finished.usage.prompt_tokens + finished.usage.completion_tokens
    if not used or not context_tokens:
        return ""
    words = tr("{used} of {all} tokens of context used")
    return words.format(used=f"{used:,}", all=f"{context_tokens:,}")


def why(error: Exception) -> str:
    """The sentence of what ended a turn; what has none is told in the log."""
    if isinstance(error, AppError):
        return str(error)
    log.error("A turn of the chat failed", exc_info=error)
    return "Something went wrong inside Moat."
