"""Forms with a file: read within limits, and taken only from those who may send one."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import FormData, web
from aiohttp.test_utils import TestClient

from server.protocols.base import Endpoint, Facts, Reply, Upload
from server.web import form
from server.web.app import Site, create_app
from server.web.guard import Gate, Guard

Client = TestClient[web.Request, web.Application]
PAGE = "https://pro.openbb.co"
KEY = {"Authorization": "Bearer x"}


def tell(body: Any, _facts: Facts) -> Reply:
    told = {
        name: [one.name, len(one.data)] if isinstance(one, Upload) else one
        for name, one in body.items()
    }
    return Reply(told)


async def never(_asked: object) -> None:
    raise AssertionError


@pytest.fixture
async def client(aiohttp_client: Callable[..., Awaitable[Client]]) -> Client:
    hosts: set[str] = set()
    endpoints = (
        Endpoint("POST", "/file", tell, takes_form=True),
        Endpoint("POST", "/json", tell),
    )
    gate = Gate(frozenset(), frozenset({PAGE}), forms=frozenset({"/file"}))
    guard = Guard(
        lambda: Gate(frozenset(hosts), gate.origins, forms=gate.forms), lambda _o, _m: None
    )
    site = Site(never, never, lambda host: Facts(f"http://{host}"), lambda: 10)  # type: ignore[arg-type]
    opened = await aiohttp_client(create_app(endpoints, site, guard, 100_000_000))
    hosts.add(f"127.0.0.1:{opened.port}")
    return opened


def sent(**fields: str | bytes) -> FormData:
    data = FormData()
    for name, value in fields.items():
        named = {"filename": f"{name}.csv"} if isinstance(value, bytes) else {}
        data.add_field(name, value, **named)  # type: ignore[arg-type]
    return data


async def test_texts_and_files_come_by_their_names(client: Client):
    reply = await client.post("/file", data=sent(name="Prices", file=b"a,b\n1,2"), headers=KEY)
    assert await reply.json() == {"name": "Prices", "file": ["file.csv", 7]}


async def test_json_is_taken_there_as_well(client: Client):
    assert await (await client.post("/file", json={"a": "b"})).json() == {"a": "b"}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/file", {}, 415),
        ("/file", {"Origin": PAGE}, 200),
        ("/file", {"Origin": "https://evil.test"}, 403),
        ("/file", {"Origin": "https://evil.test", **KEY}, 403),
        ("/json", KEY, 415),
    ],
)
async def test_only_who_had_to_ask_before_may_send_one(
    client: Client, path: str, headers: dict[str, str], status: int
):
    assert (await client.post(path, data=sent(file=b"x"), headers=headers)).status == status


async def test_a_form_that_is_too_big_or_has_too_many_parts_is_refused(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    many = sent(**{f"f{number}": b"x" for number in range(form.MAX_PARTS + 1)})
    assert (await client.post("/file", data=many, headers=KEY)).status == 400
    monkeypatch.setattr(form, "MAX_FORM_BYTES", 1000)
    big = sent(one=b"x" * 600, two=b"x" * 600)
    assert (await client.post("/file", data=big, headers=KEY)).status == 413


@pytest.mark.parametrize("body", [b"", b"nonsense", b"--x\r\n", b"--x\r\nContent-Disposition: a"])
async def test_what_is_no_form_is_refused(client: Client, body: bytes):
    headers = {"Content-Type": "multipart/form-data; boundary=x", **KEY}
    reply = await client.post("/file", data=body, headers=headers)
    assert reply.status in (200, 400)
    assert (await client.post("/file", json={})).status == 200


async def test_a_form_without_a_boundary_is_refused(client: Client):
    headers = {"Content-Type": "multipart/form-data", **KEY}
    assert (await client.post("/file", data=b"x", headers=headers)).status == 400


async def test_a_part_with_too_many_headers_is_refused(client: Client):
    headers = {"Content-Type": "multipart/form-data; boundary=x", **KEY}
    many = b"".join(b"X-%d: 1\r\n" % number for number in range(1000))
    body = b"--x\r\n" + many + b"\r\nhi\r\n--x--\r\n"
    assert (await client.post("/file", data=body, headers=headers)).status == 400


async def test_a_form_that_is_not_packed_as_it_says_is_refused(client: Client):
    packed = {"Content-Type": "multipart/form-data; boundary=x", "Content-Encoding": "gzip", **KEY}
    assert (await client.post("/file", data=b"--x\r\n", headers=packed)).status == 400


async def test_parts_are_counted_though_they_have_the_same_name(client: Client):
    headers = {"Content-Type": "multipart/form-data; boundary=x", **KEY}
    part = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    most = await client.post("/file", data=part * form.MAX_PARTS + b"--x--\r\n", headers=headers)
    assert (most.status, await most.json()) == (200, {"a": ""})
    more = part * (form.MAX_PARTS + 1) + b"--x--\r\n"
    assert (await client.post("/file", data=more, headers=headers)).status == 400
