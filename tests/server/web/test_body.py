"""Large bodies: read as small ones are, and refused where a name has megabytes."""

import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import ClientSession, FormData, web
from aiohttp.test_utils import TestClient

from server.errors import AppError, BadRequest
from server.protocols.base import Endpoint, Facts, Reply, Upload
from server.web import body
from server.web.app import create_app
from server.web.body import _check, _parse, _parse_patiently
from server.web.guard import Gate, Guard
from server.web.listener import Listener
from tests.kit.sites import make_site

MOST_BYTES = 100_000
ODD: tuple[Any, ...] = (
    {"a": [1, -2.5, 1e300, "\u00e9\n", None, True, {}]}, [[[]]], "text", 7, {"a": 1, "b": {"a": 2}},
)  # fmt: skip


@pytest.mark.parametrize("value", ODD)
def test_both_readers_read_the_same(value: Any) -> None:
    data = json.dumps(value).encode()
    assert _parse_patiently(data) == _parse(data) == value


@pytest.mark.parametrize("data", [b"{", b"[NaN]", b"[1e5,Infinity]", b"\xff", b"[" * 100_000, b""])
def test_both_readers_refuse_the_same(data: bytes) -> None:
    for read in (_parse_patiently, _parse):
        with pytest.raises(BadRequest, match="not valid JSON"):
            read(data)


TEXTS = (
    "a\\" * 40, '"' * 60, "\u00e9\U0001f600" * 30, "\\\\\n" * 30, "\U0001f600\U0001f601" * 20,
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("length", range(1, 14))
def test_a_long_text_is_read_in_parts_that_cut_no_escape(
    text: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", length)
    monkeypatch.setattr(body, "PART_CHARS", length + 2)
    value = {"a": text, text: [text, {text: 1}]}
    for is_ascii in (True, False):
        data = json.dumps(value, ensure_ascii=is_ascii, indent=1).encode()
        assert _parse_patiently(data) == value


@pytest.mark.parametrize("wrong", [r"\x", r"\u12", "\x01", r"\ud83d\u", ""])
def test_what_is_wrong_in_a_long_text_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", 5)
    monkeypatch.setattr(body, "PART_CHARS", 7)
    with pytest.raises(BadRequest, match=r"not valid JSON: .*char \d\d"):
        _parse_patiently(b'{"a": "' + b"b" * 40 + wrong.encode() + b"c" * 40)


def test_halves_of_pairs_are_replaced_and_whole_pairs_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", 3)
    monkeypatch.setattr(body, "PART_CHARS", 5)
    written = '["' + r"\ud83d\ud83d\ude00\ude00\ude00x" * 9 + '"]'
    whole = "\ufffd\U0001f600\ufffd\ufffdx" * 9
    assert ascii(_parse_patiently(written.encode())) == ascii([whole])


def test_a_large_body_has_no_text_that_cannot_be_stored() -> None:
    sent = {"threadId": "a\ud800", "\udc00": 1, "more": "a" * body.PATIENT_BYTES}
    read = _parse(json.dumps(sent).encode())
    assert ascii(list(read)[:2]) == ascii(["threadId", "\ufffd"])
    assert ascii(read["threadId"]) == ascii("a\ufffd")


def test_one_long_text_is_read_by_the_patient_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(body, "_parse_patiently", lambda data: read.append(len(data)))
    _parse(b'["' + b"a" * body.PATIENT_BYTES + b'"]')
    assert read


def test_many_values_are_read_by_the_patient_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(body, "_parse_patiently", lambda data: read.append(len(data)))
    _parse(b"[" + b"0," * (body.MANY_VALUES + 1) + b"0]")
    assert read


@pytest.mark.parametrize("name", ["name", "threadId", "function", "filename"])
def test_a_name_of_megabytes_is_refused_wherever_it_stands(name: str) -> None:
    sent = {"widgets": [{"primary": {name: "a b " * 100_000}}]}
    with pytest.raises(BadRequest, match=name):
        _check(sent, 400_000)


def test_long_texts_are_no_names() -> None:
    sent = {"messages": [{"role": "user", "content": "a" * 1_000_000}], "name": "a" * 10_000}
    assert _check(sent, 1_000_000) is sent


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
    site = make_site(never, never, lambda host: Facts(f"http://{host}"), lambda: 10)  # type: ignore[arg-type]
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
    many = sent(**{f"f{number}": b"x" for number in range(body.MAX_PARTS + 1)})
    assert (await client.post("/file", data=many, headers=KEY)).status == 400
    monkeypatch.setattr(body, "MAX_FORM_BYTES", 1000)
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
    most = await client.post("/file", data=part * body.MAX_PARTS + b"--x--\r\n", headers=headers)
    assert (most.status, await most.json()) == (200, {"a": ""})
    more = part * (body.MAX_PARTS + 1) + b"--x--\r\n"
    assert (await client.post("/file", data=more, headers=headers)).status == 400


@pytest.fixture
async def packed() -> AsyncIterator[Callable[[bytes, str], Awaitable[tuple[int, Any]]]]:
    """Sends packed bytes to a real listener, which answers what it read and how large it was."""

    async def show(request: web.Request) -> web.Response:
        if request.path == "/raw":
            return web.Response(body=await request.read())
        try:
            read = await body.read_json(request)
        except AppError as error:
            return web.json_response(error.code, status=error.status)
        return web.json_response([len(read), request[body.SIZE]])

    app = web.Application(client_max_size=MOST_BYTES)
    app.router.add_post("/{path}", show)
    listener = Listener(app)
    listening = await listener.open(0)

    async def send(data: bytes, packing: str) -> tuple[int, Any]:
        headers = {"Content-Encoding": packing, "Content-Type": "application/json"}
        address = f"http://127.0.0.1:{listening.port}"
        async with ClientSession() as session:
            raw = await session.post(f"{address}/raw", data=data, headers=headers)
            assert await raw.read() == data
            reply = await session.post(f"{address}/json", data=data, headers=headers)
            return reply.status, await reply.json()

    yield send
    await listener.close()


async def test_a_packed_body_is_read_and_its_whole_size_known(packed: Any) -> None:
    text = json.dumps(["a"] * 100).encode()
    bare = zlib.compressobj(wbits=-15)
    for data, packing in (
        (gzip.compress(text), "gzip"),
        (gzip.compress(text), "X-GZIP"),
        (zlib.compress(text), "deflate"),
        (bare.compress(text) + bare.flush(), "deflate"),
        (text, "identity"),
    ):
        assert await packed(data, packing) == (200, [100, len(text)])


async def test_a_packed_body_that_is_too_large_broken_or_of_an_unknown_kind_is_refused(
    packed: Any,
) -> None:
    whole = gzip.compress(b"[]")
    for data, packing, refused in (
        (gzip.compress(b" " * 100 * MOST_BYTES), "gzip", (413, "request_too_large")),
        (whole[:-3], "gzip", (400, "invalid_request")),
        (whole + whole, "gzip", (400, "invalid_request")),
        (b"[]", "gzip", (400, "invalid_request")),
        (b"[]", "br", (415, "unsupported_media_type")),
        (whole, "gzip, gzip", (415, "unsupported_media_type")),
    ):
        assert await packed(data, packing) == refused
