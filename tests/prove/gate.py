"""S1 to S5: who gets in. Every route of a running server, asked as an attacker's page would."""

import itertools
import random
import socket
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import psutil

from tests.prove.control import command
from tests.prove.effects import traces
from tests.prove.rows import Figure, Measure, Row
from tests.prove.stage import Stage, Target, moat_at, port_of
from tests.prove.wire import Answer, ask, request, send
from tests.running import SERVES
from tests.server.web.test_guard import BAD_HOSTS, BAD_ORIGINS

OPENBB = "https://pro.openbb.co"
FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")
LOOPBACK = {"127.0.0.1", "::1"}
NETWORK = {"server": {"listen": "network"}, "model": {"load_at_start": False}}
LOCKED = {"server": {"require_key": True}, "model": {"load_at_start": False}}


def _bodied(method: str) -> bytes | None:
    return b"{}" if method == "POST" else None


def _closed(answer: Answer, *statuses: int) -> bool:
    return answer.status in statuses and "access-control-allow-origin" not in answer.headers


def strange_hosts(target: Target) -> tuple[int, int]:
    """How many of the requests with a wrong host were turned away, of how many."""
    port, refused, total = target.port, 0, 0
    for method, path in target.routes:
        hosts = [[("Host", host.format(port=port))] for host in (*BAD_HOSTS, "")]
        hosts.append([("Host", f"127.0.0.1:{port}"), ("Host", "evil.test")])
        asked = [request(port, method, path, host, _bodied(method)) for host in hosts]
        asked.append(request(port, method, f"http://evil.test{path}", [], _bodied(method)))
        for raw in asked:
            refused += _closed(send(port, raw), 400, 421)
            total += 1
    return refused, total


def strange_pages(target: Target) -> tuple[int, int]:
    refused = total = 0
    for (method, path), origin in itertools.product(target.routes, BAD_ORIGINS):
        for verb in (method, "OPTIONS"):
            headers = {"Origin": origin, "Access-Control-Request-Method": method}
            answer = ask(target.port, verb, path, headers, _bodied(verb))
            refused += _closed(answer, 403)
            total += 1
    return refused, total


