"""Calls against a server that misbehaves in every way: status, size, time, redirects, echoes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.data.yaml_with_places import Findings, read
from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.api import operations
from server.plugins.api.action import ApiAction, Reaching
from server.plugins.manifest import Auth
from server.plugins.secrets import Sealed
from server.settings import NetworkSettings
from server.system.keychain import Keychain
from server.system.logs import HIDDEN, Redactor
from server.tasks import spawn, stop

CANARY = "canary-5f2c9d1e"
PATHS = """
  /status/{code}:
    get: {description: any status, parameters: [{name: code, in: path, required: true,
          description: c, schema: {type: integer}}], responses: {'200': {description: x}}}
  /slow: {get: {description: s, responses: {'200': {description: x}}}}
  /huge: {get: {description: s, responses: {'200': {description: x}}}}
  /away: {get: {description: s, responses: {'200': {description: x}}}}
  /round: {get: {description: s, responses: {'200': {description: x}}}}
  /image: {get: {description: s, responses: {'200': {description: x}}}}
  /broken: {get: {description: s, responses: {'200': {description: x}}}}
  /flaky: {get: {description: s, responses: {'200': {description: x}}}}
  /echo/{id}:
    post:
      description: echoes what it was sent
      parameters:
        - {name: id, in: path, required: true, description: i, schema: {type: string}}
        - {name: tag, in: query, description: t, schema: {type: array, items: {type: string}}}
        - {name: X-Trace, in: header, description: t, schema: {type: string}}
        - {name: deep, in: query, style: deepObject, description: d, schema: {type: object}}
        - {name: name, in: query, description: clashes with the body, schema: {type: string}}
      requestBody:
        content:
          MEDIA:
            schema:
              type: object
              properties: {name: {type: string}, many: {type: array, items: {type: integer}}}
      responses: {'200': {description: x}}
