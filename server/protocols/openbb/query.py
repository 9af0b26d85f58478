"""A question about the dashboard: a lenient reader, an answer in steps, a strict writer."""

from dataclasses import replace
from functools import partial
from typing import Any

from server.errors import AppError, BadRequest
from server.events import Events
from server.protocols.base import EVENT_STREAM, Facts, Frames, Reply, Run
from server.protocols.openbb.reader import is_legacy, read_query
from server.protocols.openbb.writer import frame, write
from server.system.lazy import Late

dashboard: Any = Late("server.dashboard.run")

CLIENT_FAULTS = (408, 413, 415)


def accept(body: Any, facts: Facts, *, old_path: bool = False) -> Run:
    """Answers a question about a dashboard, step by step."""
    query = read_query(body, legacy=is_legacy(body, old_path=old_path))
    wanted = body.get("model")
    known = {card.name for card in facts.models}
    model = wanted if isinstance(wanted, str) and wanted in known else None
    if wanted and model is None:
        query = replace(query, note=f"The model {str(wanted)[:80]!r} is not installed here.")
    return Run(partial(dashboard.converse, query), model)


async def render(events: Events, body: Any, _facts: Facts, *, old_path: bool = False) -> Frames:
    async for sent in write(events, legacy=is_legacy(body, old_path=old_path)):
        yield sent


def failed(error: Exception) -> Reply:
    """An unreadable request gets a status. Any other error appears in the chat.

    For every status except 200, the client shows a generic notice and never the text.
    """
    if not isinstance(error, AppError):
        return Reply({"detail": "Something went wrong inside Moat."}, 500)
    if isinstance(error, BadRequest) or error.status in CLIENT_FAULTS:
        return Reply({"detail": str(error)}, error.status)
    spoken = frame("copilotMessageChunk", {"delta": str(error)}).decode("ascii")
    return Reply(text=spoken, content_type=EVENT_STREAM)


accept_old = partial(accept, old_path=True)
render_old = partial(render, old_path=True)
