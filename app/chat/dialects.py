"""The protocols that the chat can use: what each sends, and how its events are read."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from uuid import uuid4

from app.chat.attachments import as_url
from server.chat import Json, Message
from server.errors import AppError
from server.events import (
    Artifact,
    Finished,
    ReasoningDelta,
    StatusNote,
    Suggestions,
    TextDelta,
    Usage,
)
from server.sentences import Sentence

Name = Literal["openai", "openbb", "agui"]
Heard = TextDelta | ReasoningDelta | StatusNote | Artifact | Suggestions | Finished
BROKEN_OFF = Sentence("The answer was interrupted.")


class ImagesNotCarried(AppError):
    code = "images_not_carried"

    def __init__(self) -> None:
        super().__init__(
            Sentence(
                "OpenBB's protocol does not support images. Choose another protocol in the options."
            )
        )


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a request. None leaves a value to the server."""

    protocol: Name = "openai"
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    model: str = ""
    """The model that answers; empty for the one in use."""
    chat: str = ""
    """The id of the chat, as the window knows it."""


class Dialect(Protocol):
    """A protocol: builds a request's body and reads the events of its answer."""

    path: str
    carries_images: bool

    def body(self, messages: Sequence[Message], options: Options) -> Json: ...
    def read(self, event: str, data: str) -> list[Heard]: ...
    def end(self) -> Finished: ...


def of(options: Options) -> Dialect:
    kinds: dict[Name, type[Dialect]] = {"openai": OpenAI, "openbb": OpenBB, "agui": AgUi}
    return kinds[options.protocol]()


class OpenAI:
    path = "/v1/chat/completions"
    carries_images = True

    def __init__(self) -> None:
        self._reason: Any = None
        self._usage = Usage()

    def body(self, messages: Sequence[Message], options: Options) -> Json:
        wanted = {
            "temperature": options.temperature,
            "top_p": options.top_p,
            "max_tokens": options.max_tokens,
            "model": options.model or None,
        }
        return {
            "messages": [{"role": one.role, "content": _content(one)} for one in messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            **{name: value for name, value in wanted.items() if value is not None},
        }

    def read(self, event: str, data: str) -> list[Heard]:
        if event == "step":
            return [StatusNote(data)]
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
    carries_images = False

    def body(self, messages: Sequence[Message], options: Options) -> Json:
        """Builds the body. OpenBB takes no system prompt from a client, and no sampling options."""
        roles = {"user": "human", "assistant": "ai"}
        said = [one for one in messages if one.role in roles]
        if any(one.images for one in said):
            raise ImagesNotCarried
        asked = [{"role": roles[one.role], "content": one.content} for one in said]
        return {"messages": asked, **({"model": options.model} if options.model else {})}

    def read(self, event: str, data: str) -> list[Heard]:
        told = json.loads(data)
        match event:
            case "copilotMessageChunk":
                return [TextDelta(told["delta"])]
            case "copilotStatusUpdate" if not told.get("hidden"):
                return [StatusNote(str(told.get("message", "")))]
            case "copilotMessageArtifact":
                return [_artifact(told)]
            case "copilotPromptSuggestions":
                return [Suggestions(tuple(map(str, told.get("suggestions") or ())))]
            case _:
                return []

    def end(self) -> Finished:
        return Finished("stop")


class AgUi:
    path = "/api/copilotkit/agent/default/run"
    carries_images = True

    def __init__(self) -> None:
        self._is_over = False

    def body(self, messages: Sequence[Message], options: Options) -> Json:
        said = [{"id": uuid4().hex, "role": one.role, "content": _parts(one)} for one in messages]
        wanted = {
            "temperature": options.temperature,
            "maxOutputTokens": options.max_tokens,
            "model": options.model or None,
        }
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
                return [StatusNote(Sentence("Tool: {0}", told.get("toolCallName", "")))]
            case "CUSTOM":
                return _custom(told.get("name"), told.get("value"))
            case "RUN_ERROR":
                raise AppError(str(told.get("message") or BROKEN_OFF))
            case "RUN_FINISHED":
                self._is_over = True
        return []

    def end(self) -> Finished:
        if not self._is_over:
            raise AppError(BROKEN_OFF)
        return Finished("stop")


def _content(message: Message) -> str | list[Json]:
    """Returns a message's content for OpenAI: a list of parts if it has images."""
    if not message.images:
        return message.content
    images = [{"type": "image_url", "image_url": {"url": as_url(one)}} for one in message.images]
    return [{"type": "text", "text": message.content}, *images]


def _parts(message: Message) -> str | list[Json]:
    """Returns a message's content for AG-UI: a list of parts if it has images."""
    if not message.images:
        return message.content
    images = [
        {"type": "binary", "mimeType": one.mime, "data": base64.b64encode(one.data).decode()}
        for one in message.images
    ]
    return [{"type": "text", "text": message.content}, *images]


def _artifact(told: Json) -> Artifact:
    """Reads OpenBB's artifact: rows, and the columns that are drawn."""
    kind, content = told.get("type"), told.get("content")
    name, about = str(told.get("name", "")), str(told.get("description", ""))
    if kind == "text" or not isinstance(content, list):
        return Artifact("text", name, about, {"text": str(content or "")})
    params = told.get("chart_params") or {}
    if kind != "chart" or not params:
        return Artifact("table", name, about, {"rows": content})
    across = params.get("xKey") or params.get("calloutLabelKey")
    ys = params.get("yKey") or [params.get("angleKey")]
    chart = {"kind": params.get("chartType"), "x": across, "y": ys}
    # OpenBB needs unique names, so the server adds "_" and six letters. The title omits them.
    title = name.rpartition("_")[0].replace("_", " ") or name
    return Artifact("chart", title, about, {"rows": content, "chart": chart})


def _custom(name: Any, value: Any) -> list[Heard]:
    told = value if isinstance(value, dict) else {}
    if name == "status":
        return [StatusNote(str(told.get("message", "")))]
    if name == "suggestions":
        return [Suggestions(tuple(map(str, told.get("prompts") or ())))]
    if name == "artifact" and told.get("kind") in ("table", "chart", "text"):
        content = told.get("content")
        content = content if isinstance(content, dict) else {}
        return [Artifact(told["kind"], str(told.get("name", "")), "", content)]
    return []


def failure(body: Any) -> AppError:
    """Returns the error from a response, in any of the protocols."""
    told = body.get("error", body) if isinstance(body, dict) else body
    sentence, code = (
        (told.get("message"), told.get("code")) if isinstance(told, dict) else (told, "")
    )
    found = AppError(sentence if isinstance(sentence, str) and sentence else BROKEN_OFF)
    if isinstance(code, str) and code:
        found.code = code
    return found
