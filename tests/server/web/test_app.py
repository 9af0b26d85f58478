import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import unquote

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from server.asking.ask import Means
from server.chat import ChatRequest, Message
from server.conversation.run import converse
from server.engine.base import Engine
from server.errors import Busy, ContextOverflow, EngineCrashed
from server.events import Events, Failed, TextDelta
from server.face.core import About
from server.protocols.base import Ask, Cancel, Endpoint, Facts, Frames, Reply
from server.web import stream
from server.web.app import create_app
from server.web.body import _LARGE_WORK
from server.web.guard import Gate, Guard
from tests.kit.engines import EndlessEngine, ScriptedEngine, says
from tests.kit.sites import make_site

Client = TestClient[web.Request, web.Application]
Open = Callable[..., Awaitable[Client]]


def accept(body: Any, _facts: Facts) -> ChatRequest:
    return ChatRequest((Message("user", body["text"]),))


async def render(events: Events, _body: Any, _facts: Facts) -> Frames:
    async for event in events:
        match event:
            case TextDelta(text):
                yield f"data: {text}\n\n".encode()
            case Failed(error):
                yield f"event: error\ndata: {error.code}\n\n".encode()
            case _:
                pass


async def collect(events: Events, _body: Any, _facts: Facts) -> Reply:
    return Reply({"text": "".join([e.text async for e in events if isinstance(e, TextDelta)])})


def ask_size(body: Any, _facts: Facts) -> Ask:
    return Ask("tokenize", None, {"text": body["text"]}, lambda tokens: Reply({"n": len(tokens)}))


def fall_over(_body: Any, _facts: Facts) -> Reply:
    raise ZeroDivisionError("a secret detail")


ENDPOINTS = (
    Endpoint("POST", "/chat", accept, render, collect, streams=lambda body: body.get("stream")),
    Endpoint("POST", "/size", ask_size),
    Endpoint("GET", "/plain", lambda _body, _facts: Reply({})),
    Endpoint(
        "GET", "/about/{name}", lambda _b, facts: Reply([facts.address, facts.path, facts.query])
    ),
    Endpoint("GET", "/broken", fall_over),
    Endpoint("GET", "/told", lambda _b, _f: Reply(text="a \ud83d b", content_type="text/plain")),
)


@pytest.fixture
def opened(aiohttp_client: Callable[..., Awaitable[Client]]) -> Open:
    async def open_with(
        engine: Engine, max_requests: int = 10, seen: Callable[[About], None] = lambda _about: None
    ) -> Client:
        def run(request: ChatRequest, about: About) -> Events:
            seen(about)
            return converse(Means(engine), request)

        async def answer(ask: Ask) -> Any:
            return await engine.tokenize(**ask.arguments)

        gate: dict[str, frozenset[str]] = {"hosts": frozenset()}
        guard = Guard(lambda: Gate(gate["hosts"]), lambda _origin, _method: None)
        site = make_site(run, answer, lambda host: Facts(f"http://{host}"), lambda: max_requests)
        client = await aiohttp_client(create_app(ENDPOINTS, site, guard, 2**20))
        gate["hosts"] = frozenset({f"127.0.0.1:{client.port}"})
        return client

    return open_with


async def test_an_answer_is_streamed(opened: Open):
    client = await opened(ScriptedEngine(says("a", "b")))
    reply = await client.post("/chat", json={"text": "x", "stream": True})
    assert reply.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["Cache-Control"] == "no-cache"
    assert await reply.text() == "data: a\n\ndata: b\n\n"


async def test_an_answer_is_collected(opened: Open):
    client = await opened(ScriptedEngine(says("a", "b")))
    reply = await client.post("/chat", json={"text": "x"})
    assert await reply.json() == {"text": "ab"}


