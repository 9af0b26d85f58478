"""Arguments into an HTTP request, as the operation's description says."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from server.chat import Json
from server.errors import FlowFailed
from server.plugins.api.operations import FORM_BODY, JSON_BODY, Operation, Parameter
from server.schemas.fill import is_file

Pairs = list[tuple[str, str]]


@dataclass(slots=True)
class Outgoing:
    method: str
    url: str
    query: Pairs = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)
    media: str = ""
    fields: Any = None
    """What the body says, before it is written in its media type."""
    files: tuple[str, ...] = ()
    """Which of the fields name a file; what is in it goes in their place."""
    held: dict[str, bytes] = field(default_factory=dict)
    """What is in each file, by name, once it was read."""

    @property
    def address(self) -> str:
        return f"{self.url}?{urlencode(self.query)}" if self.query else self.url

    def body(self) -> bytes | None:
        if not self.media:
            return None
        if self.media == JSON_BODY:
            return json.dumps(self.fields, ensure_ascii=False).encode()
        pairs = _form(self.fields if isinstance(self.fields, dict) else {"body": self.fields})
        if self.media == FORM_BODY:
            return urlencode(pairs).encode()
        boundary = secrets.token_hex(16)
        self.headers["Content-Type"] = f"{self.media}; boundary={boundary}"
        return b"".join([*self._parts(pairs, boundary), f"--{boundary}--\r\n".encode()])

    def _parts(self, pairs: Pairs, boundary: str) -> list[bytes]:
        parts = []
        for name, value in pairs:
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"'
            content = value.encode()
            if name in self.files:
                head += f'; filename="{_quoted(value)}"\r\nContent-Type: application/octet-stream'
                content = self.held[value]
            parts.append(f"{head}\r\n\r\n".encode() + content + b"\r\n")
        return parts


def compose(server: str, operation: Operation, arguments: Json) -> Outgoing:
    path, used = operation.path, set()
    outgoing = Outgoing(operation.method, "")
    for parameter in operation.parameters:
        used.add(parameter.slot)
        if parameter.slot not in arguments:
            continue
        value = arguments[parameter.slot]
        if parameter.place == "path":
            text = quote(_simple(value), safe="")
            if text in ("", ".", ".."):
                raise FlowFailed("slot_invalid", f"'{parameter.name}' cannot be '{text}'.")
            path = path.replace(f"{{{parameter.name}}}", text)
        elif parameter.place == "query":
            outgoing.query += _query(parameter, value)
        elif parameter.place == "header":
            outgoing.headers[parameter.name] = _one_line(_simple(value))
        else:
            outgoing.cookies[parameter.name] = _one_line(_simple(value))
    outgoing.url = server + path
    if operation.body is not None:
        outgoing.media = operation.body.media
        if operation.body.media in (JSON_BODY, FORM_BODY):
            outgoing.headers["Content-Type"] = operation.body.media
        rest = {name: value for name, value in arguments.items() if name not in used}
        outgoing.fields = rest if operation.body.is_object else rest.get("body")
        parts = operation.schema.get("properties", {})
        outgoing.files = tuple(name for name in rest if is_file(parts.get(name, {})))
    return outgoing


def _query(parameter: Parameter, value: Any) -> Pairs:
    name = parameter.name
    if isinstance(value, list):
        if parameter.explode and parameter.style == "form":
            return [(name, _text(one)) for one in value]
        joint = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(parameter.style, ",")
        return [(name, joint.join(_text(one) for one in value))]
    if isinstance(value, dict):
        if parameter.style == "deepObject":
            return [(f"{name}[{key}]", _text(one)) for key, one in value.items()]
        if parameter.explode:
            return [(key, _text(one)) for key, one in value.items()]
    return [(name, _simple(value))]


def _form(fields: Json) -> Pairs:
    pairs: Pairs = []
    for name, value in fields.items():
        many = value if isinstance(value, list) else [value]
        pairs += [(name, _text(one)) for one in many]
    return pairs


def _quoted(text: str) -> str:
    return _one_line(text).replace('"', "%22")


def _simple(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_text(one) for one in value)
    if isinstance(value, dict):
        return ",".join(f"{key},{_text(one)}" for key, one in value.items())
    return _text(value)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str) -> str:
    if "\r" in text or "\n" in text or "\0" in text:
        raise FlowFailed("slot_invalid", "A header or cookie cannot have line breaks.")
    return text
