"""Readers that do not read, senders that do not send, and senders that never end."""

import asyncio
import socket
import time
from statistics import median
from time import perf_counter
from typing import Any

from tests.prove.bodies import CHAT
from tests.prove.gate import OPENBB
from tests.prove.load import Counting, counting
from tests.prove.memory import watched
from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage
from tests.prove.streams import OPENAI, asking, listen
from tests.prove.waiting import waiting
from tests.prove.wire import say_hello

DRIP_S = 10.0
CLOSED_WITHIN_S = 30.0
FREED_WITHIN_S = 15.0
STALL_S = 2.0
FORM = "/v1/generate/widget_info/file"


async def _bad_readers(port: int, count: int) -> list[tuple[asyncio.StreamReader, Any]]:
    """Opens connections that request a flood and never read."""
    opened = []
    for _ in range(count):
        wire = socket.socket()
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.setblocking(False)
        await asyncio.get_running_loop().sock_connect(wire, ("127.0.0.1", port))
        body = OPENAI.body("flood", 100_000)
        await asyncio.get_running_loop().sock_sendall(wire, asking(port, OPENAI.path, body))
        opened.append(wire)
    return opened  # type: ignore[return-value]


def slow_readers(stage: Stage) -> Figure:
    count = stage.pick(50, 200)
    with counting(stage.scratch("slow")) as server:
        before = server.rss_mb()
        freed_s, peak_mb, good = asyncio.run(_starve(server, count))
    grown = peak_mb - before
    text = (
        f"{count} never reading and {count} at a byte a second: all answers stopped after "
        f"{freed_s:.0f} s, memory +{grown:.0f} MB; a good reader beside them was "
        f"{'answered' if good else 'NOT answered'} (counting model)"
    )
    return Figure(text, freed_s <= FREED_WITHIN_S + 5 and grown < 50 and good)


async def _starve(server: Counting, count: int) -> tuple[float, float, bool]:
    loop = asyncio.get_running_loop()
    wires: list[Any] = await _bad_readers(server.port, 2 * count)
    began, peak = perf_counter(), 0.0
    good = await listen(server.port, OPENAI, "count 3 every 0.1")
    while perf_counter() - began < 60:
        for wire in wires[count:]:
            _sip(wire)
        await asyncio.sleep(1)
        found = await loop.run_in_executor(None, server.figures)
        peak = max(peak, server.rss_mb())
        if not found["running"]:
            break
    took = perf_counter() - began
    for wire in wires:
        wire.close()
    return took, peak, good.ended


def _sip(wire: socket.socket) -> None:
    try:
        wire.recv(1)
    except (BlockingIOError, ConnectionError):
        return


