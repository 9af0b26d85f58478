"""The protocols the chat can speak: what each sends, and what its events mean."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import uuid4

from server.chat import Json, Message
from server.errors import AppError
from server.events import Finished, ReasoningDelta, StatusNote, TextDelta, Usage

Name = Literal["openai", "openbb", "agui"]
Heard = TextDelta | ReasoningDelta | StatusNote | Finished
BROKEN_OFF = "The answer broke off before its end."


@dataclass(frozen=True, slots=True)
class Options:
    """How to ask. None leaves a value to the server."""

    protocol: Name = "openai"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


class Dialect(Protocol):
    path: str

    def body(self, messages: Sequence[Message], options: Options) -> Json: ...
    def read(self, event: str, data: str) -> list[Heard]: ...
    def end(self) -> Finished: ...


def of(options: Options) -> Dialect:
    kinds: dict[Name, type[Dialect]] = {"openai": OpenAI, "openbb": OpenBB, "agui": AgUi}
    return kinds[options.protocol]()


class OpenAI:
    path = "/v1/chat/completions"

    def __init__(self) -> None:
        self._reason: Any = None
        self._usage = Usage()

    def body(self, messages: Sequence[Message], options: Options) -> Json:
        wanted = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_tokens": options.max_tokens,
        }
        return {
            "messages": [{"role": one.role, "content": one.content} for one in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            **{name: value for name, value in wanted.items() if value is not None},
        }

    def read(self, _event: str, data: str) -> list[Heard]:
        if data == "[DONE]":
            return []
        chunk = json.loads(data)
        if "error" in chunk:
            raise failure(chunk)
        if told := chunk.get("usage"):
            self._usage = Usage(told["prompt_tokens"], completion_tokens=told["completion_tokens"])
        heard: list[Heard] = []
        for choice in chunk["choices"]:
            delta = choice["delta"]
            self._reason = choice.get("finish_reason") or self._reason
            if thought := delta.get("reasoning_content"):
                heard.append(ReasoningDelta(thought))
            if text := delta.get("content"):
                heard.append(TextDelta(text))
        return heard

    def end(self) -> Finished:
        if self._reason is None:
            raise AppError(BROKEN_OFF)
        return Finished(self._reason, self._usage)


class OpenBB:
    path = "/v1/agent/query"

    def body(self, messages: Sequence[Message], _options: Options) -> Json:
        """OpenBB has no system prompt of the asker and no sampling."""
        roles = {"user": "human", "assistant": "ai"}
        said = [one for one in messages if one.role in roles]
        return {"messages": [{"role": roles[one.role], "content": one.content} for one in said]}

    def read(self, event: str, data: str) -> list[Heard]:
        told = json.loads(data)
        match event:
            case "copilotMessageChunk":
                return [TextDelta(told["delta"])]
            case "copilotStatusUpdate" if not told.get("hidden"):
                return [StatusNote(str(told.get("message", "")))]
            case _:
                return []

    def end(self) -> Finished:
        return Finished("stop")


class AgUi:
    path = "/api/copilotkit/agent/default/run"

    def __init__(self) -> None:
        self._is_over = False

    def body(self, messages: Sequence[Message], options: Options) -> Json:
        said = [{"id": uuid4().hex, "role": one.role, "content": one.content} for one in messages]
        wanted = {"temperature": options.temperature, "maxOutputTokens": options.max_tokens}
        return {
            "threadId": uuid4().hex,
            "runId": uuid4().hex,
            "messages": said,
            "tools": [],
            "context": [],
            "state": {},
            "forwardedProps": {key: value for key, value in wanted.items() if value is not None},
        }

    def read(self, _event: str, data: str) -> list[Heard]:
        told = json.loads(data)
        match told.get("type"):
            case "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_CHUNK":
                return [TextDelta(told.get("delta", ""))]
            case "REASONING_MESSAGE_CONTENT" | "THINKING_TEXT_MESSAGE_CONTENT":
                return [ReasoningDelta(told.get("delta", ""))]
            case "TOOL_CALL_START":
                return [StatusNote(f"Tool: {told.get('toolCallName', '')}")]
            case "RUN_ERROR":
                raise AppError(str(told.get("message") or BROKEN_OFF))
            case "RUN_FINISHED":
                self._is_over = True
        return []

    def end(self) -> Finished:
        if not self._is_over:
            raise AppError(BROKEN_OFF)
        return Finished("stop")


def failure(body: Any) -> AppError:
    """An error as each protocol words it."""
    told = body.get("error", body)
    sentence = told.get("message", "") if isinstance(told, dict) else str(told)
    found = AppError(sentence or BROKEN_OFF)
    if isinstance(told, dict):
        found.code = told.get("code") or found.code
    return found
