"""Signing in with a provider on loopback, as a browser would come and go."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import aiohttp
import keyring
import pytest

from server.egress import Egress
from server.errors import EgressRefused
from server.plugins.manifest import ACCESS, EXPIRES, REFRESH
from server.plugins.manifest import Provider as Named
from server.plugins.secrets import Sealed
from server.plugins.sign_in import SignIn, SignInFailed
from server.settings import NetworkSettings
from server.system.keychain import Keychain
from server.system.logs import Redactor
from tests.kit.fake_oidc import Provider, provider
from tests.kit.memory_keyring import MemoryKeyring

REASON = "plugin p"


@pytest.fixture
async def signing() -> AsyncIterator[Provider]:
    async with provider() as made:
        yield made


@pytest.fixture
async def sign_in(signing: Provider, tmp_path: Path) -> AsyncIterator[SignIn]:
    door = Egress(NetworkSettings)
    door.allow(signing.issuer, REASON)
    sealed = Sealed("p", Keychain(tmp_path / "secrets.json"), Redactor())
    made = SignIn(Named("moat", signing.issuer), (door, REASON), sealed, lambda: None)
    made.sealed = sealed  # type: ignore[attr-defined]
    yield made
    await made.close()
    await door.close()


async def visit(address: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as browser, browser.get(address) as page:
        return page.status, await page.text()


async def over(sign_in: SignIn) -> None:
    async with asyncio.timeout(30):
        while sign_in.is_open:
            await asyncio.sleep(0.01)


def sealed_of(sign_in: SignIn) -> Sealed:
    found = sign_in.sealed  # type: ignore[attr-defined]
    assert isinstance(found, Sealed)
    return found


async def test_a_browser_signs_in_and_the_tokens_are_kept(
    sign_in: SignIn, signing: Provider
) -> None:
    address = await sign_in.begin()
    assert sign_in.is_open
    query = parse_qs(urlsplit(address).query)
    assert query["redirect_uri"][0].startswith("http://127.0.0.1:")
    status, page = await visit(address)
    assert (status, "Signed in" in page) == (200, True)
    await over(sign_in)
    sealed = sealed_of(sign_in)
    assert await sealed.get(ACCESS) == signing.tokens[0]
    assert (await sealed.get(REFRESH)).startswith("refresh-")
    assert sign_in.problem == ""
    assert "client_secret" not in signing.exchanged[0]
    assert sealed.clean(f"it said {signing.tokens[0]}") == "it said •••"
    with pytest.raises(aiohttp.ClientConnectionError):
        await visit(query["redirect_uri"][0])
    await sign_in.forget()
    assert not await sign_in.is_done()


class FullKeyring(MemoryKeyring):
    """Takes a few words, no tokens."""

    def set_password(self, service: str, username: str, password: str) -> None:
        if "token" in username:
            raise ValueError("The stub received bad data.")
        super().set_password(service, username, password)


async def test_a_keyring_that_takes_no_tokens_is_the_reason_that_is_told(sign_in: SignIn) -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(FullKeyring())
    try:
        await visit(await sign_in.begin())
        await over(sign_in)
    finally:
        keyring.set_keyring(before)
    assert sign_in.problem.startswith("The system's keyring does not work just now. Unlock it")


async def test_a_stranger_at_the_port_changes_nothing(sign_in: SignIn) -> None:
    address = await sign_in.begin()
    back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
    state = parse_qs(urlsplit(address).query)["state"][0]
    for query in ("?code=x&state=wrong", "", "?code=x"):
        assert (await visit(back + query))[0] == 404
    assert (await visit(f"{back}?code=x&state={state}&iss=https://evil.example"))[0] == 400
    assert sign_in.is_open
    assert (await visit(f"{back}?error=access_denied&state={state}"))[0] == 200
    await over(sign_in)
    assert sign_in.problem == "The provider did not sign you in."
    assert not await sign_in.is_done()


async def test_a_code_of_somebody_else_is_refused(sign_in: SignIn) -> None:
    query = parse_qs(urlsplit(await sign_in.begin()).query)
    await visit(f"{query['redirect_uri'][0]}?code=stolen&state={query['state'][0]}")
    await over(sign_in)
    assert "status 400" in sign_in.problem
    assert not await sign_in.is_done()


async def test_a_token_is_renewed_before_it_ends(sign_in: SignIn, signing: Provider) -> None:
    signing.life_s = 30
    await visit(await sign_in.begin())
    await over(sign_in)
    signing.life_s = 3600
    await asyncio.gather(sign_in.renew(), sign_in.renew())
    assert [one["grant_type"] for one in signing.exchanged] == [
        "authorization_code",
        "refresh_token",
    ]
    assert await sealed_of(sign_in).get(ACCESS) == signing.tokens[1]


async def test_a_sign_in_that_cannot_be_renewed_must_be_done_again(
    sign_in: SignIn, signing: Provider
) -> None:
    await visit(await sign_in.begin())
    await over(sign_in)
    sealed = sealed_of(sign_in)
    await sealed.keep(EXPIRES, "0")
    signing.refuses = True
    with pytest.raises(SignInFailed, match="refused"):
        await sign_in.renew()
    assert not await sign_in.is_done()
    await sealed.keep(EXPIRES, "0")
    with pytest.raises(SignInFailed, match="expired"):
        await sign_in.renew()


async def test_nobody_comes_back(sign_in: SignIn, signing: Provider) -> None:
    sign_in._patience_s = 0.05
    await sign_in.begin()
    await over(sign_in)
    assert "Nobody signed in" in sign_in.problem
    assert sign_in.problem.endswith("within 0 s.")


async def test_only_the_named_provider_is_reached(
    sign_in: SignIn, signing: Provider, tmp_path: Path
) -> None:
    sign_in.provider = replace(sign_in.provider, issuer="https://elsewhere.example")
    with pytest.raises(EgressRefused):
        await sign_in.begin()
    sign_in.provider = replace(sign_in.provider, issuer=signing.issuer)
    signing.issuer = "https://another.example"
    with pytest.raises(SignInFailed, match="identity does not match"):
        await sign_in.begin()


async def test_a_reply_that_comes_in_pieces_is_read_whole(
    sign_in: SignIn, signing: Provider
) -> None:
    signing.in_halves = True
    await visit(await sign_in.begin())
    await over(sign_in)
    assert sign_in.problem == ""
    assert await sealed_of(sign_in).get(ACCESS) == signing.tokens[0]
