import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from server.egress import Egress, _Resolver, is_private
from server.errors import EgressRefused
from server.settings import NetworkSettings
from server.web.certificates import Certificates
from tests.kit.fake_proxy import FakeProxy

Start = Callable[[web.Application], Awaitable[TestServer]]
REASON = "a test"


@asynccontextmanager
async def door(**network: object) -> AsyncIterator[Egress]:
    egress = Egress(lambda: NetworkSettings.model_validate(network))
    try:
        yield egress
    finally:
        await egress.close()


def app(handler: Callable[[web.Request], Awaitable[web.Response]]) -> web.Application:
    made = web.Application()
    made.router.add_get("/", handler)
    return made


async def echo(request: web.Request) -> web.Response:
    return web.json_response({key.lower(): value for key, value in request.headers.items()})


async def test_an_allowed_host_is_reached_and_recorded(aiohttp_server: Start):
    server = await aiohttp_server(app(echo))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON)
        async with egress.request("GET", str(server.make_url("/")), REASON) as response:
            assert response.status == 200
        (use,) = egress.uses.get()
        assert (use.host, use.reason, use.status) == (f"127.0.0.1:{server.port}", REASON, 200)


@pytest.mark.parametrize("reason", ["another reason"])
async def test_a_host_is_allowed_for_its_reason_only(aiohttp_server: Start, reason: str):
    server = await aiohttp_server(app(echo))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON)
        with pytest.raises(EgressRefused):
            async with egress.request("GET", str(server.make_url("/")), reason):
                pass
        assert egress.uses.get() == ()


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/", "http://127.0.0.1:1/"])
async def test_nothing_else_is_opened(url: str):
    async with door() as egress:
        with pytest.raises(EgressRefused):
            async with egress.request("GET", url, REASON):
                pass


async def test_offline_refuses_what_was_allowed():
    async with door(offline=True) as egress:
        egress.allow("http://127.0.0.1:9/", REASON)
        with pytest.raises(EgressRefused, match="Offline mode is on"):
            async with egress.request("GET", "http://127.0.0.1:9/", REASON):
                pass


async def test_a_redirect_to_an_unlisted_host_is_not_followed(aiohttp_server: Start):
    hits: list[str] = []

    async def elsewhere(request: web.Request) -> web.Response:
        hits.append(request.path)
        return web.Response()

    other = await aiohttp_server(app(elsewhere))

    async def move(_request: web.Request) -> web.Response:
        raise web.HTTPFound(str(other.make_url("/")))

    server = await aiohttp_server(app(move))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON)
        with pytest.raises(EgressRefused, match=r"127\.0\.0\.1 redirects to 127\.0\.0\.1:"):
            async with egress.request("GET", str(server.make_url("/")), REASON):
                pass
    assert hits == []


async def test_credentials_do_not_follow_a_redirect_to_another_host(aiohttp_server: Start):
    other = await aiohttp_server(app(echo))

    async def move(_request: web.Request) -> web.Response:
        raise web.HTTPFound(str(other.make_url("/")))

    server = await aiohttp_server(app(move))
    async with door() as egress:
        for one in (server, other):
            egress.allow(str(one.make_url("/")), REASON)
        headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Other": "kept"}
        url = str(server.make_url("/"))
        async with egress.request("GET", url, REASON, headers=headers) as response:
            received = await response.json()
    assert "authorization" not in received
    assert "cookie" not in received
    assert received["x-other"] == "kept"


async def test_an_endless_redirect_ends(aiohttp_server: Start):
    async def again(_request: web.Request) -> web.Response:
        raise web.HTTPFound("/")

    server = await aiohttp_server(app(again))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON)
        with pytest.raises(EgressRefused, match="without end"):
            async with egress.request("GET", str(server.make_url("/")), REASON):
                pass


async def test_a_host_may_send_us_on_to_its_storage_and_nobody_goes_there_directly(
    aiohttp_server: Start,
):
    other = await aiohttp_server(app(echo))

    async def move(_request: web.Request) -> web.Response:
        raise web.HTTPFound(f"http://localhost:{other.port}/")

    server = await aiohttp_server(app(move))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON, storage=("localhost",))
        headers = {"Authorization": "Bearer x"}
        url = str(server.make_url("/"))
        async with egress.request("GET", url, REASON, headers=headers) as response:
            assert "authorization" not in await response.json()
        with pytest.raises(EgressRefused):
            async with egress.request("GET", f"http://localhost:{other.port}/", REASON):
                pass


async def test_silence_ends_a_request(aiohttp_server: Start):
    never = asyncio.Event()

    async def wait(_request: web.Request) -> web.Response:
        await never.wait()
        return web.Response()

    server = await aiohttp_server(app(wait))
    async with door() as egress:
        egress.allow(str(server.make_url("/")), REASON)
        with pytest.raises(egress.failures):
            async with egress.request("GET", str(server.make_url("/")), REASON, stall_s=0.05):
                pass
        never.set()


async def test_a_proxy_is_told_the_password_of_its_user(aiohttp_server: Start):
    server = await aiohttp_server(app(echo))
    proxy = FakeProxy("user", "pa@ss")

    async def password() -> str | None:
        return "pa@ss"

    async with proxy.running():
        network = NetworkSettings(proxy=f"http://user@127.0.0.1:{proxy.port}")
        egress = Egress(lambda: network, password)
        egress.allow(str(server.make_url("/")), REASON)
        async with egress.request("GET", str(server.make_url("/")), REASON) as response:
            seen = await response.json()
        await egress.close()
    assert proxy.let_through == [str(server.make_url("/"))]
    assert "proxy-authorization" not in seen


