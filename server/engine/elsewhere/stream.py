"""The event stream of an OpenAI-compatible server, read into pieces."""

import json
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass
from typing import Any

from server.chat import Json, ToolCall
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
    Usage,
)

DONE = "[DONE]"
_REASONS: dict[str, StopReason] = {
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


async def data_lines(chunks: AsyncIterable[bytes]) -> AsyncGenerator[str, None]:
    """What follows `data:` in each line; comments, event names and blank lines are skipped."""
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            field, _, text = line.partition(b":")
            if field == b"data":
                yield text.decode(errors="replace").strip()


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    name: str
    arguments: str = ""


class RemoteAnswer:
    """Feed it chunks, then `finish` it. `reason` is None until the server said that it ended.

    A chunk of another shape is one of the errors Python has for that.
    """

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        self._usage = Usage()
        self._calls: dict[int, _Call] = {}
        self._open: _Call | None = None

    @property
    def lacks_call(self) -> bool:
        """It ended by itself and without a tool call."""
        return self.reason == "stop" and not self._calls

    def feed(self, chunk: Json) -> list[Piece]:
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        pieces: list[Piece] = []
        for choice in chunk.get("choices", ())[:1]:
            pieces += self._choice(choice)
        return pieces

    def finish(self) -> list[Piece]:
        assert self.reason
        reason: StopReason = "tool_calls" if self._calls and self.reason == "stop" else self.reason
        return [*self._close_call(), Finished(reason, self._usage)]

    def _choice(self, choice: Json) -> list[Piece]:
        delta = choice.get("delta") or {}
        pieces: list[Piece] = []
        if reasoning := delta.get("reasoning_content") or delta.get("reasoning"):
            pieces.append(ReasoningDelta(text_of(reasoning)))
        text = text_of(delta.get("content") or choice.get("text") or "")
        logprobs = _logprobs(choice.get("logprobs"))
        if text or logprobs:
            pieces.append(TextDelta(text, logprobs))
        for call in delta.get("tool_calls") or ():
            pieces += self._call(call)
        if choice.get("finish_reason"):
            self.reason = _REASONS.get(choice["finish_reason"], "stop")
        return pieces

    def _call(self, delta: Json) -> list[Piece]:
        index = int(delta.get("index", 0))
        function = delta.get("function") or {}
        pieces: list[Piece] = []
        call = self._calls.get(index)
        if call is None:
            pieces += self._close_call()
            name = text_of(function.get("name") or "")
            call = _Call(index, text_of(delta.get("id") or f"call_{index}"), name)
            self._calls[index] = self._open = call
            pieces.append(CallOpened(index, call.id, call.name))
        if arguments := function.get("arguments"):
            call.arguments += text_of(arguments)
            pieces.append(CallArguments(index, arguments))
        return pieces

    def _close_call(self) -> list[Piece]:
        call, self._open = self._open, None
        if call is None:
            return []
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        valid = isinstance(arguments, dict)
        made = ToolCall(call.id, call.name, arguments if isinstance(arguments, dict) else {})
        return [ToolCallRequested(made, valid)]


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _usage(usage: Json) -> Usage:
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        cached_tokens=int(prompt.get("cached_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        reasoning_tokens=int(completion.get("reasoning_tokens") or 0),
    )


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...]:
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    return tuple(_logprob(row) for row in rows or ())


def _logprob(row: Json) -> TokenLogprob:
    token = text_of(row.get("token") or "")
    raw = row.get("bytes")
    return TokenLogprob(
        token,
        bytes(raw) if raw is not None else token.encode(),
        float(row.get("logprob") or 0.0),
        tuple(_logprob(top) for top in row.get("top_logprobs") or ()),
    )
