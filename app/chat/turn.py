"""One turn of a chat: sends the question to the server, and shows what comes back as the answer."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace

import aiohttp

from app.charts.figure import written
from app.chat import dialects
from app.chat.chats import Chat, Quote, Said, put_beside
from app.chat.dialects import Heard, Options
from app.chat.transcript import Answer
from app.desktop.probe import NAME
from app.look.translate import numeral, told, tr
from server import tasks
from server.chat import Message
from server.errors import AppError, LinkLost
from server.events import Artifact, Finished, ReasoningDelta, StatusNote, Suggestions, TextDelta
from server.face.core import Face
from server.sentences import Sentence
from server.sse import Reader, Sent

log = logging.getLogger(__name__)

_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=5)
_LONGEST_LINE = 2**20
NOT_UNDERSTOOD = Sentence("The server sent something this window does not understand.")
OWN_HEADER = "X-Moat-Window"
CHAT_HEADER = "X-Moat-Chat"
STEP = "step "
"""The prefix of an SSE comment that names a flow's step: OpenAI's protocol has no event for it."""


async def ask(
    address: str,
    key: str,
    messages: Sequence[Message],
    options: Options = Options(),  # noqa: B008
    raw: Callable[[str], None] = lambda _line: None,
    own_key: str = "",
) -> AsyncGenerator[Heard, None]:
    """Streams an answer. `raw` gets every line. Raises AppError on failure.

    `own_key` shows the server that Moat's own window asks.
    """
    dialect = dialects.of(options)
    headers = {"User-Agent": NAME}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    if own_key:
        headers[OWN_HEADER] = own_key
    if options.chat:
        headers[CHAT_HEADER] = options.chat
    body = dialect.body(messages, options)
    try:
        async with (
            aiohttp.ClientSession(timeout=_TIMEOUT) as session,
            session.post(f"{address}{dialect.path}", json=body, headers=headers) as response,
        ):
            raw(f"POST {dialect.path}  {response.status}")
            await _check(response)
            async for event, data in _events(response, raw):
                for heard in dialect.read(event, data):
                    yield heard
            yield dialect.end()
    except aiohttp.ClientError as error:
        raise LinkLost from error
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Its events are no JSON, or have another form. Log no message: it quotes the answer.
        log.warning("An answer could not be read: %s", type(error).__name__)
        raise AppError(NOT_UNDERSTOOD) from error


async def _check(response: aiohttp.ClientResponse) -> None:
    if response.ok:
        return
    try:
        body = await response.json()
    except (ValueError, aiohttp.ContentTypeError):
        body = None
    if isinstance(body, dict):
        raise dialects.failure(body)
    raise AppError(Sentence("The server answered with status {0}.", response.status))


async def _events(
    response: aiohttp.ClientResponse, raw: Callable[[str], None]
) -> AsyncIterator[tuple[str, str]]:
    reader = Reader(_LONGEST_LINE, on_line=raw)
    async for chunk in response.content.iter_any():
        for item in reader.feed(chunk):
            if isinstance(item, Sent):
                yield item.event, item.data
            elif item.text.startswith(STEP):
                yield "step", item.text.removeprefix(STEP)


Raw = Callable[[str], None]
Over = Callable[[Finished | None], None]


MOST_QUOTES = 6
"""The most passages for a question. With 700 characters each they take about 1,000 tokens."""


class Turn:
    """An answer on its way into a chat. `over` is called at its end, unless the turn was left.

    Messages that it replaces stay as another version, or come back if no answer arrives.
    """

    def __init__(
        self, chat: Chat, answer: Answer, over: Over, replaced: Sequence[Said] = ()
    ) -> None:
        self.chat = chat
        self.answer = answer
        self.problem: AppError | None = None
        """Why no answer came; None if the person stopped it."""
        self._replaced = replaced
        self._over = over
        self._is_left = False
        self._is_stopped = False
        self._has_begun = False
        self._task: asyncio.Task[None] | None = None

    def begin(self, core: Face, options: Options, raw: Raw) -> None:
        self._task = tasks.spawn(self._take(core, options, raw), "chat turn")

    def stop(self) -> None:
        """Stops the turn. A task that is cancelled before it starts would never call `over`."""
        self._is_stopped = True
        if self._task and self._has_begun:
            self._task.cancel()

    def leave(self) -> None:
        """Stops the turn for good. From now on the answer's widget may be gone."""
        self._is_left = True
        self.stop()

    @property
    def is_in_vain(self) -> bool:
        """Whether no answer came, although there was one to replace."""
        return bool(self._replaced) and not self.answer.text()

    def put_down(self) -> None:
        """Adds what has arrived so far to the chat."""
        if text := self.answer.text():
            said = Said("assistant", text, model=self.answer.model)
            if self._replaced:
                put_beside(said, self._replaced)
            self.chat.said.append(said)
        else:
            self.chat.said.extend(self._replaced)

    async def _take(self, core: Face, options: Options, raw: Raw) -> None:
        finished = None
        self._has_begun = True
        if self._is_stopped:
            self.stop()
        try:
            await self._look_up(core)
            asked = replace(options, chat=self.chat.id)
            finished = await listen(core, self.chat.messages(), asked, self.answer, raw)
            self.problem = AppError(tr("The model returned an empty answer."))
        except asyncio.CancelledError:
            if not self._is_left:
                self.answer.stop()
        except Exception as error:  # noqa: BLE001 - whatever it was, the turn is over
            self.problem = await why(core, error)
            if not self._is_left:
                self.answer.fail(self.problem)
        finally:
            if not self._is_left:
                self.put_down()
                self._over(finished)

    async def _look_up(self, core: Face) -> None:
        """Finds passages for the last question in the chat's sources."""
        question = self.chat.said[-1]
        if not self.chat.sources:
            return
        self.answer.add_step(tr("Searching your files…"))
        try:
            found = await core.sources.find(self.chat.sources, question.text, MOST_QUOTES)
        except AppError as error:
            # Answer even if a source is gone.
            self.answer.add_step(told(str(error)))
            return
        question.quotes = [Quote(one.name, one.page, one.sheet, one.text) for one in found]
        if not found:
            self.answer.add_step(tr("Nothing in your files matches this question."))
        if not self._is_left:
            self.answer.show_quotes(question.quotes)