async def test_a_proxy_without_its_scheme_is_used_all_the_same(aiohttp_server: Start):
    server = await aiohttp_server(app(echo))
    proxy = FakeProxy("user", "pass")
    async with proxy.running(), door(proxy=f"user:pass@127.0.0.1:{proxy.port}") as egress:
        egress.allow(str(server.make_url("/")), REASON)
        async with egress.request("GET", str(server.make_url("/")), REASON) as response:
            assert response.status == 200
    assert proxy.let_through == [str(server.make_url("/"))]


@pytest.mark.parametrize("proxy", ["proxy.corp:3128", "http://h:99999", "socks5://h:1", "http://"])
async def test_what_cannot_be_read_as_a_proxy_is_never_gone_past(aiohttp_server: Start, proxy: str):
    hits: list[str] = []

    async def count(request: web.Request) -> web.Response:
        hits.append(request.path)
        return web.Response()

    server = await aiohttp_server(app(count))
    unchecked = NetworkSettings.model_construct(proxy=proxy)
    egress = Egress(lambda: unchecked)
    egress.allow(str(server.make_url("/")), REASON)
    with pytest.raises(EgressRefused, match="http://host:port"):
        async with egress.request("GET", str(server.make_url("/")), REASON):
            pass
    await egress.close()
    assert hits == []


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_an_authority_that_cannot_be_read_is_said(tmp_path: Path, content: str | None):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    async with door(extra_ca=str(path)) as egress:
        egress.allow("http://127.0.0.1:9/", REASON)
        with pytest.raises(EgressRefused, match=r"ca\.pem cannot be read: "):
            async with egress.request("GET", "http://127.0.0.1:9/", REASON):
                pass


async def test_an_authority_added_later_is_trusted_without_a_restart(tmp_path: Path):
    pair = Certificates(tmp_path).ready()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.chain, pair.key)
    server = TestServer(app(echo), scheme="https")
    await server.start_server(ssl=context)
    url = str(server.make_url("/"))
    network = NetworkSettings()
    egress = Egress(lambda: network)
    egress.allow(url, REASON)
    with pytest.raises(egress.failures):
        async with egress.request("GET", url, REASON):
            pass
    network = NetworkSettings(extra_ca=str(pair.authority))
    async with egress.request("GET", url, REASON) as response:
        assert response.status == 200
    await egress.close()
    await server.close()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.0", "::1",
        "fc00::1", "fe80::1%eth0", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "100.64.0.1", "224.0.0.1",
        "2002:7f00:1::", "not an address",
    ],
)  # fmt: skip
def test_addresses_of_ones_own_network_are_known(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_public_addresses_are_known(address: str) -> None:
    assert not is_private(address)


class Names:
    """Stands for the system's resolver: every name leads to one address."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[dict[str, Any]]:
        return [{"hostname": host, "host": self._address, "port": port, "family": family}]


async def resolved(name: str, address: str, **network: Any) -> list[str]:
    resolver = _Resolver(lambda: NetworkSettings(**network))
    resolver._system = Names(address)  # type: ignore[assignment]
    return [found["host"] for found in await resolver.resolve(name, 443)]


async def test_a_public_name_is_never_connected_to_at_a_private_address() -> None:
    for address in ("127.0.0.1", "10.0.0.7", "::1"):
        with pytest.raises(OSError, match="private address"):
            await resolved("api.example.com", address)
    assert await resolved("api.example.com", "93.184.216.34") == ["93.184.216.34"]


@pytest.mark.parametrize("name", ["localhost", "nas.local", "wiki", "git.corp.example.com"])
async def test_names_of_ones_own_network_may_lead_there(name: str) -> None:
    assert await resolved(name, "10.0.0.7", own_domains=("corp.example.com",)) == ["10.0.0.7"]


async def test_a_proxy_may_be_in_the_own_network() -> None:
    proxy = "http://proxy.example.com:3128"
    assert await resolved("proxy.example.com", "10.0.0.9", proxy=proxy) == ["10.0.0.9"]


async def test_a_tunnel_to_a_public_name_never_ends_at_a_private_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Programs of plugins connect through tunnels, whose content nobody sees."""
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readline())
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    monkeypatch.setattr("server.egress.aiohttp.ThreadedResolver", lambda: Names("127.0.0.1"))
    egress = Egress(lambda: NetworkSettings(own_domains=("corp.example.com",)))
    for name in ("api.example.com", "git.corp.example.com", "127.0.0.1"):
        egress.allow(f"https://{name}:{port}", "a test")
    with pytest.raises(EgressRefused, match="leads to a private address"):
        await egress.tunnel("api.example.com", port, "a test")
    for name in ("git.corp.example.com", "127.0.0.1"):
        _, writer = await egress.tunnel(name, port, "a test")
        writer.write(f"{name}\n".encode())
        await writer.drain()
        async with asyncio.timeout(60):
            while f"{name}\n".encode() not in heard:
                await asyncio.sleep(0.01)
        writer.close()
    assert len(heard) == 2
    server.close()
