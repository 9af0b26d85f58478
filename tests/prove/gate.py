"""S1 to S5: who gets in. Every route of a running server is requested as an attacker would."""

import itertools
import json
import socket
from collections.abc import Iterable
from typing import Any

import psutil

from server.web.guard import OPEN_PATHS
from tests.kit.running import SERVES
from tests.prove.askable import BODIES
from tests.prove.control import command
from tests.prove.effects import traces
from tests.prove.rows import Figure, Measure, Row, share
from tests.prove.stage import Stage, Target, moat_at, port_of
from tests.prove.timing import timing
from tests.prove.wire import Answer, ask, request, send
from tests.server.web.test_guard import BAD_HOSTS, BAD_ORIGINS, BROWSERS, FORMS

OPENBB = "https://pro.openbb.co"
LOOPBACK = {"127.0.0.1", "::1"}
NETWORK = {
    "server": {"listen": "network", "plain_network": True},
    "model": {"load_at_start": False},
}
LOCKED = {"server": {"require_key": True}, "model": {"load_at_start": False}}


def _bodied(method: str, path: str) -> bytes | None:
    """Returns a body that the route would answer, so that a hole in the gate has an effect."""
    return json.dumps(BODIES.get(path, {})).encode() if method == "POST" else None


def _closed(answer: Answer, *statuses: int) -> bool:
    return answer.status in statuses and "access-control-allow-origin" not in answer.headers


def strange_hosts(target: Target) -> tuple[int, int]:
    """Returns how many requests with a wrong host were refused, and how many were sent."""
    port, refused, total = target.port, 0, 0
    for method, path in target.routes:
        body = _bodied(method, path)
        named = [[("Host", host.format(port=port))] for host in BAD_HOSTS]
        asked = [request(port, method, path, host, body) for host in named]
        asked.append(request(port, method, f"http://evil.test{path}", [], body))
        refused += sum(_closed(send(port, raw), 421) for raw in asked)
        # Without a host, or with two, the request may also be refused as malformed.
        doubtful = ([("Host", "")], [("Host", f"127.0.0.1:{port}"), ("Host", "evil.test")])
        malformed = [request(port, method, path, host, body) for host in doubtful]
        refused += sum(_closed(send(port, raw), 400, 421) for raw in malformed)
        total += len(asked) + len(malformed)
    return refused, total


def strange_pages(target: Target) -> tuple[int, int]:
    refused = total = 0
    for (method, path), origin in itertools.product(target.routes, BAD_ORIGINS):
        for verb in (method, "OPTIONS"):
            headers = {"Origin": origin, "Access-Control-Request-Method": method}
            answer = ask(target.port, verb, path, headers, _bodied(verb, path))
            refused += _closed(answer, 403)
            total += 1
    return refused, total


def simple_requests(target: Target) -> tuple[int, int]:
    """Sends what a page can send without a preflight: forms, and pictures with our address."""
    refused = total = 0
    for method, path in target.routes:
        if method == "POST":
            forms = itertools.product(FORMS, BROWSERS)
            sent = [{"Content-Type": kind, **browser} for kind, browser in forms]
        else:
            sent = [{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"} for site in _SITES]
        for headers in sent:
            answer = ask(target.port, method, path, headers, _bodied(method, path))
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
    """Checks that the only allowed page may read answers, named exactly and alone."""
    right = 0
    for method, path in stage.ours.routes:
        asked = {"Origin": OPENBB, "Access-Control-Request-Method": method}
        body = b"{}" if method == "POST" else None
        answers = [ask(stage.ours.port, verb, path, asked, body) for verb in ("OPTIONS", method)]
        right += all(_names_exactly(answer) for answer in answers)
    return share(right, len(stage.ours.routes), "routes name it exactly, asked first and answered")


def _names_exactly(answer: Answer) -> bool:
    echoed = answer.headers.get("access-control-allow-origin") == OPENBB
    return echoed and "Origin" in answer.headers.get("vary", "")


def listening_beyond(pids: Iterable[psutil.Process]) -> list[str]:
    return [
        f"{one.laddr.ip}:{one.laddr.port}"
        for process in pids
        for one in process.net_connections("inet")
        if (one.status == psutil.CONN_LISTEN and one.laddr.ip not in LOOPBACK)
    ]


def closed_to_others(stage: Stage) -> Figure:
    """Checks that Moat is local by default and, open to the network, always requires a key."""
    alone = listening_beyond(stage.moat.family())
    asked = let_in = 0
    claims: tuple[dict[str, Any], ...] = (
        {},
        {"require_key": False},
        {"require_key": None},
        {"require_key": "no"},
    )
    for claim in claims:
        settings = {**NETWORK, "server": {"listen": "network", "plain_network": True, **claim}}
        with moat_at(stage.scratch("lan"), settings, wait_for=SERVES) as open_moat:
            port = port_of(open_moat)
            for host, (method, path) in itertools.product(_addresses(), stage.ours.routes):
                if path in OPEN_PATHS:
                    continue
                body = _bodied(method, path)
                raw = request(port, method, path, [("Host", f"{host}:{port}")], body)
                asked += 1
                let_in += send(port, raw, host=host).status not in (401, 421)
    text = f"{len(alone)} sockets beyond loopback; opened to the network without a key in {asked}"
    return Figure(f"{text} requests: {let_in} let in", not alone and asked > 0 and not let_in)


def _addresses() -> list[str]:
    """Returns loopback and, if there is one, this machine's address in the network."""
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
        sent = (
            {"Authorization": f"Bearer {key}"},
            {"Authorization": f"bearer {key}"},
            {"X-API-Key": key},
        )
        right = [ask(port, "GET", "/v1/models", headers).status for headers in sent]
    guesses = stage.pick(500, 2_000)
    correlation, limit = timing(guesses), 4 / guesses**0.5
    text = (
        f"{refused} of {total} refused, the right key {right}; how much of a key is right "
        f"against the time of its check, {guesses} guesses: correlation {correlation:+.3f} "
        f"(chance alone: ±{limit:.3f})"
    )
    opened = right == [200] * len(sent)
    return Figure(text, refused == total > 0 and opened and abs(correlation) < limit)


def _try_keys(port: int, key: str, target: Target) -> tuple[int, int]:
    bad: tuple[dict[str, str], ...] = (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {key}x"},
        {"Authorization": f"Bearer {key[:-1]}"},
        {"Authorization": f"bearer {key}x"},
        {"Authorization": f"Basic {key}"},
        {"X-API-Key": key + " x"},
        {"Authorization": f"Bearer {key}", "X-API-Key": "wrong"},
        {"Authorization": "Bearer wrong", "X-API-Key": key},
        {"Cookie": f"key={key}"},
    )
    refused = total = 0
    for (method, path), headers in itertools.product(target.routes, bad):
        if path not in OPEN_PATHS:
            body = _bodied(method, path)
            answer = ask(port, method, f"{path}?key={key}&token={key}", headers, body)
            refused += answer.status == 401
            total += 1
    return refused, total


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