async def test_half_a_surrogate_pair_is_replaced_in_a_whole_answer_too(opened: Open):
    client = await opened(ScriptedEngine(says("a \ud83d b")))
    reply = await client.post("/chat", json={"text": "x"})
    assert (reply.status, await reply.json()) == (200, {"text": "a ? b"})
    reply = await client.get("/told")
    assert (reply.status, await reply.text()) == (200, "a ? b")
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_refusal_before_the_first_word_has_a_status(opened: Open, streamed: bool):
    client = await opened(ScriptedEngine([ContextOverflow(9, 5)]))
    reply = await client.post("/chat", json={"text": "x", "stream": streamed})
    assert reply.status == 400
    assert (await reply.json())["error"]["code"] == "context_length_exceeded"


async def test_a_full_queue_says_when_to_come_back(opened: Open):
    client = await opened(ScriptedEngine([Busy(64)]))
    reply = await client.post("/chat", json={"text": "x", "stream": True})
    assert (reply.status, reply.headers["Retry-After"]) == (429, "2")


async def test_a_crash_in_mid_answer_ends_the_stream_typed(opened: Open):
    client = await opened(ScriptedEngine([TextDelta("a"), EngineCrashed("It died.")]))
    reply = await client.post("/chat", json={"text": "x", "stream": True})
    assert await reply.text() == "data: a\n\nevent: error\ndata: engine_crashed\n\n"


@pytest.mark.parametrize("streamed", [True, False])
async def test_the_model_stops_when_the_client_leaves(opened: Open, streamed: bool):
    engine = EndlessEngine()
    client = await opened(engine)
    asked = asyncio.ensure_future(  # noqa: TID251
        client.post("/chat", json={"text": "x", "stream": streamed})
    )
    async with asyncio.timeout(30):
        while not engine.requests:
            await asyncio.sleep(0.01)
        if streamed:
            reply = await asked
            await reply.content.readline()
            reply.close()
        else:
            asked.cancel()
        await engine.stopped.wait()


async def test_silence_is_bridged_by_keep_alives(opened: Open, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.05)

    may_go_on = asyncio.Event()

    class Slow(ScriptedEngine):
        async def generate(self, request: ChatRequest):
            yield TextDelta("a")
            await may_go_on.wait()
            async for piece in super().generate(request):
                yield piece

    client = await opened(Slow(says("b")))
    reply = await client.post("/chat", json={"text": "x", "stream": True})
    async with asyncio.timeout(30):
        frames = [await reply.content.readuntil(b"\n\n") for _ in range(3)]
    assert frames == [b"data: a\n\n", b": still here\n\n", b": still here\n\n"]
    may_go_on.set()
    assert (await reply.text()).endswith("data: b\n\n")


async def test_the_engine_can_be_asked_other_things(opened: Open):
    client = await opened(ScriptedEngine())
    assert await (await client.post("/size", json={"text": "abc"})).json() == {"n": 3}


async def test_a_protocol_knows_the_address_the_path_and_the_query(opened: Open):
    client = await opened(ScriptedEngine())
    reply = await client.get("/about/me?x=1")
    assert await reply.json() == [f"http://127.0.0.1:{client.port}", {"name": "me"}, {"x": "1"}]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 5000, b'{"a": NaN}', b"\xff"])
async def test_what_is_no_json_is_refused(opened: Open, body: bytes):
    client = await opened(ScriptedEngine())
    reply = await client.post("/chat", data=body, headers={"Content-Type": "application/json"})
    assert reply.status == 400
    assert (await reply.json())["error"]["type"] == "invalid_request_error"


async def test_a_fault_of_ours_tells_nothing_of_the_inside(opened: Open):
    client = await opened(ScriptedEngine())
    reply = await client.get("/broken")
    assert reply.status == 500
    assert "secret" not in await reply.text()


async def test_too_many_requests_at_once_are_turned_away(opened: Open):
    client = await opened(EndlessEngine(), max_requests=2)
    post = partial(client.post, "/chat", json={"text": "x", "stream": True})
    held = [await post(), await post()]
    third = await post()
    assert (third.status, third.headers["Retry-After"]) == (503, "2")
    for reply in held:
        reply.close()


