"""OpenBB's first copilot protocol: copilots.json and /v1/query, answered in text chunks."""

import json
from typing import Any

from server.chat import ChatRequest, Json, Message
from server.errors import AppError, BadRequest
from server.events import Events, Failed, TextDelta
from server.protocols.base import Endpoint, Facts, Frames, Reply

ROLES = {"human": "user", "ai": "assistant"}


class EmptyConversation(BadRequest):
    status = 422

    def __init__(self) -> None:
        super().__init__("messages list cannot be empty", "messages")


def describe(_body: Any, facts: Facts) -> Reply:
    copilot = {
        "name": "Moat",
        "description": f"A model on your own computer ({facts.default_model}).",
        "image": "",
        "hasStreaming": True,
        "hasFunctionCalling": False,
        "hasDocuments": False,
        "endpoints": {"query": f"{facts.address}/v1/query"},
    }
    return Reply({"moat": copilot})


def accept(body: Any, _facts: Facts) -> ChatRequest:
    if not isinstance(body, dict):
        raise BadRequest("The body must be an object.")
    sent = body.get("messages")
    if not isinstance(sent, list):
        raise BadRequest("'messages' must be a list.", "messages")
    messages = tuple(read for message in sent if (read := _read(message)) is not None)
    if not messages:
        raise EmptyConversation
    return ChatRequest((*_context(body.get("context")), *messages))


async def render(events: Events, _body: Any, _facts: Facts) -> Frames:
    async for event in events:
        match event:
            case TextDelta(text) if text:
                yield _chunk(text)
            case Failed(error):
                yield _chunk(f"\n\n**{error}**")
            case _:
                pass


def _read(message: Any) -> Message | None:
    if not isinstance(message, dict):
        raise BadRequest("Each message must be an object.", "messages")
    role, content = message.get("role"), message.get("content")
    if role not in ROLES or not isinstance(content, str):
        return None
    return Message("user" if role == "human" else "assistant", content)


def _context(context: Any) -> tuple[Message, ...]:
    if not context:
        return ()
    text = context if isinstance(context, str) else json.dumps(context, ensure_ascii=False)
    return (Message("system", f"The user's data:\n{text}"),)


def _chunk(text: str) -> bytes:
    return f"event: copilotMessageChunk\ndata: {json.dumps({'delta': text})}\n\n".encode("ascii")


def failed(error: Exception) -> Reply:
    status = error.status if isinstance(error, AppError) else 500
    body: Json = {"detail": str(error)}
    return Reply(body, status)


ENDPOINTS = (
    Endpoint("GET", "/copilots.json", describe),
    Endpoint("POST", "/v1/query", accept, render, failed=failed),
)