"""


class Misbehaving:
    def __init__(self) -> None:
        self.asked: list[str] = []
        self.stopped = asyncio.Event()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        match request.path.split("/")[1]:
            case "status":
                return web.json_response({"said": "so"}, status=int(request.path.split("/")[2]))
            case "slow":
                await self._wait()
            case "huge":
                return web.json_response({"a": "x" * 2_000_000})
            case "away":
                raise web.HTTPFound("http://127.0.0.2:9/elsewhere")
            case "round":
                raise web.HTTPFound("/round")
            case "image":
                return web.Response(body=b"\x89PNG", content_type="image/png")
            case "broken":
                return web.Response(text="{nope", content_type="application/json")
            case "flaky":
                status = 503 if len(self.asked) < 3 else 200
                return web.json_response({"tries": len(self.asked)}, status=status)
        raw = await request.read()
        headers = {name.lower(): value for name, value in request.headers.items()}
        return web.json_response({"url": request.path_qs, "headers": headers, "body": raw.decode()})

    async def _wait(self) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            self.stopped.set()


@pytest.fixture
async def misbehaving() -> AsyncIterator[tuple[Misbehaving, TestServer]]:
    told = Misbehaving()
    app = web.Application(handler_args={"handler_cancellation": True})
    app.router.add_route("*", "/{rest:.*}", told.answer)
    async with TestServer(app, handler_cancellation=True) as server:
        yield told, server


@pytest.fixture
async def make(misbehaving: tuple[Misbehaving, TestServer], tmp_path: Path) -> AsyncIterator[Any]:
    door = Egress(NetworkSettings)
    keychain = Keychain(tmp_path / "secrets.json")
    sealed = Sealed("p", keychain, Redactor())
    url = str(misbehaving[1].make_url("")).rstrip("/")
    door.allow(url, "plugin p")

    def action(key: str, auth: Auth | None = None, media: str = "application/json") -> ApiAction:
        findings = Findings("openapi.yaml")
        head = f"openapi: 3.0.0\ninfo: {{title: t, version: '1'}}\nservers: [{{url: '{url}'}}]\n"
        text = f"{head}paths:\n{PATHS.replace('MEDIA', media)}"
        api = operations.parse(read(text.encode(), findings), findings)
        assert api
        return ApiAction(api.operations[key], Reaching(door, "plugin p", url, sealed, auth))

    action.sealed = sealed  # type: ignore[attr-defined]
    yield action
    await door.close()


async def failure(action: ApiAction, arguments: dict[str, Any]) -> FlowFailed:
    with pytest.raises(FlowFailed) as caught:
        async with asyncio.timeout(30):
            await action.call(arguments, {}, 30)
    return caught.value


@pytest.mark.parametrize("code", [200, 201, 202, 206])
async def test_every_2xx_is_an_answer(make: Any, code: int) -> None:
    output = await make("GET /status/{code}").call({"code": code}, {}, 5)
    assert output.data == {"said": "so"}


@pytest.mark.parametrize("code", [400, 401, 403, 404, 409, 418, 422, 500, 501])
async def test_every_other_status_is_a_failure_with_its_body(make: Any, code: int) -> None:
    failed = await failure(make("GET /status/{code}"), {"code": code})
    assert (failed.fault, failed.detail["status"]) == ("http_status", code)
    assert "so" in failed.detail["body"]


async def test_an_empty_answer_is_one(make: Any) -> None:
    assert (await make("GET /status/{code}").call({"code": 204}, {}, 5)).data == ""


async def test_only_reading_is_tried_again(make: Any, misbehaving: Any) -> None:
    output = await make("GET /flaky").call({}, {}, 10)
    assert output.data == {"tries": 3}


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/huge", "too_large"),
        ("/away", "http_connect"),
        ("/round", "http_connect"),
        ("/image", "http_status"),
        ("/broken", "http_status"),
    ],
)
async def test_bad_answers_are_failures(make: Any, path: str, fault: str) -> None:
    assert (await failure(make(f"GET {path}"), {})).fault == fault


async def test_a_slow_answer_is_given_up_and_the_connection_with_it(
    make: Any, misbehaving: tuple[Misbehaving, TestServer]
) -> None:
    told, _server = misbehaving
    asking = spawn(make("GET /slow").call({}, {}, 60), "ask")
    async with asyncio.timeout(30):
        while not told.asked:
            await asyncio.sleep(0.005)
    await stop(asking)
    await asyncio.wait_for(told.stopped.wait(), 30)


ARGUMENTS = {
    "id": "a/../b", "tag": ["x", "y"], "X-Trace": "t", "deep": {"k": "v"}, "name@query": "q",
    "name": "n", "many": [1, 2],
}  # fmt: skip


async def test_each_argument_goes_where_the_description_says(make: Any) -> None:
    sent = (await make("POST /echo/{id}").call(ARGUMENTS, {}, 5)).data
    assert sent["url"] == "/echo/a%2F..%2Fb?tag=x&tag=y&deep%5Bk%5D=v&name=q"
    assert sent["headers"]["x-trace"] == "t"
    assert json.loads(sent["body"]) == {"name": "n", "many": [1, 2]}


@pytest.mark.parametrize(
    ("media", "expected"),
    [
        ("application/x-www-form-urlencoded", "name=n&many=1&many=2"),
        ("x-www-form-urlencoded", "name=n&many=1&many=2"),
    ],
)
async def test_forms_are_urlencoded(make: Any, media: str, expected: str) -> None:
    sent = (await make("POST /echo/{id}", media=media).call(ARGUMENTS, {}, 5)).data
    assert sent["body"] == expected
    assert sent["headers"]["content-type"] == "application/x-www-form-urlencoded"


async def test_multipart_is_multipart(make: Any) -> None:
    sent = (await make("POST /echo/{id}", media="multipart/form-data").call(ARGUMENTS, {}, 5)).data
    assert sent["headers"]["content-type"].startswith("multipart/form-data; boundary=")
    assert 'name="many"\r\n\r\n2\r\n' in sent["body"]


@pytest.mark.parametrize("place", ["header", "query", "cookie"])
async def test_a_secret_is_sent_and_nowhere_else_to_be_seen(make: Any, place: str) -> None:
    await make.sealed.keep("key", CANARY)
    action = make("POST /echo/{id}", Auth(place, {"X-Key": "${secret:key}"}))
    output = await action.call({"id": "1"}, {}, 5)
    echoed = json.dumps(output.data)
    assert HIDDEN in json.dumps(output.data, ensure_ascii=False)
    assert CANARY not in echoed
    assert CANARY not in str(action.preview({"id": "1"}))


async def test_without_its_secret_nothing_is_sent(make: Any, misbehaving: Any) -> None:
    failed = await failure(make("GET /slow", Auth("header", {"X-Key": "${secret:key}"})), {})
    assert failed.fault == "denied"
    assert "Sign-in needed" in str(failed)
    assert misbehaving[0].asked == []


async def test_a_header_cannot_be_split(make: Any) -> None:
    failed = await failure(make("POST /echo/{id}"), {"id": "1", "X-Trace": "a\r\nEvil: 1"})
    assert failed.fault == "slot_invalid"


@pytest.mark.parametrize("way", ["..", "."])
async def test_a_path_cannot_climb(make: Any, way: str) -> None:
    assert (await failure(make("POST /echo/{id}"), {"id": way})).fault == "slot_invalid"


async def test_offline_nothing_leaves(make: Any, misbehaving: Any) -> None:
    action = make("GET /flaky")
    action.reaching.door._network = lambda: NetworkSettings(offline=True)  # the user's switch
    failed = await failure(action, {})
    assert failed.fault == "http_connect"
    assert "Offline mode is on" in str(failed)
    assert misbehaving[0].asked == []
