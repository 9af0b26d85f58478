"""HTTP by hand: requests that no client library would send, and the raw answers."""

import json
import socket
from dataclasses import dataclass, field
from typing import Any

PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    """0 if the connection was closed without an answer."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    port: int, method: str, path: str, headers: list[tuple[str, str]], body: bytes | None = None
) -> bytes:
    """Returns the bytes of a request. A Host is added unless one is given."""
    names = {name.lower() for name, _ in headers}
    lines = [f"{method} {path} HTTP/1.1"]
    if "host" not in names:
        lines.append(f"Host: 127.0.0.1:{port}")
    lines += [f"{name}: {value}" for name, value in headers]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
        if "content-type" not in names:
            lines.append("Content-Type: application/json")
    lines.append("Connection: close")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def send(port: int, raw: bytes, patience_s: float = PATIENCE_S, host: str = "127.0.0.1") -> Answer:
    with socket.create_connection((host, port), patience_s) as wire:
        try:
            wire.sendall(raw)
            return parse(_read_all(wire))
        except (ConnectionError, TimeoutError):
            return Answer(0)


def ask(
    port: int,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    return send(port, request(port, method, path, list((headers or {}).items()), body))


def post(port: int, path: str, body: Any, headers: dict[str, str] | None = None) -> Answer:
    return ask(port, "POST", path, headers, json.dumps(body).encode())


def chat(text: str, max_tokens: int = 1, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"messages": [message], "max_tokens": max_tokens, **more}


def say_hello(port: int) -> bool:
    """Whether an ordinary question is answered."""
    return post(port, "/v1/chat/completions", chat("Say hello.", 2)).status == 200


def parse(data: bytes) -> Answer:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) < 2 or not parts[1].isdigit():
        return Answer(0)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return Answer(int(parts[1]), headers, body)


def _unchunked(data: bytes) -> bytes:
    whole = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        count = int(size.split(b";")[0] or b"0", 16)
        if not count:
            break
        whole, data = whole + data[:count], data[count + 2 :]
    return whole


def _read_all(wire: socket.socket) -> bytes:
    data = b""
    while chunk := wire.recv(1 << 16):
        data += chunk
    return data
