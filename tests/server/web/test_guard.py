"""The gate, tried on every route the server has."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, make_mocked_request
from multidict import CIMultiDict

from server.chat import ChatRequest
from server.events import Events
from server.face.core import About
from server.protocols import ENDPOINTS
from server.protocols.base import Ask, Facts
from server.web.app import create_app
from server.web.guard import OPEN_PATHS, SCHEME, Gate, Guard, note_forwarding
from tests.kit.sites import make_site

Client = TestClient[web.Request, web.Application]
OPENBB = "https://pro.openbb.co"
KEY = "moat-the-right-key"
CREDENTIALED = tuple(endpoint.path for endpoint in ENDPOINTS if endpoint.takes_credentials)
ROUTES = sorted({(endpoint.method, endpoint.path) for endpoint in ENDPOINTS})


class Reached:
    """Counts what got past the gate."""

    def __init__(self) -> None:
        self.count = 0

    def converse(self, _request: ChatRequest, _about: About) -> Events:
        self.count += 1
        raise AssertionError("the gate let a request in")

    async def answer(self, _ask: Ask) -> Any:
        self.count += 1
        raise AssertionError("the gate let a request in")

    def facts(self, host: str) -> Facts:
        self.count += 1
        return Facts(f"http://{host}")


@pytest.fixture
def reached() -> Reached:
    return Reached()


@pytest.fixture
async def open_client(
    aiohttp_client: Callable[..., Awaitable[Client]], reached: Reached
) -> Callable[..., Awaitable[Client]]:
    async def open_with(key: str | None = None) -> Client:
        hosts: set[str] = set()
        guard = Guard(
            lambda: Gate(frozenset(hosts), frozenset({OPENBB}), key, CREDENTIALED),
            lambda _origin, _method: None,
        )
        site = make_site(reached.converse, reached.answer, reached.facts, lambda: 100)
        client = await aiohttp_client(create_app(ENDPOINTS, site, guard, 1024))
        hosts.update({f"127.0.0.1:{client.port}", f"localhost:{client.port}"})
        return client

    return open_with


async def ask(client: Client, route: tuple[str, str], headers: dict[str, str]) -> ClientResponse:
    method, path = route
    body = b"{}" if method == "POST" else None
    given = {"Content-Type": "application/json"} if body else {}
    return await client.request(method, path, data=body, headers={**given, **headers})


BAD_HOSTS = (
    "evil.test",
    "evil.test:{port}",
    "127.0.0.1.evil.test",
    "localhost.evil.test:{port}",
    "evil.local",
    "evil.internal:{port}",
    "192.168.1.5:{port}",
    "127.0.0.1:1",
    "0.0.0.0:{port}",
    "localhost",
    "127.0.0.1",
)
BAD_ORIGINS = (
    "https://evil.test",
    "https://pro.openbb.co.evil.test",
    "http://pro.openbb.co",
    "https://PRO.openbb.co:444",
    "https://pro.openbb.co:444",
    "null",
    "file://",
    "",
)


async def test_a_wrong_host_is_refused_on_every_route(open_client, reached: Reached):
    client = await open_client()
    for route, host in itertools.product(ROUTES, BAD_HOSTS):
        reply = await ask(client, route, {"Host": host.format(port=client.port)})
        assert (reply.status, await reply.read()) == (421, b""), (route, host)
        assert "Access-Control-Allow-Origin" not in reply.headers
    assert reached.count == 0


async def test_a_foreign_page_is_refused_on_every_route(open_client, reached: Reached):
    client = await open_client()
    for (method, path), origin in itertools.product(ROUTES, BAD_ORIGINS):
        for verb in (method, "OPTIONS"):
            reply = await ask(client, (verb, path), {"Origin": origin})
            assert reply.status == 403, (verb, path, origin)
            assert "Access-Control-Allow-Origin" not in reply.headers
            assert reply.headers["Vary"] == "Origin"
    assert reached.count == 0


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_request_a_page_made_without_an_origin_is_refused(open_client, reached, site: str):
    client = await open_client()
    for route in ROUTES:
        reply = await ask(client, route, {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"})
        assert reply.status == 403, route
    assert reached.count == 0


OLD_FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:68.0) Gecko/20100101 Firefox/68.0"
BROWSERS: tuple[dict[str, str], ...] = (
    # Before 2019 Firefox sent forms without an origin; this is all it said of itself.
    {
        "User-Agent": OLD_FIREFOX,
        "Accept": "text/html,application/xhtml+xml,*/*;q=0.8",
        "Accept-Language": "en-US,en;q=0.5",
        "Referer": "http://evil.test/",
    },
    # Each of its signs alone: a page can leave out the referrer, a proxy can change the name.
    {"User-Agent": OLD_FIREFOX},
    {"user-agent": "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18"},
    {"Accept": "text/html"},
    {"referer": "http://evil.test/"},
    {"Cookie": "a=b"},
    {"accept-language": "de"},
    {"Sec-Fetch-Mode": "navigate"},
    {"sec-fetch-site": "none"},
    {"Sec-Fetch-Dest": "document"},
    {"Sec-CH-UA": '"Chromium"'},
)
FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x")


@pytest.mark.parametrize("kind", FORMS)
async def test_a_simple_form_post_is_refused_on_every_route(open_client, reached, kind: str):
    client = await open_client()
    posts = [path for method, path in ROUTES if method == "POST"]
    for path, browser in itertools.product(posts, (*BROWSERS, {"Origin": OPENBB})):
        reply = await client.post(path, data=b"{}", headers={"Content-Type": kind, **browser})
        assert reply.status == 415, (path, browser)
    assert reached.count == 0


PROGRAMS: tuple[dict[str, str], ...] = (
    {"User-Agent": "curl/8.5.0", "Accept": "*/*", "Content-Type": FORMS[1]},
    {"User-Agent": "python-requests/2.32.3", "Accept": "*/*", "Content-Type": "text/plain"},
    {"Content-Type": "application/octet-stream"},
    {"Content-Type": "application/x-ndjson"},
    {
        "User-Agent": "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1",
        "Content-Type": FORMS[1],
    },
)


@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_program_may_call_its_json_what_it_likes(open_client, program: dict[str, str]):
    client = await open_client()
    for path in ("/api/chat", "/v1/chat/completions", "/v1/messages", "/tokenize"):
        reply = await client.post(path, data=b'{"model": 5}', headers=program)
        assert reply.status == 400, path
        told = (await reply.json())["error"]
        assert "415" not in str(told), told


async def test_a_program_without_a_key_is_refused_whatever_type_it_names(open_client):
    client = await open_client(KEY)
    for program in PROGRAMS:
        reply = await client.post("/api/chat", data=b"{}", headers=program)
        assert reply.status == 401


async def test_a_programs_form_is_no_json(open_client, reached: Reached):
    client = await open_client()
    reply = await client.post("/api/chat", data=b"{}", headers={"Content-Type": FORMS[2]})
    assert reply.status == 415
    assert reached.count == 0


async def test_refusals_are_worded_as_the_path_s_own_protocol_does(open_client):
    client = await open_client(KEY)
    key = {"X-API-Key": KEY}
    page, form = {"Origin": "https://evil.test"}, {"Cookie": "a", "Content-Type": "text/plain"}
    asked: list[tuple[str, str, dict[str, str], int]] = [
        ("GET", "/api/nowhere", key, 404),
        ("GET", "/api/chat", key, 405),
        ("POST", "/api/chat", page, 403),
        ("POST", "/api/chat", form, 415),
        ("POST", "/api/chat", {}, 401),
        ("POST", "/api/show", key, 413),
        ("POST", "/api/blobs/sha256:0", key, 400),
        ("POST", "/api/push", key, 400),
    ]
    for method, path, headers, status in asked:
        given = {"Content-Type": "application/json", **headers}
        body = b"x" * 2000 if status == 413 else b"{}"
        reply = await client.request(method, path, data=body, headers=given)
        assert reply.status == status, path
        told = await reply.json()
        assert list(told) == ["error"]
        assert isinstance(told["error"], str), (path, told)
    for path, kind in (("/v1/messages/x", str), ("/api/copilotkit/x/y/z", dict), ("/x", dict)):
        told = await (await client.get(path, headers=key)).json()
        error = told["error"]
        assert isinstance(error["message"], str)
        assert ("type" in told) == (kind is str), path


async def test_an_allowed_page_is_answered_with_its_exact_origin(open_client):
    client = await open_client()
    for method, path in ROUTES:
        reply = await client.options(
            path,
            headers={
                "Origin": OPENBB,
                "Access-Control-Request-Method": method,
                "Access-Control-Request-Headers": "content-type, x-trace-id",
                "Access-Control-Request-Private-Network": "true",
            },
        )
        assert reply.status == 204, path
        assert reply.headers["Access-Control-Allow-Origin"] == OPENBB
        assert reply.headers["Access-Control-Allow-Headers"] == "content-type, x-trace-id"
        assert reply.headers["Access-Control-Allow-Private-Network"] == "true"
        assert reply.headers["Vary"] == "Origin"
        takes = "/copilotkit" in path
        assert ("Access-Control-Allow-Credentials" in reply.headers) == takes, path


async def test_cookies_are_taken_from_allowed_pages_only(open_client):
    client = await open_client()
    for path in ("/api/copilotkit", "/copilotkit/info", "/api/copilotkitty"):
        for origin in (OPENBB, "https://evil.test", f"{OPENBB}.evil.test", "null"):
            reply = await client.options(path, headers={"Origin": origin})
            takes = origin == OPENBB and path != "/api/copilotkitty"
            told = reply.headers.get("Access-Control-Allow-Credentials")
            assert told == ("true" if takes else None), (path, origin)


BAD_KEYS: tuple[dict[str, str], ...] = (
    {},
    {"Authorization": "Bearer wrong"},
    {"Authorization": f"Bearer {KEY}x"},
    {"Authorization": f"Bearer {KEY[:-1]}"},
    {"Authorization": f"bearer {KEY}x"},
    {"Authorization": f"bearer{KEY}"},
    {"Authorization": f"Bearers {KEY}"},
    {"Authorization": KEY},
    {"Authorization": f"Basic {KEY}"},
    {"Authorization": f"basic {KEY}"},
    {"X-API-Key": "wrong"},
    {"Authorization": f"Bearer {KEY}", "X-API-Key": "wrong"},
    {"Authorization": "Bearer wrong", "X-API-Key": KEY},
)


async def test_without_the_key_every_route_but_health_is_closed(open_client, reached: Reached):
    client = await open_client(KEY)
    for (method, path), headers in itertools.product(ROUTES, BAD_KEYS):
        reply = await ask(client, (method, f"{path}?key={KEY}&api_key={KEY}"), headers)
        assert reply.status == (200 if path in OPEN_PATHS else 401), (path, headers)
    assert reached.count == len(BAD_KEYS) * len(OPEN_PATHS)


RIGHT_KEYS = (
    ("Authorization", f"Bearer {KEY}"),
    ("Authorization", f"bearer {KEY}"),
    ("Authorization", f"BEARER {KEY}"),
    ("Authorization", f"bEaReR   {KEY}"),
    ("X-API-Key", KEY),
)


@pytest.mark.parametrize("header", RIGHT_KEYS)
async def test_the_right_key_opens(open_client, header: tuple[str, str]):
    client = await open_client(KEY)
    reply = await client.get("/copilots.json", headers=dict([header]))
    assert reply.status == 200


async def test_an_unknown_path_passes_the_gate_too(open_client):
    client = await open_client()
    reply = await client.get("/nowhere", headers={"Host": "evil.test"})
    assert reply.status == 421
    reply = await client.get("/nowhere")
    assert reply.status == 404
    error = (await reply.json())["error"]
    assert (error["code"], error["message"]) == ("http_404", "Moat has nothing at /nowhere.")
    reply = await client.delete("/v1/query")
    assert (reply.status, reply.headers["Allow"]) == (405, "POST")
    assert (await reply.json())["error"]["message"] == "/v1/query takes POST only."


async def test_a_body_over_the_limit_is_refused(open_client):
    client = await open_client()
    reply = await client.post("/v1/query", json={"messages": "x" * 2000})
    assert reply.status == 413


NETWORKS = (ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8"))


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ((), "127.0.0.1"),
        (("203.0.113.9",), "203.0.113.9"),
        (("1.1.1.1, 203.0.113.9",), "203.0.113.9"),
        (("1.1.1.1", "203.0.113.9, 10.0.0.7"), "203.0.113.9"),
        (("2001:db8::1",), "2001:db8::1"),
        (("nonsense",), "127.0.0.1"),
        (("203.0.113.9, nonsense",), "127.0.0.1"),
        (("10.0.0.1, 10.0.0.2",), "10.0.0.1"),
    ],
)
def test_the_client_is_who_the_last_named_proxy_says(
    forwarded: tuple[str, ...], expected: str
) -> None:
    headers = CIMultiDict([("X-Forwarded-For", text) for text in forwarded])
    headers["X-Forwarded-Proto"] = "https"
    request = made_request("GET", "/", headers=headers)
    gate = Gate(frozenset(), proxies=NETWORKS)
    assert note_forwarding(request, gate) == expected
    assert request[SCHEME] == "https"


@pytest.mark.parametrize("proxies", [(), (ip_network("10.0.0.0/8"),), (ip_network("::1/128"),)])
def test_a_proxy_that_is_not_named_is_not_believed(proxies: tuple[Any, ...]) -> None:
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    request = made_request("GET", "/", headers=headers)
    assert note_forwarding(request, Gate(frozenset(), proxies=proxies)) == "127.0.0.1"
    assert SCHEME not in request


def made_request(method: str, path: str, headers: Any) -> Any:
    class Peer(asyncio.Transport):
        def get_extra_info(self, name: str, default: Any = None) -> Any:
            return ("127.0.0.1", 5) if name == "peername" else default

    return make_mocked_request(method, path, headers=headers, transport=Peer())
