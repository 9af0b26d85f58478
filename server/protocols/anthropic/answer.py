"""Our events as Anthropic's messages and stream events."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from server.chat import Json
from server.errors import AppError, ContextOverflow
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    PromptProgress,
    ReasoningDelta,
    TextDelta,
    Usage,
)
from server.protocols.base import Facts, Frames, Reply
from server.protocols.fields import Fields
from server.protocols.frames import dump, split_choice, sse, warnings_field
from server.protocols.messages import left_out

REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error",
         413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error"}  # fmt: skip


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    answer = _Answer(body, facts)
    yield _frame({"type": "message_start", "message": dict(answer.message)})
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            yield _frame(error_body(inner.error))
            return
        if isinstance(inner, PromptProgress):
            yield _frame({"type": "ping"})
        for sent in answer.see(inner):
            yield _frame(sent)


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    answer = _Answer(body, facts)
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        for _ in answer.see(inner):
            continue
    return Reply(answer.whole())


def failed(error: Exception) -> Reply:
    status = error.status if isinstance(error, AppError) else 500
    return Reply(error_body(error), status)


def error_body(error: Exception) -> Json:
    known = isinstance(error, AppError)
    status = error.status if isinstance(error, AppError) else 500
    kind = "invalid_request_error" if status < 500 else "api_error"
    message = str(error) if known else "Something went wrong inside Moat."
    if isinstance(error, ContextOverflow):
        message = f"prompt is too long: {error.needed} tokens > {error.available} maximum"
    return {"type": "error", "error": {"type": TYPES.get(status, kind), "message": message}}


class _Answer:
    """The message so far. `see` yields a stream's events for each of ours."""

    def __init__(self, body: Any, facts: Facts) -> None:
        self.message: Json = {
            "id": "msg_" + uuid4().hex,
            "type": "message",
            "role": "assistant",
            "model": body.get("model") or facts.default_model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(Usage()),
            **warnings_field(left_out(Fields(body), "mcp_servers")),
        }
        self._blocks: list[Json] = []
        self._is_open = False

    def see(self, event: Event) -> Iterator[Json]:
        match event:
            case TextDelta(text):
                yield from self._text("text", text)
            case ReasoningDelta(text):
                yield from self._text("thinking", text)
            case CallOpened(_, call_id, name):
                yield from self._call(call_id, name)
            case CallArguments(_, text):
                yield from self._arguments(text)
            case ClientToolCall(call) if not self._has(call.id):
                yield from self._call(call.id, call.name)
                yield from self._arguments(dump(call.arguments))
            case Finished(reason, usage, stop_text):
                yield from self._finish(REASONS[reason], usage, stop_text)

    def whole(self) -> Json:
        return {**self.message, "content": [_whole(block) for block in self._blocks]}

    def _text(self, kind: str, text: str) -> Iterator[Json]:
        if not self._is_open or self._blocks[-1]["type"] != kind:
            signature = {"signature": ""} if kind == "thinking" else {}
            yield from self._add({"type": kind, kind: "", **signature})
        self._blocks[-1][kind] += text
        yield self._delta({"type": f"{kind}_delta", kind: text})

    def _call(self, call_id: str, name: str) -> Iterator[Json]:
        yield from self._add({"type": "tool_use", "id": call_id, "name": name, "input": {}})
        self._blocks[-1]["arguments"] = ""

    def _arguments(self, text: str) -> Iterator[Json]:
        self._blocks[-1]["arguments"] += text
        yield self._delta({"type": "input_json_delta", "partial_json": text})

    def _add(self, block: Json) -> Iterator[Json]:
        yield from self._close()
        self._blocks.append(block)
        self._is_open = True
        index = len(self._blocks) - 1
        yield {"type": "content_block_start", "index": index, "content_block": dict(block)}

    def _close(self) -> Iterator[Json]:
        if self._is_open:
            yield {"type": "content_block_stop", "index": len(self._blocks) - 1}
        self._is_open = False

    def _finish(self, reason: str, usage: Usage, stop_text: str | None) -> Iterator[Json]:
        yield from self._close()
        ended = {
            "stop_reason": "stop_sequence" if stop_text else reason,
            "stop_sequence": stop_text,
        }
        self.message |= {**ended, "usage": _usage(usage)}
        yield {"type": "message_delta", "delta": ended, "usage": _usage(usage)}
        yield {"type": "message_stop"}

    def _delta(self, delta: Json) -> Json:
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}

    def _has(self, call_id: str) -> bool:
        return any(block.get("id") == call_id for block in self._blocks)


def _whole(block: Json) -> Json:
    if block["type"] != "tool_use":
        return block
    try:
        arguments = json.loads(block["arguments"] or "{}")
    except (ValueError, RecursionError):
        arguments = {}
    rest = {name: value for name, value in block.items() if name != "arguments"}
    return {**rest, "input": arguments}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.completion_tokens,
    }


def _frame(data: Json) -> bytes:
    return sse(data, data["type"])
