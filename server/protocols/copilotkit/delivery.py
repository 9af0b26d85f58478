"""Payloads of a GraphQL answer on the wire: multipart/mixed, or server-sent events."""

import json
from collections.abc import AsyncGenerator

from server.chat import Json
from server.protocols.base import EVENT_STREAM, KEEP_ALIVE, Frames

MULTIPART = 'multipart/mixed; boundary="-"'
RESPONSE_JSON = "application/graphql-response+json"
PLAIN_JSON = "application/json"
DELIMITER = b"\r\n---"
PART = b"\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "


def stream_type(accept: str) -> str | None:
    """How the client wants increments; None: it takes none at all."""
    if not accept or "multipart/mixed" in accept or "*/*" in accept:
        return MULTIPART
    return EVENT_STREAM if EVENT_STREAM in accept else None


def json_type(accept: str) -> str:
    return RESPONSE_JSON if RESPONSE_JSON in accept else PLAIN_JSON


def keep_alive(kind: str) -> bytes:
    """A part that carries nothing but that there is more to come."""
    return _part({"hasNext": True}) if kind == MULTIPART else KEEP_ALIVE


async def multipart(payloads: AsyncGenerator[Json, None]) -> Frames:
    """A client sees a part only once the next delimiter is there, so it follows the part."""
    yield DELIMITER
    async for payload in payloads:
        yield _part(payload)
    yield b"--\r\n"


async def event_stream(payloads: AsyncGenerator[Json, None]) -> Frames:
    yield b":\n\n"
    async for payload in payloads:
        yield b"event: next\ndata: %b\n\n" % _dumped(payload)
    yield b"event: complete\ndata:\n\n"


def _part(payload: Json) -> bytes:
    body = _dumped(payload)
    return b"%b%d\r\n\r\n%b%b" % (PART, len(body), body, DELIMITER)


def _dumped(payload: Json) -> bytes:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