def simple_requests(target: Target) -> tuple[int, int]:
    """What a page can send without asking first: forms, and pictures whose address is ours."""
    refused = total = 0
    for method, path in target.routes:
        if method == "POST":
            sent = [{"Content-Type": kind} for kind in FORMS]
        else:
            sent = [{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"} for site in _SITES]
        for headers in sent:
            answer = ask(target.port, method, path, headers, _bodied(method))
            refused += _closed(answer, 403, 415)
            total += 1
    return refused, total


_SITES = ("cross-site", "same-site")


def _ours(matrix: object, what: str) -> Measure:
    assert callable(matrix)

    def measure(stage: Stage) -> Figure:
        before = traces(stage)
        refused, total = matrix(stage.ours)
        clean = traces(stage) == before
        text = f"{refused} of {total} {what} refused on {len(stage.ours.routes)} routes"
        return Figure(
            f"{text}; {'no' if clean else 'A'} side effect", refused == total > 0 and clean
        )

    return measure


def _theirs(matrix: object, what: str) -> Measure:
    assert callable(matrix)

    def measure(stage: Stage) -> Figure:
        refused, total = matrix(stage.theirs)
        routes = len(stage.theirs.routes)
        return Figure(f"{refused} of {total} {what} refused on {routes} routes", refused == total)

    return measure


def allowed_page(stage: Stage) -> Figure:
    """The one page that is allowed reads answers, with its exact name and no other."""
    right = 0
    for method, path in stage.ours.routes:
        asked = {"Origin": OPENBB, "Access-Control-Request-Method": method}
        headers = ask(stage.ours.port, "OPTIONS", path, asked).headers
        echoed = headers.get("access-control-allow-origin") == OPENBB
        right += echoed and headers.get("vary") == "Origin"
    return Figure(
        f"{right} of {len(stage.ours.routes)} routes name it exactly",
        right == len(stage.ours.routes),
    )


def listening_beyond(pids: Iterable[psutil.Process]) -> list[str]:
    return [
        f"{one.laddr.ip}:{one.laddr.port}"
        for process in pids
        for one in process.net_connections("inet")
        if (one.status == psutil.CONN_LISTEN and one.laddr.ip not in LOOPBACK)
    ]


def closed_to_others(stage: Stage) -> Figure:
    """Alone by default; open to the network only with a key, whatever the settings claim."""
    alone = listening_beyond(stage.moat.family())
    asked = let_in = 0
    claims: tuple[dict[str, Any], ...] = (
        {},
        {"require_key": False},
        {"require_key": None},
        {"require_key": "no"},
    )
    for claim in claims:
        settings = {**NETWORK, "server": {"listen": "network", **claim}}
        with moat_at(stage.scratch("lan"), settings, wait_for=SERVES) as open_moat:
            port = port_of(open_moat)
            for host, (method, path) in itertools.product(_addresses(), stage.ours.routes):
                if path == "/health":
                    continue
                raw = request(port, method, path, [("Host", f"{host}:{port}")], _bodied(method))
                asked += 1
                let_in += send(port, raw, host=host).status not in (401, 421)
    text = f"{len(alone)} sockets beyond loopback; opened to the network without a key in {asked}"
    return Figure(f"{text} requests: {let_in} let in", not alone and asked > 0 and not let_in)


def _addresses() -> list[str]:
    """This machine as another one sees it, where it has such an address, and loopback."""
    own = [
        entry.address
        for entries in psutil.net_if_addrs().values()
        for entry in entries
        if entry.family == socket.AF_INET and not entry.address.startswith("127.")
    ]
    return ["127.0.0.1", *own[:1]]


def wrong_keys(stage: Stage) -> Figure:
    home = stage.scratch("key")
    with moat_at(home, LOCKED, wait_for=SERVES) as locked:
        key = command(home, "access_key")
        port = port_of(locked)
        refused, total = _try_keys(port, key, stage.ours)
        right = ask(port, "GET", "/v1/models", {"Authorization": f"Bearer {key}"}).status
        tries = stage.pick(2_000, 10_000)
        correlation = _timing(port, key, tries)
    limit = 4 / tries**0.5
    text = (
        f"{refused} of {total} refused, the right key {right}; key length guessed right against "
        f"time over {tries} tries: correlation {correlation:+.3f} (chance alone: ±{limit:.3f})"
    )
    return Figure(text, refused == total > 0 and right == 200 and abs(correlation) < limit)


def _try_keys(port: int, key: str, target: Target) -> tuple[int, int]:
    bad: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {key}x"},
        {"Authorization": f"Bearer {key[:-1]}"},
        {"Authorization": f"bearer {key}"},
        {"Authorization": f"Basic {key}"},
        {"X-API-Key": key + " x"},
        {"Authorization": f"Bearer {key}", "X-API-Key": "wrong"},
        {"Authorization": "Bearer wrong", "X-API-Key": key},
        {"Cookie": f"key={key}"},
    )
    refused = total = 0
    for (method, path), headers in itertools.product(target.routes, bad):
        if path != "/health":
            answer = ask(port, method, f"{path}?key={key}&token={key}", headers, _bodied(method))
            refused += answer.status == 401
            total += 1
    return refused, total


def _timing(port: int, key: str, tries: int) -> float:
    """Rank correlation of how much of the key was right with how long the refusal took."""
    chance = random.Random(5)
    lengths, times = [], []
    with socket.create_connection(("127.0.0.1", port)) as wire:
        for _ in range(tries):
            length = chance.randrange(len(key))
            guess = key[:length] + "~" * (len(key) - length)
            raw = (
                f"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Authorization: Bearer {guess}\r\n\r\n"
            )
            began = perf_counter()
            wire.sendall(raw.encode())
            wire.recv(1 << 16)
            lengths.append(float(length))
            times.append(perf_counter() - began)
    return _correlation(_ranks(lengths), _ranks(times))


def _ranks(values: list[float]) -> list[float]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = float(rank)
    return ranks


def _correlation(one: list[float], other: list[float]) -> float:
    middle = (len(one) - 1) / 2
    covered = sum((a - middle) * (b - middle) for a, b in zip(one, other, strict=True))
    return covered / sum((a - middle) ** 2 for a in one)


ROWS = (
    Row(
        "S1",
        "A name that is made to point here (DNS rebinding) reaches nothing",
        "all refused, no side effect",
        _ours(strange_hosts, "foreign hosts"),
        _theirs(strange_hosts, "foreign hosts"),
    ),
    Row(
        "S2",
        "A web page that was not allowed reads nothing",
        "all refused, no side effect",
        _ours(strange_pages, "requests of foreign pages"),
        _theirs(strange_pages, "requests of foreign pages"),
    ),
    Row("S2a", "A page that was allowed is named exactly", "every route", allowed_page),
    Row(
        "S3",
        "What a page can send without asking first does nothing",
        "all refused, no side effect",
        _ours(simple_requests, "forms and pictures"),
        _theirs(simple_requests, "forms and pictures"),
    ),
    Row(
        "S4",
        "Other machines cannot connect, or need the key: never open without one",
        "0 sockets, 0 let in",
        closed_to_others,
    ),
    Row(
        "S5",
        "Only the right key opens, in any header, and a refusal tells nothing of it",
        "all refused; no correlation beyond chance",
        wrong_keys,
    ),
)
