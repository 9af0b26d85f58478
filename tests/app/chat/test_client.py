import json
from contextlib import aclosing

import pytest
from aiohttp import web

from app.chat import turn
from app.chat.dialects import Options
from server.chat import Message
from server.errors import AppError, LinkLost
from server.events import Finished, ReasoningDelta, StatusNote, TextDelta, Usage
from tests.kit.fake_api import USAGE, api, chunk, streaming

ASKED = [Message("user", "Hi")]


async def hear(address: str, key: str = "") -> list[turn.Heard]:
    async with aclosing(turn.ask(address, key, ASKED)) as heard:
        return [piece async for piece in heard]


async def test_an_answer_is_heard_piece_by_piece() -> None:
    handler = streaming(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "Hm."}),
        chunk({"content": "Hel"}),
        chunk({"content": "lo"}),
        chunk({}, "stop"),
        USAGE,
    )
    async with api(handler) as address:
        heard = await hear(address)
    assert heard == [
        ReasoningDelta("Hm."),
        TextDelta("Hel"),
        TextDelta("lo"),
        Finished("stop", Usage(5, completion_tokens=2)),
    ]


async def test_steps_come_as_comments_and_the_window_says_who_it_is() -> None:
    sent: list[str | None] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        sent.append(request.headers.get(turn.OWN_HEADER))
        sent.append(request.headers.get(turn.CHAT_HEADER))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": step Calling GET /value\n\n: still here\n\n")
        await response.write(f"data: {json.dumps(chunk({}, 'stop'))}\n\n".encode())
        return response

    async with api(handle) as address:
        asked = turn.ask(address, "", ASKED, Options(chat="c1"), own_key="own")
        async with aclosing(asked) as heard:
            assert [piece async for piece in heard] == [
                StatusNote("Calling GET /value"),
                Finished("stop"),
            ]
        await hear(address)
    assert sent == ["own", "c1", None, None]


async def test_the_request_is_that_of_the_public_api() -> None:
    seen: list[web.Request] = []
    async with api(streaming(chunk({}, "stop"), seen=seen)) as address:
        await hear(address, key="k-1")
    body = await seen[0].json()
    assert body["messages"] == [{"role": "user", "content": "Hi"}]
    assert body["stream"] is True
    assert seen[0].headers["Authorization"] == "Bearer k-1"


async def test_without_a_key_none_is_sent() -> None:
    seen: list[web.Request] = []
    async with api(streaming(chunk({}, "stop"), seen=seen)) as address:
        await hear(address)
    assert "Authorization" not in seen[0].headers


async def test_a_failure_in_the_stream_is_its_sentence() -> None:
    error = {"error": {"message": "The engine stopped.", "code": "engine_crashed"}}
    async with api(streaming(chunk({"content": "Hel"}), error)) as address:
        with pytest.raises(AppError, match="The engine stopped") as failure:
            await hear(address)
    assert failure.value.code == "engine_crashed"


async def test_a_refusal_is_its_sentence() -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "Busy.", "code": None}}, status=429)

    async with api(refuse) as address:
        with pytest.raises(AppError, match="Busy"):
            await hear(address)


@pytest.mark.parametrize("text", ["no", "[]", '["no"]', "null", "5"])
async def test_an_answer_that_is_no_json_is_said(text: str) -> None:
    async def fail(_: web.Request) -> web.StreamResponse:
        return web.Response(status=421, text=text, content_type="application/json")

    async with api(fail) as address:
        with pytest.raises(AppError, match="status 421"):
            await hear(address)


async def test_a_stream_that_breaks_off_is_said() -> None:
    async with api(streaming(chunk({"content": "Hel"}))) as address:
        with pytest.raises(AppError, match="interrupted"):
            await hear(address)


@pytest.mark.parametrize("line", [b"x" * 3 * 2**20, b"no json", b"[]", b"5", b"{}"])
async def test_a_line_that_cannot_be_read_is_said(line: bytes) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"data: " + line + b"\n\n")
        return response

    async with api(handle) as address:
        with pytest.raises(AppError, match="does not understand"):
            await hear(address)


async def test_nobody_there_is_said() -> None:
    with pytest.raises(LinkLost):
        await hear("http://127.0.0.1:9")
