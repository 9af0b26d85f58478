"""An MCP server that wants a sign-in: by the browser, and never without the person."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from mcp.shared.auth import OAuthToken

from server.egress import Egress
from server.errors import FlowFailed
from server.plugins.manifest import McpServer
from server.plugins.mcp.client import McpClient
from server.plugins.mcp.servers import Hear, Remote
from server.plugins.mcp.sign_in import McpSignIn, has_own_way
from server.plugins.secrets import Sealed
from server.plugins.sign_in import SignInFailed
from server.settings import NetworkSettings
from server.system.keychain import Keychain
from server.system.logs import HIDDEN, Redactor
from tests.kit.sdk_oauth import Provider, protected

REASON = "plugin p"


class Place:
    """A machine with a keyring, whose Moat may be started several times."""

    def __init__(self, folder: Path) -> None:
        self._keychain = Keychain(folder / "secrets.json")
        self.door = Egress(NetworkSettings)

    def start(self, url: str) -> tuple[McpSignIn, McpClient]:
        self.door.forget(REASON)
        self.door.allow(url, REASON)
        sealed = Sealed("p", self._keychain, Redactor())
        server = McpServer("notes", url=url)
        sign_in = McpSignIn(server, (self.door, REASON), sealed, lambda: None)

        async def make(_hear: Hear) -> Remote:
            return Remote(url, {}, self.door, REASON, sign_in.library_auth())

        return sign_in, McpClient("notes", make, sealed.clean_all)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    made = Place(tmp_path)
    yield made
    await made.door.close()


async def visit(url: str) -> str:
    """The person's browser: it follows the provider back to us."""
    async with aiohttp.ClientSession() as browser, browser.get(url) as page:
        return await page.text()


async def settle(sign_in: McpSignIn) -> None:
    async with asyncio.timeout(60):
        while sign_in.is_open:
            await asyncio.sleep(0.01)


async def test_a_person_signs_in_once_and_tokens_are_renewed(place: Place) -> None:
    provider = Provider()
    async with asyncio.timeout(120), protected(provider) as url:
        sign_in, client = place.start(url)
        with pytest.raises(FlowFailed, match="notes wants you to sign in"):
            await client.tools()
        assert (sign_in.state, provider.clients) == ("needed", {})
        assert "Signed in" in await visit(await sign_in.begin())
        await settle(sign_in)
        assert (sign_in.state, sign_in.problem, len(provider.clients)) == ("done", "", 1)
        answer = await client.call("add", {"a": 1, "b": 2}, 60)
        assert answer["structuredContent"] == {"result": 3}
        (token,) = provider.tokens
        assert sign_in.sealed.clean(f"with {token}") == f"with {HIDDEN}"
        await client.close()
        await age(sign_in)
        sign_in, client = place.start(url)
        assert "add" in await client.tools()
        assert (provider.renewed, len(provider.clients)) == (1, 1)
        await client.close()
        await sign_in.forget()
        assert (sign_in.state, await sign_in.is_done()) == ("", False)


async def age(sign_in: McpSignIn) -> None:
    """Makes the token one that ended long ago."""
    entry = json.loads(await sign_in.sealed.get(sign_in.kept[0]))
    await sign_in.sealed.keep(sign_in.kept[0], json.dumps({**entry, "ends": 1.0}))


async def test_a_token_that_is_refused_needs_another_sign_in(place: Place) -> None:
    provider = Provider()
    async with asyncio.timeout(120), protected(provider) as url:
        sign_in, client = place.start(url)
        await visit(await sign_in.begin())
        await settle(sign_in)
        await client.tools()
        provider.tokens.clear()
        with pytest.raises(FlowFailed, match="wants you to sign in"):
            await client.call("add", {"a": 1, "b": 2}, 60)
        assert sign_in.state == "needed"
        await client.close()


async def test_a_sign_in_that_is_given_up_leaves_nothing(place: Place) -> None:
    async with asyncio.timeout(120), protected(Provider()) as url:
        sign_in, _ = place.start(url)
        address = await sign_in.begin()
        assert sign_in.state == "open"
        await sign_in.close()
        assert sign_in.state == ""
        with pytest.raises(aiohttp.ClientError):
            await visit(address)


@pytest.mark.parametrize(
    "address",
    [
        "http://provider.example/token",
        "file:///etc/passwd",
        "http://127.0.0.1:9/token",
        "https://127.0.0.2/token",
        "https://192.168.1.1/token",
        "https://169.254.169.254/latest",
        "https://[::1]/token",
        "https://[fd00::1]/token",
        "https://[::ffff:10.0.0.1]/token",
        "https://2130706433/token",
        "https://router/token",
        "https://printer.local/token",
        "https://localhost./token",
    ],
)
async def test_a_server_elsewhere_leads_the_sign_in_to_no_unsafe_place(
    place: Place, address: str
) -> None:
    sign_in, _ = place.start("https://notes.example/mcp")
    with pytest.raises(SignInFailed, match="no safe address"):
        sign_in.allow(address)


async def test_a_server_that_cannot_be_reached_is_a_reason(place: Place) -> None:
    sign_in, _ = place.start("http://127.0.0.1:9/mcp")
    with pytest.raises(SignInFailed, match="could not be reached"):
        await sign_in.begin()
    assert (sign_in.state, sign_in.is_open) == ("", False)


def test_headers_that_sign_in_need_no_other_way() -> None:
    server = McpServer("notes", url="https://notes.example/mcp")
    assert not has_own_way(server)
    assert has_own_way(replace(server, headers={"Authorization": "Bearer ${secret:key}"}))


async def test_a_server_of_the_own_network_may_sign_in_beside_it(place: Place) -> None:
    sign_in, _ = place.start("https://192.168.1.2/mcp")
    sign_in.allow("https://192.168.1.1/token")
    with pytest.raises(SignInFailed, match="no safe address"):
        sign_in.allow("https://127.0.0.1/token")


async def test_a_token_that_never_comes_can_be_given_up(place: Place) -> None:
    reached, released = asyncio.Event(), asyncio.Event()

    class Hanging(Provider):
        async def exchange_authorization_code(self, *given: Any) -> OAuthToken:
            reached.set()
            await released.wait()
            return await super().exchange_authorization_code(*given)

    async with asyncio.timeout(120), protected(Hanging()) as url:
        sign_in, _ = place.start(url)
        await visit(await sign_in.begin())
        await reached.wait()
        assert sign_in.state == "open"
        await sign_in.close()
        released.set()
        assert (sign_in.state, await sign_in.is_done()) == ("", False)
