import asyncio
import errno
import json
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from server.core.core import Core
from server.face.wire import COMMANDS, SIGNALS, VALUES
from server.system.paths import find
from server.web.app import _changes, create_control
from server.web.guard import Gate, Guard
from tests.kit.engines import ScriptedEngine
from tests.kit.gguf_files import write_model

Client = TestClient[web.Request, web.Application]
SECRET = {"Authorization": "Bearer the-secret-of-the-link"}


@pytest.fixture
async def core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Core]:
    monkeypatch.setenv("MOAT_HOME", str(tmp_path))
    core = Core(find(), lambda _path, _options: ScriptedEngine())
    await core.open()
    yield core
    await core.close()


@pytest.fixture
async def client(core: Core, aiohttp_client: Callable[..., Awaitable[Client]]) -> Client:
    hosts: set[str] = set()
    guard = Guard(
        lambda: Gate(frozenset(hosts), key="the-secret-of-the-link"), lambda _origin, _method: None
    )
    client = await aiohttp_client(create_control(core, guard))
    hosts.add(f"127.0.0.1:{client.port}")
    return client


async def frames(reply: Any) -> AsyncIterator[dict[str, Any]]:
    async for line in reply.content:
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


async def command(client: Client, name: str, arguments: dict[str, Any]) -> tuple[int, Any]:
    body = {"name": name, "arguments": arguments}
    reply = await client.post("/control/command", json=body, headers=SECRET)
    return reply.status, await reply.json()


async def test_the_stream_begins_with_every_value_and_goes_on_with_changes(client, core: Core):
    reply = await client.get("/control/stream", headers=SECRET)
    stream = frames(reply)
    first = {(await anext(stream))["value"] for _ in VALUES}
    assert first == set(VALUES)
    await core.change_setting("server.max_requests", 7)
    async for frame in stream:
        if frame.get("value") == "settings":
            break
    assert VALUES["settings"].validate_python(frame["data"]) == core.settings.get()
    reply.close()


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
async def test_a_file_whose_name_is_no_text_does_not_end_the_link(client, core: Core):
    write_model(Path(os.fsdecode(os.fsencode(find().models) + b"/mod\xe9l.gguf")))
    core.choose_model("mod\N{REPLACEMENT CHARACTER}l")
    reply = await client.get("/control/stream", headers=SECRET)
    stream = frames(reply)
    sent = [await anext(stream) for _ in VALUES]
    (models,) = [frame["data"] for frame in sent if frame["value"] == "models.cards"]
    assert "mod\N{REPLACEMENT CHARACTER}l" in {card["name"] for card in models}
    reply.close()
    status, body = await command(
        client, "models.describe", {"name": "mod\N{REPLACEMENT CHARACTER}l"}
    )
    assert (status, body["result"]["path"].endswith("l.gguf")) == (200, True)


async def test_log_lines_are_signalled(client, core: Core):
    reply = await client.get("/control/stream", headers=SECRET)
    stream = frames(reply)
    for _ in VALUES:
        await anext(stream)
    logging.getLogger("part").warning("look here")
    # Other parts may log as well, before this line or after it.
    async for frame in stream:
        if frame.get("signal") == "logged":
            line = SIGNALS["logged"].validate_python(frame["data"])
            if line.text == "look here":
                break
    assert (line.level, line.source) == ("warning", "part")
    reply.close()


async def test_a_command_that_is_refused_says_why(client):
    status, body = await command(client, "load_model", {"name": "nope"})
    assert (status, body["error"]["code"]) == (404, "model_not_found")
    assert "nope" in body["error"]["message"]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (OSError(errno.ENOSPC, "No space left"), 507, ("No space left", "OSError: [Errno")),
        (PermissionError(errno.EACCES, "No"), 500, ("refused: No", "PermissionError: [Errno")),
        (TimeoutError(), 500, ("The system refused.", "TimeoutError")),
        (RuntimeError("a secret"), 500, ("Something went wrong inside Moat.", "RuntimeError")),
    ],
)
async def test_a_command_that_breaks_says_why(
    client, core: Core, caplog: Any, error: Exception, status: int, said: tuple[str, str]
):
    async def broken(**_arguments: Any) -> int:
        raise error

    core.models.delete = broken  # type: ignore[method-assign]
    told, body = await command(client, "models.delete", {"name": "x"})
    assert told == status
    message, details = said
    assert message in body["error"]["message"]
    assert details in body["error"]["details"]
    assert "a secret" not in str(body)
    assert "A command failed" in caplog.text


async def test_an_error_arrives_as_plain_text_and_with_its_fields(client):
    _, body = await command(client, "set_model_of_no_name", {})
    assert body["error"]["sentence"] == ["There is no such command."]
    _, body = await command(client, "plugins.enable", {"key": "nobody"})
    assert body["error"]["message"].startswith("There is no plugin 'nobody'.")
    assert "There is no plugin '{0}'." in str(body["error"]["sentence"])


async def test_a_setting_of_no_group_is_refused(client):
    status, body = await command(client, "change_setting", {"field": "foo.bar", "value": 1})
    assert (status, body["error"]["code"]) == (400, "invalid_request")


async def test_a_command_returns_its_result(client):
    status, body = await command(client, "recent_logs", {"count": 3})
    assert status == 200
    assert isinstance(body["result"], list)


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"name": "open"},
        {"name": "__init__"},
        {"name": "load_model"},
        {"name": "load_model", "arguments": {"name": 5}},
        {"name": "stop", "arguments": {"x": 1}},
    ],
)
async def test_what_is_no_command_is_refused(client, body: Any):
    reply = await client.post("/control/command", json=body, headers=SECRET)
    assert reply.status == 400


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
async def test_being_local_is_not_enough(client, headers: dict[str, str]):
    for path in ("/control/stream", "/control/command", "/control/nothing"):
        reply = await client.get(path, headers=headers)
        assert reply.status == 401
    reply = await client.get("/control/stream", headers={**SECRET, "Origin": "https://x.test"})
    assert reply.status == 403


def test_every_command_of_the_face_can_be_called():
    assert {"start", "stop", "load_model", "change_setting"} <= set(COMMANDS)


async def test_a_value_set_while_a_write_waits_is_told_after_it(core: Core):
    changes = _changes(core)
    await anext(changes)
    await core.change_setting("server.max_requests", 7)
    told = await asyncio.wait_for(anext(changes), 30)
    frames = [json.loads(line[6:]) for line in told.split(b"\n\n") if line]
    settings = [one["data"] for one in frames if one.get("value") == "settings"]
    assert [one["server"]["max_requests"] for one in settings] == [7]
    await changes.aclose()
