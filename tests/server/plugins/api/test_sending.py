"""A file in a request: only one that a person picked, as it is, under its name."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
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
from server.system.logs import Redactor

UPLOAD = """openapi: 3.0.0
info: {title: t, version: '1'}
servers: [{url: 'URL'}]
paths:
  /upload:
    post:
      description: takes a file
      requestBody:
        content:
          multipart/form-data:
            schema:
              type: object
              required: [report]
              properties: {note: {type: string}, report: {type: string, format: binary}}
      responses: {'200': {description: x}}
"""
HELD = bytes(range(256)) + b"\r\n--boundary"


@asynccontextmanager
async def opened() -> AsyncIterator[Egress]:
    door = Egress(NetworkSettings)
    try:
        yield door
    finally:
        await door.close()


async def taken(request: web.Request) -> web.Response:
    form = await request.post()
    report = form["report"]
    assert isinstance(report, web.FileField)
    with report.file as file:
        same = file.read() == HELD
    told = {"name": report.filename, "same": same, "note": form["note"]}
    return web.json_response(told)


def upload(url: str, door: Egress, tmp_path: Path, described: str = UPLOAD) -> ApiAction:
    findings = Findings("openapi.yaml")
    api = operations.parse(read(described.replace("URL", url).encode(), findings), findings)
    assert api
    sealed = Sealed("p", Keychain(tmp_path / "secrets.json"), Redactor())
    return ApiAction(api.operations["POST /upload"], Reaching(door, "plugin p", url, sealed))


async def test_a_picked_file_is_sent_as_it_is(tmp_path: Path) -> None:
    picked = tmp_path / "odd näme.bin"
    picked.write_bytes(HELD)
    app = web.Application()
    app.router.add_post("/upload", taken)
    async with (
        TestServer(app, host="127.0.0.1") as server,
        opened() as door,
    ):
        url = str(server.make_url("")).rstrip("/")
        door.allow(url, "plugin p")
        action = upload(url, door, tmp_path)
        arguments = {"note": "n", "report": picked.name}
        assert action.preview(arguments).body == arguments
        around: dict[str, Any] = {"paths": {picked.name: str(picked)}}
        output = await action.call(arguments, around, 5)
        assert output.data == {"name": "odd näme.bin", "same": True, "note": "n"}
        with pytest.raises(FlowFailed, match="No file was chosen") as caught:
            await action.call({"note": "n", "report": "/etc/passwd"}, around, 5)
        assert caught.value.fault == "slot_missing"
        picked.unlink()
        with pytest.raises(FlowFailed, match="could not be read"):
            await action.call(arguments, around, 5)


async def several(request: web.Request) -> web.Response:
    found = []
    for one in (await request.post()).getall("report"):
        assert isinstance(one, web.FileField)
        with one.file as file:
            found.append([one.filename, file.read().decode()])
    return web.json_response(found)


async def test_a_field_of_several_files_sends_each(tmp_path: Path) -> None:
    one = "report: {type: string, format: binary}"
    many = "report: {type: array, items: {type: string, format: binary}}"
    app = web.Application()
    app.router.add_post("/upload", several)
    paths = {"r.txt": str(tmp_path / "1"), "r (2).txt": str(tmp_path / "2")}
    for path in paths.values():
        Path(path).write_text(f"in {Path(path).name}")
    async with (
        TestServer(app, host="127.0.0.1") as server,
        opened() as door,
    ):
        url = str(server.make_url("")).rstrip("/")
        door.allow(url, "plugin p")
        action = upload(url, door, tmp_path, UPLOAD.replace(one, many))
        output = await action.call({"report": [*paths]}, {"paths": paths}, 5)
        assert output.data == [["r.txt", "in 1"], ["r (2).txt", "in 2"]]
        with pytest.raises(FlowFailed, match="No file was chosen"):
            await action.call({"report": ["r.txt", "x"]}, {"paths": paths}, 5)


async def test_a_refused_secret_is_named_as_the_cause(tmp_path: Path) -> None:
    async def refuse(_request: web.Request) -> web.Response:
        return web.Response(status=401)

    app = web.Application()
    app.router.add_post("/upload", refuse)
    (tmp_path / "x").write_bytes(b"x")
    async with TestServer(app, host="127.0.0.1") as server, opened() as door:
        url = str(server.make_url("")).rstrip("/")
        door.allow(url, "plugin p")
        plain = upload(url, door, tmp_path)
        signed = replace(plain, reaching=replace(plain.reaching, auth=Auth("header", {"X": "y"})))
        for action, advised in ((plain, False), (signed, True)):
            with pytest.raises(FlowFailed, match="answered with status 401") as failed:
                await action.call({"report": "x"}, {"paths": {"x": str(tmp_path / "x")}}, 30)
            assert ("Check the secrets" in str(failed.value)) is advised
