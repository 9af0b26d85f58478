"""An engine on another machine, behind the same face: a real HTTP server on loopback plays it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import astuple, replace
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.chat import ChatRequest, Message, Tool, ToolCall, ToolChoice
from server.egress import Egress
from server.engine.elsewhere.engine import REASON, Remote, RemoteAnswer, RemoteEngine
from server.errors import (
    AppError,
    BadRequest,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    NotSupported,
)
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
)
from server.settings import NetworkSettings

Json = dict[str, Any]
ASK = ChatRequest((Message("user", "hi"),))
Serve = Callable[[web.Application], Awaitable[TestServer]]


class House:
    """The other machine: what it was sent, and what it shall answer."""

    def __init__(self) -> None:
        self.bodies: list[Json] = []
        self.keys: list[str] = []
        self.chunks: list[Json] = []
        self.status = 200
        self.error: Json = {}
        self.cut = False
        self.endless = False
        self.left = asyncio.Event()

    async def models(self, request: web.Request) -> web.Response:
        self.keys.append(request.headers.get("Authorization", ""))
        meta = {"n_ctx_train": 8192, "n_embd": 4, "n_params": 7}
        rows = [{"id": "large", "max_model_len": 4096}, {"id": "small", "meta": meta}]
        return web.json_response({"data": rows})

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        if self.status != 200:
            return web.json_response(self.error, status=self.status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": keep-alive\n\n")
        for chunk in self.chunks:
            await response.write(f"data: {json.dumps(chunk)}\n\n".encode())
        if self.endless:
            await self._go_on(response)
        if self.cut and request.transport:
            request.transport.abort()
            return response
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _go_on(self, response: web.StreamResponse) -> None:
        try:
            while True:
                await response.write(f"data: {json.dumps(says('more'))}\n\n".encode())
                await asyncio.sleep(0.01)
        finally:
            self.left.set()

    async def embed(self, request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        rows = [{"index": n, "embedding": [len(text)]} for n, text in enumerate(texts)]
        return web.json_response({"data": rows[::-1], "usage": {"prompt_tokens": 4}})

    async def tokenize(self, request: web.Request) -> web.Response:
        return web.json_response({"tokens": list((await request.json())["content"].encode())})

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.answer)
        app.router.add_post("/v1/completions", self.answer)
        app.router.add_post("/v1/embeddings", self.embed)
        app.router.add_post("/tokenize", self.tokenize)
        return app


def says(text: str, **choice: Any) -> Json:
    return {"choices": [{"index": 0, "delta": {"content": text}, **choice}]}


def delta(finish: str | None = None, **fields: Any) -> Json:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def calls(index: int, arguments: str, **fields: Any) -> Json:
    function = {"arguments": arguments, **({"name": fields["name"]} if fields else {})}
    return delta(tool_calls=[{"index": index, "id": fields.get("id"), "function": function}])


async def read(engine: RemoteEngine, request: ChatRequest = ASK) -> list[Piece]:
    async with aclosing(engine.generate(request)) as pieces:
        return [piece async for piece in pieces]


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
async def server(house: House, aiohttp_server: Serve) -> TestServer:
    return await aiohttp_server(house.app())


@pytest.fixture
async def door(server: TestServer) -> AsyncIterator[Egress]:
    egress = Egress(NetworkSettings)
    egress.allow(str(server.make_url("/")), REASON)
    yield egress
    await egress.close()


@pytest.fixture
def engine(server: TestServer, door: Egress) -> RemoteEngine:
    async def key() -> str:
        return "secret"

    return RemoteEngine(Remote(str(server.make_url("/v1"))), door, key)


async def test_the_first_model_is_taken_unless_one_is_named(
    engine: RemoteEngine, server: TestServer, door: Egress, house: House
) -> None:
    await engine.load()
    assert (engine.facts.name, engine.facts.context_tokens) == ("large", 4096)
    assert house.keys == ["Bearer secret"]
    named = RemoteEngine(Remote(str(server.make_url("/v1/")), "small"), door)
    await named.load()
    assert (named.facts.name, named.facts.context_tokens) == ("small", 8192)
    assert house.keys[-1] == ""


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("", "/v1"),
        ("/", "/v1"),
        ("/team", "/team/v1"),
        ("/team/v1/", "/team/v1"),
        ("/v3", "/v3"),
        ("/v1beta/openai/", "/v1beta/openai"),
        ("/vision", "/vision/v1"),
    ],
)
async def test_the_paths_are_below_the_address_that_other_clients_take(
    url: str, base: str, house: House, aiohttp_server: Serve
) -> None:
    app = web.Application()
    app.router.add_get(f"{base}/models", house.models)
    app.router.add_post(f"{base}/chat/completions", house.answer)
    app.router.add_post(f"{base.removesuffix('/v1').removesuffix('/v3')}/tokenize", house.tokenize)
    address = str((await aiohttp_server(app)).make_url("/")).rstrip("/")
    egress = Egress(NetworkSettings)
    egress.allow(address, REASON)
    engine = RemoteEngine(Remote(address + url), egress)
    house.chunks = [says("hello", finish_reason="stop")]
    assert TextDelta("hello") in await read(engine)
    assert await engine.tokenize("ab") == [97, 98]
    await egress.close()


async def test_a_model_it_does_not_serve_is_named(server: TestServer, door: Egress) -> None:
    engine = RemoteEngine(Remote(str(server.make_url("/v1")), "other"), door)
    with pytest.raises(ModelLoadFailed, match="serves large, small, not 'other'"):
        await engine.load()
    assert engine.state.get().phase == "failed"


async def test_text_reasoning_and_usage_arrive(engine: RemoteEngine, house: House) -> None:
    usage: Json = {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}
    usage |= {"completion_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 1}}
    house.chunks = [
        delta(role="assistant", content=""),
        delta(reasoning_content="hm"),
        delta(reasoning="hm"),
        says("grü"),
        says("n"),
        delta("length"),
        {"choices": [], "usage": usage},
    ]
    *pieces, end = await read(engine)
    assert pieces == [ReasoningDelta("hm")] * 2 + [TextDelta("grü"), TextDelta("n")]
    assert isinstance(end, Finished)
    assert end.reason == "length"
    assert (end.usage.prompt_tokens, end.usage.cached_tokens) == (9, 4)
    assert (end.usage.completion_tokens, end.usage.reasoning_tokens) == (3, 1)


def test_tool_calls_are_put_together() -> None:
    answer = RemoteAnswer()
    chunks = [
        calls(0, "", name="add", id="c1"),
        calls(0, '{"a": '),
        calls(0, "1}"),
        calls(1, '{"a"', name="cut", id="c2"),
        delta("tool_calls"),
    ]
    fed = [piece for chunk in chunks for piece in answer.feed(chunk)]
    *pieces, end = [*fed, *answer.finish()]
    assert pieces == [
        CallOpened(0, "c1", "add"),
        CallArguments(0, '{"a": '),
        CallArguments(0, "1}"),
        ToolCallRequested(ToolCall("c1", "add", {"a": 1})),
        CallOpened(1, "c2", "cut"),
        CallArguments(1, '{"a"'),
        ToolCallRequested(ToolCall("c2", "cut", {}), valid=False),
    ]
    assert isinstance(end, Finished)
    assert end.reason == "tool_calls"


FENCED = '```json\n{"name": "add", "arguments": {"a": 1}}\n```'
ADD = Tool("add", "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}})


@pytest.mark.parametrize(("mode", "is_call"), [("auto", True), ("none", False)])
async def test_a_call_that_its_server_took_for_text_is_a_call(
    engine: RemoteEngine, house: House, mode: Any, is_call: bool
) -> None:
    house.chunks = [*(says(letter) for letter in FENCED), delta("stop")]
    asked = ChatRequest((Message("user", "Add 1."),), tools=(ADD,), tool_choice=ToolChoice(mode))
    *pieces, end = await read(engine, asked)
    made = [piece.call for piece in pieces if isinstance(piece, ToolCallRequested)]
    said = "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))
    assert [(call.name, call.arguments) for call in made] == [("add", {"a": 1})] * is_call
    assert said.strip() == ("" if is_call else FENCED)
    assert isinstance(end, Finished)
    assert end.reason == ("tool_calls" if is_call else "stop")


async def test_json_that_was_asked_for_is_no_call(engine: RemoteEngine, house: House) -> None:
    house.chunks = [*(says(letter) for letter in FENCED), delta("stop")]
    asked = ChatRequest((Message("user", "Show me a call of add as JSON."),), tools=(ADD,))
    *pieces, _end = await read(engine, asked)
    assert "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)) == FENCED


async def test_logprobs_arrive(engine: RemoteEngine, house: House) -> None:
    top = [{"token": "a", "bytes": [97], "logprob": -0.5}, {"token": "b", "logprob": -1.0}]
    row = {"token": "a", "bytes": [97], "logprob": -0.5, "top_logprobs": top}
    house.chunks = [says("a", logprobs={"content": [row]}), delta("stop")]
    expected = (TokenLogprob("a", b"a", -0.5), TokenLogprob("b", b"b", -1.0))
    assert (await read(engine))[0] == TextDelta("a", (TokenLogprob("a", b"a", -0.5, expected),))


async def test_a_raw_prompt_is_a_completion(engine: RemoteEngine, house: House) -> None:
    house.chunks = [{"choices": [{"text": " on", "finish_reason": "stop"}]}]
    pieces = await read(engine, ChatRequest(prompt="go", top_logprobs=1))
    assert pieces[0] == TextDelta(" on")
    assert (house.bodies[0]["prompt"], house.bodies[0]["logprobs"]) == ("go", 1)


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (400, {"error": {"message": "bad field"}}, BadRequest, "reports: bad field"),
        (
            400,
            {"error": {"n_prompt_tokens": 9, "n_ctx": 5}},
            ContextOverflow,
            "the prompt has 9 tokens",
        ),
        (400, {"object": "error", "message": "too long"}, BadRequest, "reports: too long"),
        (422, {"detail": "what?"}, BadRequest, "reports: what"),
        (401, {"error": "no"}, EngineCrashed, "does not accept our key"),
        (404, {}, NotSupported, "status 404"),
        (429, {}, Busy, "queue is full"),
        (503, {"error": {"message": "Loading model"}}, Busy, "queue is full"),
        (500, {"error": {"message": "out of memory"}}, EngineCrashed, "failed: out of memory"),
    ],
)
async def test_a_refusal_is_raised_before_any_piece(
    engine: RemoteEngine, house: House, status: int, error: Json, kind: type[AppError], words: str
) -> None:
    house.status, house.error = status, error
    with pytest.raises(kind, match=words):
        await anext(engine.generate(ASK))


async def test_an_error_in_the_stream_is_raised(engine: RemoteEngine, house: House) -> None:
    house.chunks = [says("half"), {"error": {"message": "engine died"}}]
    stream = engine.generate(ASK)
    assert await anext(stream) == TextDelta("half")
    with pytest.raises(EngineCrashed, match="engine died"):
        await anext(stream)


@pytest.mark.parametrize(("cut", "words"), [(True, "broke off"), (False, "ended the answer early")])
async def test_an_answer_that_breaks_off_is_no_answer(
    engine: RemoteEngine, house: House, words: str, *, cut: bool
) -> None:
    house.chunks, house.cut = [says("half")], cut
    stream = engine.generate(ASK)
    assert await anext(stream) == TextDelta("half")
    with pytest.raises(EngineCrashed, match=words):
        await anext(stream)


async def test_a_server_that_ignores_required_tools_is_not_believed(
    engine: RemoteEngine, house: House
) -> None:
    house.chunks = [says("I would rather talk."), delta("stop")]
    tools = (Tool("add", "", {}),)
    with pytest.raises(EngineCrashed, match="called no tool"):
        await read(engine, replace(ASK, tools=tools, tool_choice=ToolChoice("required")))


async def test_a_machine_that_is_off_is_said_and_tried_again(
    engine: RemoteEngine, server: TestServer, house: House
) -> None:
    await engine.load()
    await server.close()
    with pytest.raises(EngineCrashed, match="cannot be reached"):
        await read(engine)
    assert engine.state.get().phase == "failed"
    with pytest.raises(ModelLoadFailed, match="cannot be reached"):
        await read(engine)


async def test_whoever_leaves_ends_the_answer_over_there(
    engine: RemoteEngine, house: House
) -> None:
    house.endless = True
    async with aclosing(engine.generate(ASK)) as stream:
        await anext(stream)
    async with asyncio.timeout(30):
        await house.left.wait()


async def test_tokens_without_a_text_are_an_empty_text(house: House, aiohttp_server: Serve) -> None:
    async def empty(_request: web.Request) -> web.Response:
        return web.json_response({"content": ""})

    app = house.app()
    app.router.add_post("/detokenize", empty)
    address = str((await aiohttp_server(app)).make_url("/v1"))
    egress = Egress(NetworkSettings)
    egress.allow(address, REASON)
    engine = RemoteEngine(Remote(address), egress)
    assert [await engine.detokenize([]) for _ in range(2)] == ["", ""]
    await egress.close()


async def test_what_the_server_has_is_used_and_what_it_lacks_is_said(engine: RemoteEngine) -> None:
    assert astuple(await engine.embed(["a", "bcd"])) == ([[1], [3]], 4)
    assert await engine.tokenize("ab") == [97, 98]
    with pytest.raises(NotSupported, match="has no /detokenize"):
        await engine.detokenize([97])
    with pytest.raises(NotSupported, match="has no /apply-template"):
        await engine.apply_template(ASK)
