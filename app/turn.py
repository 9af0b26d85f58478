"""One turn of a chat: the question goes to the server, what comes back goes into the answer."""

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing

from app import client
from app.charts.option import written
from app.dialects import Options
from app.widgets.message import Answer
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
from server.face import Face

log = logging.getLogger(__name__)


async def listen(
    core: Face,
    messages: Sequence[Message],
    options: Options,
    answer: Answer,
    raw: Callable[[str], None],
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


def why(error: Exception) -> str:
    """The sentence of what ended a turn; what has none is told in the log."""
    if isinstance(error, AppError):
        return str(error)
    log.error("A turn of the chat failed", exc_info=error)
    return "Something went wrong inside Moat."