async def test_a_body_that_is_not_packed_as_it_says_is_refused(opened: Open):
    client = await opened(ScriptedEngine())
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    reply = await client.post("/size", data=b'{"text": "x"}', headers=headers)
    assert reply.status == 400
    assert (await reply.json())["error"]["code"] == "invalid_request"


async def test_a_program_may_name_its_chat(opened: Open):
    seen: list[str] = []
    engine = ScriptedEngine(says("a"), says("b"))
    client = await opened(engine, seen=lambda about: seen.append(about.chat))
    await client.post("/chat", json={"text": "x"}, headers={"X-Moat-Chat": "c1"})
    await client.post("/chat", json={"text": "x"})
    assert seen == ["c1", ""]


OWNED = (
    *ENDPOINTS,
    Endpoint("GET", "/owner", lambda _body, facts: Reply({"owner": facts.owner})),
    Endpoint("POST", "/end", lambda _body, _facts: Cancel("abc", Reply({"ended": True}))),
    Endpoint(
        "POST",
        "/warned",
        lambda _body, _facts: ChatRequest((Message("user", "x"),), warnings=("'é' was left out.",)),
        render,
        collect,
        streams=lambda body: body.get("stream"),
    ),
)


@pytest.fixture
async def owned(aiohttp_client: Callable[..., Awaitable[Client]]) -> tuple[Client, list[str]]:
    ended: list[str] = []
    engine = ScriptedEngine(says("a"), says("b"))
    gate: dict[str, frozenset[str]] = {"hosts": frozenset()}
    page = frozenset({"http://page"})
    guard = Guard(lambda: Gate(gate["hosts"], page), lambda _origin, _method: None)
    site = make_site(
        lambda request, _about: converse(Means(engine), request),
        lambda _ask: engine.stats(),
        lambda host: Facts(f"http://{host}"),
        lambda: 10,
        cancel=ended.append,
    )
    client = await aiohttp_client(create_app(OWNED, site, guard, 2**20))
    gate["hosts"] = frozenset({f"127.0.0.1:{client.port}"})
    return client, ended


async def test_another_key_or_page_is_another_owner(owned: tuple[Client, list[str]]):
    client, _ = owned

    async def owner(**headers: str) -> str:
        reply = await client.get("/owner", headers=headers)
        return str((await reply.json())["owner"])

    key = {"Authorization": "Bearer secret"}
    assert await owner(**key) == await owner(**key) == await owner(Authorization="bearer secret")
    assert "secret" not in await owner(**key)
    others = ({"Authorization": "Bearer other"}, {"Origin": "http://page"}, {"X-API-Key": "secret"})
    found = {await owner(**headers) for headers in (key, {}, *others)}
    assert len(found) == 5


async def test_a_request_is_ended_by_its_id(owned: tuple[Client, list[str]]):
    client, ended = owned
    reply = await client.post("/end", json={})
    assert (await reply.json(), ended) == ({"ended": True}, ["abc"])


@pytest.mark.parametrize("stream", [True, False])
async def test_what_was_left_out_is_told_in_a_header(owned: tuple[Client, list[str]], stream: bool):
    client, _ = owned
    reply = await client.post("/warned", json={"stream": stream})
    assert unquote(reply.headers["X-Moat-Warning"]) == "'é' was left out."
    reply = await client.post("/end", json={})
    assert "X-Moat-Warning" not in reply.headers


async def test_who_sends_little_waits_for_no_large_body(opened: Open) -> None:
    may_end = threading.Event()
    busy = [asyncio.get_running_loop().run_in_executor(_LARGE_WORK, may_end.wait) for _ in range(2)]

    async def in_parts() -> AsyncIterator[bytes]:
        yield b'{"text":'
        yield b' "x"}'

    try:
        client = await opened(ScriptedEngine(*[says("b")] * 2))
        given = {"Content-Type": "application/json"}
        async with asyncio.timeout(30):
            assert (await client.get("/plain")).status == 200
            assert (await client.post("/chat", json={"text": "x"})).status == 200
            assert (await client.post("/chat", data=in_parts(), headers=given)).status == 200
    finally:
        may_end.set()
        await asyncio.gather(*busy)
