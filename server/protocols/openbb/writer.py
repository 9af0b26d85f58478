"""Writes events for Workspace: only what the client can read, in the order that it needs."""

import json
import math
import re
import time
from typing import Any
from uuid import UUID, uuid4

from server.chat import Json, ToolCall
from server.data.markdown import table
from server.events import (
    Artifact,
    Citations,
    ClientToolCall,
    Event,
    Events,
    Failed,
    PromptProgress,
    StatusNote,
    Suggestions,
    TextDelta,
)
from server.protocols.base import KEEP_ALIVE, Frames
from server.system.limits import without_halves

LEVELS = {"info": "INFO", "success": "INFO", "warning": "WARNING", "error": "WARNING"}
SOURCE_TYPES = frozenset({"widget", "direct retrieval", "web", "artifact"})
QUIET_S = 5.0
"""After this many seconds of silence, a hidden event shows that the prompt is still being read."""


async def write(events: Events, *, legacy: bool) -> Frames:
    writer = LegacyWriter() if legacy else Writer()
    async for event in events:
        for frame in writer.frames(event):  # type: ignore[arg-type]
            yield frame


def keep_alive(last_frame: bytes) -> bytes:
    """Returns a hidden status event before any text: the SDK's reader breaks at a leading comment.

    After that it returns a comment, because a status would end the bubble of the text.
    """
    if not last_frame or last_frame.startswith(b"event: copilotStatusUpdate"):
        return status("INFO", "Still working", hidden=True)
    return KEEP_ALIVE


class Writer:
    """Writes frames for current clients.

    Leaves out what breaks them: empty text, steps during text, and anything after a call.
    """

    def __init__(self) -> None:
        self._text_began = False
        self._closed = False
        self._last = -QUIET_S

    def frames(self, event: Event) -> list[bytes]:
        if self._closed:
            return []
        found = self._frames(event)
        if found:
            self._last = time.monotonic()
        return found

    def _frames(self, event: Event) -> list[bytes]:
        match event:
            case TextDelta(text) if text:
                return [self._text(text)]
            case StatusNote() | PromptProgress():
                return [] if self._text_began else self._step(event)
            case ClientToolCall(call):
                self._closed = True
                return self._call(call)
            case Failed(error):
                return [self._text(f"\n\n{error}" if self._text_began else str(error))]
            case Artifact() | Citations() | Suggestions():
                return self._extra(event)
            case _:
                return []

    def _text(self, text: str) -> bytes:
        self._text_began = True
        return frame("copilotMessageChunk", {"delta": text})

    def _step(self, event: StatusNote | PromptProgress) -> list[bytes]:
        if isinstance(event, StatusNote):
            return [status(LEVELS[event.level], event.message, event.details)]
        if time.monotonic() - self._last < QUIET_S:
            return []
        message = f"Read {event.done} of {event.total} tokens" if event.total else "Reading"
        return [status("INFO", message, hidden=True)]

    def _call(self, call: ToolCall) -> list[bytes]:
        arguments = dict(call.arguments)
        state = arguments.pop("state", None) or {"v": 1}
        chart = arguments.pop("chart", None)
        if chart is not None:
            arguments["chart_params"] = {
                "chartType": chart["kind"], "xKey": chart["x"], "yKey": chart["y"],
            }  # fmt: skip
        data = {"function": call.name, "input_arguments": arguments, "extra_state": state}
        return [frame("copilotFunctionCall", data)]

    def _extra(self, event: Artifact | Citations | Suggestions) -> list[bytes]:
        match event:
            case Artifact():
                return [frame("copilotMessageArtifact", artifact(event))]
            case Citations(sources) if sources:
                collected = {"citations": [citation(source) for source in sources]}
                return [frame("copilotCitationCollection", collected)]
            case Suggestions(prompts) if prompts and self._text_began:
                return [frame("copilotPromptSuggestions", {"suggestions": list(prompts)})]
            case _:
                return []


