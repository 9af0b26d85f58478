"""A model server that lies, in a separate process. It writes HTTP by hand, so that it can.

python hostile_engine.py prints its address and ends when its stdin closes. PUT /lie/NAME chooses
the answer to the next requests. The list of models stays correct.
"""

import asyncio
import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any

Json = dict[str, Any]
MODELS = {"data": [{"id": "far", "max_model_len": 4096}]}
HELLO = {"delta": {"content": "Hello"}}
END = {"delta": {}, "finish_reason": "stop"}
SSE = "text/event-stream"
CHUNK = 1 << 20


def whole(body: Any, kind: str = SSE, status: str = "200 OK", **headers: Any) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": kind, "Content-Length": len(data), "Connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + data


def events(*choices: Json, **more: Any) -> bytes:
    held: list[Any] = [{"choices": [choice]} for choice in choices]
    held += [{"choices": [], **more}] if more else []
    return b"".join(b"data: %s\n\n" % json.dumps(item).encode() for item in held)


def said(*choices: Json, **more: Any) -> bytes:
    return whole(events(*choices, **more) + b"data: [DONE]\n\n")


def usage(**counts: Any) -> bytes:
    return said(HELLO, END, usage=counts)


def called(**call: Any) -> bytes:
    return said({"delta": {"tool_calls": [call]}}, END)


PAGE = whole(b"<!doctype html><h1>Sign in</h1>", "text/html")
MISSING = whole({"detail": "Not Found"}, "application/json", "404 Not Found")
GOOD = usage(prompt_tokens=3, completion_tokens=1)
FAULTS: dict[str, bytes] = {
    "closes at once": b"",
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a header without end": b"HTTP/1.1 200 OK\r\nX-A: " + b"a" * 100_000,
    "a page": PAGE,
    "a page as a fault": whole(b"<h1>\x1b[31mBad gateway</h1>", "text/html", "502 Bad Gateway"),
    "a fault of another shape": whole([["no"]], "application/json", "500 Oops"),
    "nothing": whole(b""),
    "no content": whole(b"", status="204 No Content"),
    "only its end": whole(b"data: [DONE]\n\n"),
    "half a line": whole(events(HELLO) + b'data: {"choices": [{"del'),
    "half an event": whole(events(HELLO) + b"data: " + json.dumps({"choices": [END]}).encode()),
    "data without JSON": whole(b"data: hello\n\n"),
    "data without anything": whole(b"data:\n\n"),
    "JSON of another shape": whole(b"data: [1, 2]\n\ndata: 7\n\n"),
    "a NUL in JSON": whole(b'data: {"choices": [{"delta": {"content": "a\0b"}}]}\n\n'),
    "only NULs": whole(b"\0" * 100_000),
    "deep JSON": whole(b"data: " + b"[" * 200_000 + b"\n\n"),
    "a line of 10 MB": whole(b"data: " + b"x" * 10_000_000),
    "never ends its answer": said(HELLO),
    "is shorter than it says": whole(events(HELLO, END), Content_Length=10_000),
    "is longer than it says": whole(events(HELLO, END)) + b"more",
    "a broken chunk": whole(b"zz\r\nxx", Content_Length="", Transfer_Encoding="chunked"),
    "a gzip that is none": whole(events(HELLO, END), Content_Encoding="gzip"),
    "a gzip of many lines": whole(gzip.compress(b"\n" * (1 << 22)), Content_Encoding="gzip"),
    "a fault in the middle": whole(events(HELLO) + b'data: {"error": {"message": "boom"}}\n\n'),
    "sends us to another host": whole(b"", status="302 Found", Location="http://127.0.0.2:9/"),
    "sends us to itself": whole(b"", status="307 Moved", Location="/v1/chat/completions"),
    "choices of another shape": said({"delta": [1]}),
    "text of another shape": said({"delta": {"content": {"text": "hi"}}}, END),
    "logprobs of another shape": said({**HELLO, "logprobs": {"content": [3]}}, END),
    "usage of another shape": usage(prompt_tokens="many"),
    "usage that is no number": whole(
        events(HELLO) + b'data: {"usage": {"prompt_tokens": NaN}}\n\n'
    ),
    "a call of another shape": called(index="x", function=[]),
    "a call that nobody offered": called(index=0, function={"name": "rm", "arguments": "{}"}),
    "a call that is too late": said(END, {"delta": {"tool_calls": [{"index": 0}]}}, {"delta": 5}),
}
"""Lies that the client must report as an error in its own protocol."""
ODD: dict[str, bytes] = {
    "another type": whole(events(HELLO, END), "application/octet-stream"),
    "bytes that are no text": whole(
        b'data: {"choices": [{"delta": {"content": "Hello \xff\xfe"}}]}\n\n' + events(END)
    ),
    "half a surrogate pair": said({"delta": {"content": "Hello \ud83d"}}, END),
    "a NUL in its text": said({"delta": {"content": "Hello \0 \x1b[31m"}}, END),
    "negative usage": usage(prompt_tokens=-5, completion_tokens=-7),
    "usage without end": usage(prompt_tokens=10**400, completion_tokens=1e300),
    "a reason that nobody knows": said(HELLO, {"delta": {}, "finish_reason": "weather"}),
    "a page for all else": GOOD,
    "lines of other systems": whole(events(HELLO, END).replace(b"\n", b"\r\n")),
    "comments and unknown fields": whole(b": hi\nid: \0\nretry: x\nfoo\n\n" + events(HELLO, END)),
}
"""Odd answers that are still usable."""


@dataclass(frozen=True, slots=True)
class HostileEngine:
    address: str
    process: "subprocess.Popen[str]"

    def lie(self, name: str) -> None:
        host = self.address.removeprefix("http://")
        with closing(HTTPConnection(host, timeout=180)) as link:
            link.request("PUT", f"/lie/{name.replace(' ', '%20')}")
            assert link.getresponse().read() == b"true", name


@contextmanager
def started() -> Iterator[HostileEngine]:
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        yield HostileEngine(process.stdout.readline().strip(), process)
        process.kill()


class Server:
    def __init__(self) -> None:
        self._lies = {"good": GOOD, **FAULTS, **ODD, "hangs": b"", "endless": b""}
        self._lie = "good"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = next((line[15:] for line in head.split("\r\n") if "content-length" in line), "0")
            await reader.readexactly(int(size))
            await self._answer(head.split()[1].replace("%20", " "), writer)
            await writer.drain()
        writer.close()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        if path.startswith("/lie/"):
            names = {name.lower(): name for name in self._lies}
            self._lie = names.get(path.removeprefix("/lie/"), "good")
            writer.write(whole(path.removeprefix("/lie/") in names))
        elif path.endswith("/models"):
            writer.write(whole(MODELS, "application/json"))
        elif not path.endswith("/completions"):
            writer.write(PAGE if self._lie == "a page for all else" else MISSING)
        elif self._lie == "hangs":
            await asyncio.Event().wait()
        elif self._lie == "endless":
            await self._write_for_ever(writer)
        else:
            writer.write(self._lies[self._lie])

    async def _write_for_ever(self, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        many = events(HELLO) * (CHUNK // len(events(HELLO)))
        while True:
            writer.write(many)
            await writer.drain()


async def main() -> None:
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    sys.stdout.write(f"http://{host}:{port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
