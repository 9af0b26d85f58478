"""Hand-written clients of every protocol: their requests, and the text in the answers."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HEAD = (
    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    "Connection: close\r\nContent-Length: {size}\r\n\r\n"
)
LINE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Dialect:
    name: str
    path: str
    body: Callable[[str, int], dict[str, Any]]
    text: Callable[[dict[str, Any]], str]
    last: bytes
    """Bytes at the end of a complete answer."""


@dataclass(slots=True)
class Heard:
    """What a client received."""

    status: int = 0
    text: str = ""
    ended: bool = False
    retry_after: bool = False
    failed: str = ""

    @property
    def refused(self) -> bool:
        return self.status in (429, 503)


def _chat(text: str, tokens: int) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"messages": [message], "max_tokens": tokens, "stream": True}


def _ollama(text: str, tokens: int) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "options": {"num_predict": tokens}}


def _openbb(text: str, _tokens: int) -> dict[str, Any]:
    return {"messages": [{"role": "human", "content": text}]}


def _agui(text: str, _tokens: int) -> dict[str, Any]:
    message = {"id": "m", "role": "user", "content": text}
    rest: dict[str, Any] = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    return {"threadId": f"t{id(message)}", "runId": "r", "messages": [message], **rest}


def _openai_text(frame: dict[str, Any]) -> str:
    return "".join(one["delta"].get("content") or "" for one in frame.get("choices", ()))


def _anthropic_text(frame: dict[str, Any]) -> str:
    return str(frame.get("delta", {}).get("text") or "")


def _ollama_text(frame: dict[str, Any]) -> str:
    return str(frame.get("message", {}).get("content") or "")


def _delta(frame: dict[str, Any]) -> str:
    found = frame.get("delta")
    return found if isinstance(found, str) else ""


LAST_CHUNK = b"0\r\n"
"""Ends a body in HTTP's chunked encoding. OpenBB has no event that says so."""
OPENAI = Dialect("OpenAI", "/v1/chat/completions", _chat, _openai_text, b"data: [DONE]")
ANTHROPIC = Dialect("Anthropic", "/v1/messages", _chat, _anthropic_text, b'"message_stop"')
OLLAMA = Dialect("Ollama", "/api/chat", _ollama, _ollama_text, b'"done":true')
OPENBB = Dialect("OpenBB", "/v1/query", _openbb, _delta, LAST_CHUNK)
AGUI = Dialect("AG-UI", "/api/copilotkit/agent/default/run", _agui, _delta, b'"RUN_FINISHED"')
DIALECTS = (OPENAI, ANTHROPIC, OLLAMA, OPENBB, AGUI)


def asking(port: int, path: str, body: dict[str, Any]) -> bytes:
    raw = json.dumps(body).encode()
    return HEAD.format(path=path, port=port, size=len(raw)).encode() + raw


async def listen(port: int, dialect: Dialect, text: str, tokens: int = 1) -> Heard:
    """Runs a client from its request to the end of the answer, or to a failure."""
    heard = Heard()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=LINE_BYTES)
        try:
            writer.write(asking(port, dialect.path, dialect.body(text, tokens)))
            await _follow(reader, dialect, heard)
        finally:
            writer.close()
    except (OSError, ValueError) as error:
        heard.failed = type(error).__name__
    return heard


async def _follow(reader: asyncio.StreamReader, dialect: Dialect, heard: Heard) -> None:
    first = (await reader.readline()).split(b" ")
    heard.status = int(first[1]) if len(first) > 1 else 0
    while line := await reader.readline():
        heard.retry_after = heard.retry_after or line.lower().startswith(b"retry-after:")
        told = line.replace(b'": ', b'":')
        is_last = line == LAST_CHUNK if dialect.last == LAST_CHUNK else dialect.last in told
        heard.ended = heard.ended or is_last
        found = line.removeprefix(b"data: ").strip()
        if found.startswith(b"{") and found.endswith(b"}"):
            heard.text += dialect.text(json.loads(found))