def slowloris(stage: Stage) -> Figure:
    """Half of the connections drip the head of a request, the others its body."""
    count = stage.pick(200, 500)
    port = stage.ours.port
    usual = median(_first_word(port) for _ in range(3))
    head = f"POST {OPENAI.path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    body = head + b"Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{"
    wires = []
    for number in range(count):
        wire = socket.create_connection(("127.0.0.1", port))
        wire.sendall(head if number % 2 else body)
        wires.append(wire)
    began = perf_counter()
    meanwhile = median(_first_word(port) for _ in range(3))
    last_s = _drip(wires, began)
    text = (
        f"{count} dripping connections all closed after {last_s:.0f} s; first word {usual:.2f} s "
        f"before, {meanwhile:.2f} s meanwhile"
    )
    return Figure(text, last_s <= CLOSED_WITHIN_S and meanwhile < 3 * usual + 0.5)


def _first_word(port: int) -> float:
    began = perf_counter()
    assert say_hello(port)
    return perf_counter() - began


def _drip(wires: list[socket.socket], began: float) -> float:
    """Returns the seconds until the server had closed all. It gives up after a minute."""
    open_, next_drip = list(wires), began + DRIP_S
    while open_ and perf_counter() - began < 60:
        time.sleep(0.5)  # this measures the server's patience
        open_ = [wire for wire in open_ if not _is_closed(wire)]
        if perf_counter() > next_drip:
            next_drip += DRIP_S
            open_ = [wire for wire in open_ if _can_send(wire)]
    for wire in wires:
        wire.close()
    return perf_counter() - began


def _is_closed(wire: socket.socket) -> bool:
    wire.setblocking(False)
    try:
        while data := wire.recv(4096):
            assert data
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


def _can_send(wire: socket.socket) -> bool:
    try:
        wire.send(b"x")
    except OSError:
        return False
    return True


def _fed(port: int, raw: bytes, more: bytes, most: int) -> int:
    """Returns the status after endless sending; 0 if the connection was closed, -1 if silent."""
    with socket.create_connection(("127.0.0.1", port), 20) as wire:
        wire.settimeout(20)
        try:
            wire.sendall(raw)
            for _ in range(most):
                wire.sendall(more)
            return int([*wire.recv(1 << 16).split(b" "), b"0", b"0"][1])
        except TimeoutError:
            return -1
        except (OSError, ValueError):
            return 0


def gluttony(stage: Stage) -> Figure:
    port = stage.ours.port
    with watched(stage.ours.pid) as peak, waiting(port) as longest:
        statuses = {name: _fed(port, *feast) for name, feast in _feasts(port).items()}
    bad = {name: status for name, status in statuses.items() if status not in _TURNED_AWAY}
    text = f"{len(statuses) - len(bad)} of {len(statuses)} turned away, memory at most "
    text += f"+{peak.grown_mb:.0f} MB meanwhile; others waited at most {longest.seconds:.1f} s"
    if bad:
        text += f"; {bad}"
    small = peak.grown_mb < 64 and longest.seconds < STALL_S
    return Figure(text, not bad and small and say_hello(port))


def _feasts(port: int) -> dict[str, tuple[bytes, bytes, int]]:
    """Returns the beginning of each request, the bytes that follow, and how often."""
    host = f"Host: 127.0.0.1:{port}\r\n"
    head = f"POST {CHAT} HTTP/1.1\r\n{host}Content-Type: application/json\r\n".encode()
    chunked = head + b"Transfer-Encoding: chunked\r\n"
    form = (
        f"POST {FORM} HTTP/1.1\r\n{host}Content-Type: multipart/form-data; boundary=b\r\n"
        f"Origin: {OPENBB}\r\n"
    ).encode()
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n\r\n'
    return {
        "parts of one name": (form + b"Content-Length: 40000000\r\n\r\n", part % b"a" * 500, 400),
        "endless part": (
            form + b"Content-Length: 40000000\r\n\r\n" + part % b"a",
            b"x" * 65536,
            600,
        ),
        "endless header": (b"GET / HTTP/1.1\r\nX: ", b"x" * 65536, 400),
        "endless headers": (b"GET / HTTP/1.1\r\n", b"X-Y: z\r\n" * 4096, 400),
        "endless chunks": (chunked + b"\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n", 2000),
        "length and chunks": (chunked + b"Content-Length: 2\r\n\r\n", b"0\r\n", 1),
        "no host": (b"GET /v1/models HTTP/1.1\r\n\r\n", b"", 0),
        "huge length": (head + b"Content-Length: 99999999999\r\n\r\n", b"x", 1),
        "negative length": (head + b"Content-Length: -5\r\n\r\n", b"x", 1),
        "endless trailer": (chunked + b"\r\n0\r\n", b"X: y\r\n" * 4096, 200),
    }


_TURNED_AWAY = (0, 400, 408, 413, 421, 431)


ROWS = (
    Row(
        "F3",
        "Readers that do not read hold nothing up",
        f"stopped within {FREED_WITHIN_S:.0f} s (and 5 s to come and be seen), < 50 MB",
        slow_readers,
    ),
)
SENDERS = (
    Row(
        "S19",
        "Requests without end take no memory",
        "all turned away, < 64 MB, others wait < 2 s",
        gluttony,
    ),
    Row(
        "S20",
        "Senders that do not send (slowloris) are shown out",
        f"closed within {CLOSED_WITHIN_S:.0f} s, others not slowed",
        slowloris,
    ),
)
