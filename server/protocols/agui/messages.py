"""Messages as AG-UI writes them, to and from ours."""

import base64
import binascii
import json
import uuid
from dataclasses import replace
from typing import Any

from server.chat import Image, Json, Message, ToolCall
from server.conversation.threads import Said
from server.protocols.fields import Fields, parsed, sendable

SKIPPED = ("activity", "reasoning")
ROLES = ("developer", "system", "user", "assistant", "tool", *SKIPPED)


def read(sent: list[Any]) -> tuple[Said, ...]:
    names: dict[str, str] = {}
    said = []
    for number, one in enumerate(sent):
        fields = Fields(one, f"messages.{number}")
        message = _read(fields, names)
        if message is not None:
            names |= {call.id: call.name for call in message.tool_calls}
            said.append(Said(fields.text("id") or str(uuid.uuid4()), message))
    return tuple(said)


def write(said: Said) -> Json:
    message = said.message
    written: Json = {"id": said.id, "role": message.role}
    if message.images:
        written["content"] = [_write_part(part) for part in message.parts()]
    elif message.content or not message.tool_calls:
        written["content"] = message.content
    if message.tool_calls:
        written["toolCalls"] = [_write_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        written["toolCallId"] = message.tool_call_id
    return written


def _read(fields: Fields, names: dict[str, str]) -> Message | None:
    role = fields.word("role", ROLES)
    if role is None:
        raise fields.wrong("role", "is missing")
    if role in SKIPPED:
        return None
    if role == "tool":
        call_id = fields.some_text("toolCallId")
        content = _content(fields)[0]
        return Message("tool", content, tool_call_id=call_id, name=names.get(call_id))
    if role == "assistant":
        calls = tuple(
            _read_call(Fields(call, fields.path("toolCalls"))) for call in fields.list("toolCalls")
        )
        return Message("assistant", _content(fields)[0], tool_calls=calls)
    content, images = _content(fields)
    return Message("user" if role == "user" else "system", content, images)


def _content(fields: Fields) -> tuple[str, tuple[Image, ...]]:
    content = fields.value("content")
    if content is None or isinstance(content, str):
        return content or "", ()
    text = ""
    images: list[Image] = []
    for part in fields.list("content"):
        one = Fields(part, fields.path("content"))
        image = _image(one)
        if image is not None:
            images.append(replace(image, at=len(text)))
        else:
            said = one.text("text") or f"[{one.text('type') or 'something'} attached]"
            text = f"{text}\n{said}" if text else said
    return text, tuple(images)


def _image(part: Fields) -> Image | None:
    """A picture that came with the message itself; nothing is fetched for one that did not."""
    kind = part.text("type")
    source = part.object("source") if kind == "image" else part if kind == "binary" else None
    if source is None:
        return None
    mime = source.text("mimeType") or "image/png"
    data = source.text("value" if kind == "image" else "data") or ""
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        mime = head.removeprefix("data:").partition(";")[0] or mime
    elif source.text("type") in ("url", "file"):
        return None
    if not mime.startswith("image/") or not data:
        return None
    try:
        return Image(mime, base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        raise part.wrong("source", "must be base64") from None


def _read_call(fields: Fields) -> ToolCall:
    function = fields.object("function")
    if function is None:
        raise fields.wrong("function", "is missing")
    arguments = read_arguments(function.text("arguments"))
    return ToolCall(fields.some_text("id"), function.some_text("name"), arguments)


def read_arguments(text: str | None) -> Json:
    """Arguments a model once wrote; what it did not finish is no arguments."""
    arguments = sendable(parsed(text or "{}"))
    return arguments if isinstance(arguments, dict) else {}


def _write_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _write_part(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    value = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "data", "value": value, "mimeType": part.mime}}