async def listen(
    core: Face,
    messages: Sequence[Message],
    options: Options,
    answer: Answer,
    raw: Raw,
) -> Finished | None:
    """Shows the events of an answer. Returns its last event; None if none came."""
    key = await core.access_key() if core.settings.get().server.asks_for_key else ""
    address = core.server.get().address
    finished: Finished | None = None
    asked = ask(address, key, messages, options, raw, await core.own_key())
    async with aclosing(asked) as heard:
        async for piece in heard:
            match piece:
                case TextDelta(text):
                    answer.add_text(text)
                case ReasoningDelta(text):
                    answer.add_thought(text)
                case StatusNote(text):
                    answer.add_step(await core.recall(text))
                case Suggestions(prompts):
                    answer.suggest(prompts)
                case Artifact():
                    answer.add_block(written(piece))
                case Finished():
                    answer.finish(piece)
                    finished = piece
    return finished


def used_words(finished: Finished, context_tokens: int) -> str:
    """Describes how much of the context is used; empty if that is not known."""
    used = finished.usage.prompt_tokens + finished.usage.completion_tokens
    if not used or not context_tokens:
        return ""
    words = tr("{used} of {all} tokens of context used")
    return words.format(used=numeral(used), all=numeral(context_tokens))


async def why(core: Face, error: Exception) -> AppError:
    """Returns the error to show. Logs an unexpected exception."""
    if isinstance(error, AppError):
        with suppress(AppError):
            error.args = (await core.recall(str(error)),)
        return error
    log.error("A turn of the chat failed", exc_info=error)
    found = AppError(Sentence("Something went wrong inside Moat."))
    found.known_details = type(error).__name__
    return found