class LegacyWriter(Writer):
    """Writes frames for clients of 2024, which understand text and one kind of call.

    Anything else becomes text or is left out.
    """

    def _step(self, event: StatusNote | PromptProgress) -> list[bytes]:  # noqa: ARG002
        return []

    def _call(self, call: ToolCall) -> list[bytes]:
        uuid = call.arguments["data_sources"][0]["widget_uuid"]
        data = {"function": call.name, "input_arguments": {"widget_uuid": uuid}}
        return [frame("copilotFunctionCall", data)]

    def _extra(self, event: Artifact | Citations | Suggestions) -> list[bytes]:
        match event:
            case Artifact(content=content) if content.get("rows"):
                return [self._text("\n\n" + table(content["rows"]))]
            case Citations(sources) if sources:
                names = ", ".join(dict.fromkeys(source["name"] for source in sources))
                return [self._text(f"\n\nSources: {names}")]
            case _:
                return []


def frame(event: str, data: Json) -> bytes:
    text = json.dumps(clean(data), ensure_ascii=True, allow_nan=False)
    return f"event: {event}\ndata: {text}\n\n".encode("ascii")


def status(level: str, message: str, details: Json | None = None, *, hidden: bool = False) -> bytes:
    data = {
        "eventType": level,
        "message": message,
        "group": "reasoning",
        "details": [details] if details else [],
        "hidden": hidden,
    }
    return frame("copilotStatusUpdate", data)


def artifact(made: Artifact) -> Json:
    content = made.content
    data: Json = {
        "type": made.kind,
        "name": artifact_name(made.name),
        "description": made.description,
        "uuid": str(uuid4()),
        "content": content["text"] if made.kind in ("text", "html") else content["rows"],
    }
    if made.kind == "chart":
        data["chart_params"] = chart_params(content["chart"])
    return data


def artifact_name(name: str) -> str:
    """Makes a name unique in the chat, and removes characters that break the client's markers."""
    plain = re.sub(r'["<>\s]+', "_", name).strip("_")[:60] or "Artifact"
    return f"{plain}_{uuid4().hex[:6]}"


def chart_params(chart: Json) -> Json:
    if chart["kind"] in ("pie", "donut"):
        return {
            "chartType": chart["kind"], "angleKey": chart["y"][0], "calloutLabelKey": chart["x"],
        }  # fmt: skip
    return {"chartType": chart["kind"], "xKey": chart["x"], "yKey": chart["y"]}


def citation(source: Json) -> Json:
    if "given" in source:
        return _given_citation(source["given"], source["name"])
    known = {key: source[key] for key in ("origin", "widget_id") if source.get(key)}
    if _is_uuid(source.get("uuid")):
        known["uuid"] = source["uuid"]
    metadata = {"input_args": source.get("arguments") or {}}
    if source.get("uuid"):
        metadata["widget_uuid"] = source["uuid"]
    boxes = {"quote_bounding_boxes": [source["boxes"]]} if source.get("boxes") else {}
    return {
        "id": str(uuid4()),
        "source_info": {
            "type": source.get("kind", "widget"),
            **known,
            "name": source["name"],
            "description": source.get("description", ""),
            "metadata": metadata,
            "citable": True,
        },
        "details": [source["details"]] if source.get("details") else None,
        **boxes,
    }


def _given_citation(given: Json, name: str) -> Json:
    """Completes a citation that a widget's backend sent with its data."""
    found = given.get("source_info")
    info = dict(found) if isinstance(found, dict) else {}
    if info.get("type") not in SOURCE_TYPES:
        info["type"] = "widget"
    if not _is_uuid(info.get("uuid")):
        info.pop("uuid", None)
    details = given.get("details")
    details = (
        [detail for detail in details if isinstance(detail, dict)]
        if isinstance(details, list)
        else []
    )
    kept = {key: info[key] for key in ("type", "uuid", "origin", "widget_id") if key in info}
    info = {**kept, "name": str(info.get("name") or name), "metadata": {}, "citable": True}
    return {"id": str(uuid4()), "source_info": info, "details": details or None}


def _is_uuid(text: Any) -> bool:
    """Whether it is a UUID. The client refuses other ids, such as those of frames in a widget."""
    try:
        return bool(UUID(text))
    except (ValueError, TypeError, AttributeError):
        return False


def clean(value: Any) -> Any:
    """Replaces what JSON cannot express: NaN and infinity by null, lone surrogates by U+FFFD."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case str():
            return without_halves(value, "\ufffd")
        case dict():
            return {str(key): clean(item) for key, item in value.items()}
        case list() | tuple():
            return [clean(item) for item in value]
        case int() | None:
            return value
        case _:
            return str(value)
