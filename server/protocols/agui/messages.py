"""Reads and writes messages in the form of AG-UI."""

import base64
import binascii
import json
import uuid
from dataclasses import replace
from typing import Any

from server.chat import File, Image, Json, Message, ToolCall
from server.conversation.threads.threads import ThreadMessage
from server.protocols.fields import Fields, parse, sendable

SKIPPED = ("activity", "reasoning")
ROLES = ("developer", "system", "user", "assistant", "tool", *SKIPPED)
FILES = ("document", "file", "binary")
"""Kinds of parts that carry a document. A `binary` part may carry anything."""
UNHEARD = ("audio/", "video/")
LONGEST_NAME = 200
FILE_ELSEWHERE = "It came as a link, and Moat does not open links. Attach the file itself."
FILE_DAMAGED = "It is damaged: its contents could not be decoded."
FURTHER = "-call-"


def read(sent: list[Any]) -> tuple[ThreadMessage, ...]:
    names: dict[str, str] = {}
    kept: list[ThreadMessage] = []
    for number, item in enumerate(sent):
        fields = Fields(item, f"messages.{number}")
        message = _read(fields, names)
        if message is not None:
            names |= {call.id: call.name for call in message.tool_calls}
            message_id = fields.text("id") or str(uuid.uuid4())
            if not _join_call(kept, message_id, message):
                kept.append(ThreadMessage(message_id, message))
    return tuple(kept)


def further_call(message_id: str, number: int) -> str:
    """Returns the id of the message that carries the call of this number, counted from 1."""
    return message_id if number == 1 else f"{message_id}{FURTHER}{number}"


def _join_call(kept: list[ThreadMessage], message_id: str, message: Message) -> bool:
    """Puts a further call back into the message it was made in. Returns whether it did."""
    base, mark, number = message_id.rpartition(FURTHER)
    if not mark or not number.isdecimal() or not message.tool_calls:
        return False
    for at, earlier in enumerate(kept):
        if earlier.id == base and earlier.message.tool_calls:
            calls = (*earlier.message.tool_calls, *message.tool_calls)
            kept[at] = ThreadMessage(base, replace(earlier.message, tool_calls=calls))
            return True
    return False


def write(kept: ThreadMessage) -> Json:
    message = kept.message
    written: Json = {"id": kept.id, "role": message.role}
    if message.images or message.files:
        parts = [_without_marks(part, message.files) for part in message.parts()]
        written["content"] = [_write_part(part) for part in parts if part]
        written["content"] += [_write_file(file) for file in message.files if file.data]
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
    content, images, files = _content(fields)
    return Message("user" if role == "user" else "system", content, images, files=files)


def _content(fields: Fields) -> tuple[str, tuple[Image, ...], tuple[File, ...]]:
    content = fields.value("content")
    if content is None or isinstance(content, str):
        return content or "", (), ()
    text = ""
    images: list[Image] = []
    files: list[File] = []
    for part in fields.list("content"):
        fields_of_part = Fields(part, fields.path("content"))
        if image := _image(fields_of_part):
            images.append(replace(image, at=len(text)))
            continue
        file = _file(fields_of_part)
        files += [file] if file else []
        mark = file.mark if file else f"[{fields_of_part.text('type') or 'something'} attached]"
        part_text = fields_of_part.text("text") or mark
        text = f"{text}\n{part_text}" if text else part_text
    return text, tuple(images), tuple(files)


def _file(part: Fields) -> File | None:
    """Reads a document that came with the message. Links are not followed."""
    kind = part.text("type") or ""
    if kind not in FILES:
        return None
    source, metadata = part.object("source"), part.object("metadata")
    place = source or part
    name = part.text("filename") or (metadata.text("filename") if metadata else None) or ""
    mime, data = inline(place, "value" if source else "data")
    if mime.startswith(UNHEARD):
        return None
    file = File(name[:LONGEST_NAME], mime, part=kind)
    if data is None:
        return replace(file, problem=FILE_ELSEWHERE)
    try:
        return replace(file, data=base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return replace(file, problem=FILE_DAMAGED)


def inline(source: Fields, name: str) -> tuple[str, str | None]:
    """Returns the media type and the base64 that came with the message; None for a link."""
    mime, data = source.text("mimeType") or "", source.text(name) or ""
    if data.startswith("data:"):
        head, _, data = data.partition(",")
        return head.removeprefix("data:").partition(";")[0] or mime, data
    return mime, None if source.text("type") in ("url", "file") or not data else data


def _image(part: Fields) -> Image | None:
    """Reads a picture that came with the message. Nothing is fetched."""
    kind = part.text("type")
    source = part.object("source") if kind == "image" else part if kind == "binary" else None
    if source is None:
        return None
    mime, data = inline(source, "value" if kind == "image" else "data")
    mime = mime or "image/png"
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
    """Reads the arguments that a model wrote once. Unfinished ones count as empty."""
    arguments = sendable(parse(text or "{}"))
    return arguments if isinstance(arguments, dict) else {}


def _write_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _write_part(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    value = base64.b64encode(part.data).decode()
    return {"type": "image", "source": {"type": "data", "value": value, "mimeType": part.mime}}


def _without_marks(part: str | Image, files: tuple[File, ...]) -> str | Image:
    """Removes the marks of documents that are written as parts of their own."""
    if isinstance(part, str):
        for file in files:
            part = part.replace(file.mark, "", 1).strip("\n") if file.data else part
    return part


def _write_file(file: File) -> Json:
    value = base64.b64encode(file.data).decode()
    if file.part == "binary":
        return {"type": "binary", "mimeType": file.mime, "data": value, "filename": file.name}
    source = {"type": "data", "value": value, "mimeType": file.mime}
    return {"type": file.part, "source": source, "metadata": {"filename": file.name}}
