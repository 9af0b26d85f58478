"""Whose announcement of a new version is believed, and when it is asked for."""

import base64
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from server.core.updates import PREFIX, UpdateFailed, Updates, read
from server.egress import Egress
from server.errors import EgressRefused
from server.settings import NetworkSettings, UpdateSettings
from server.web.certificates import Certificates, Pair

SECRET = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = base64.b64encode(SECRET.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))


def announced(
    version: str = "9.1.0", prefix: bytes = PREFIX, by: Ed25519PrivateKey = SECRET
) -> bytes:
    text = json.dumps({"version": version, "page": "https://moat.example/9", "tomorrow": 1})
    mark = base64.b64encode(by.sign(prefix + text.encode())).decode()
    return json.dumps({"announcement": text, "signature": mark}).encode()


def test_a_signed_announcement_is_believed() -> None:
    assert read(announced(), KEY).version == "9.1.0"


@pytest.mark.parametrize(
    "body",
    [
        announced(by=OTHER),
        announced(prefix=b"something else\n"),
        announced().replace(b"9.1.0", b"9.2.0"),
        announced("latest"),
        b"",
        b"[]",
        b'{"announcement": "{}", "signature": "?"}',
        b'{"announcement": "{}", "signature": ""}',
    ],
)
def test_anything_else_is_not(body: bytes) -> None:
    with pytest.raises(UpdateFailed):
        read(body, KEY)


def test_a_key_that_is_none_believes_nobody() -> None:
    with pytest.raises(UpdateFailed):
        read(announced(), "AAAA")


async def test_nothing_is_asked_until_the_user_turns_it_on(tmp_path: Path) -> None:
    door = Egress(NetworkSettings)
    chosen = UpdateSettings(address="https://127.0.0.1:9/a", key=KEY)
    with pytest.raises(UpdateFailed, match="turned off"):
        await Updates(door, lambda: chosen, tmp_path).check()
    assert door.uses.get() == ()


async def test_offline_holds_for_it_too(tmp_path: Path) -> None:
    door = Egress(lambda: NetworkSettings(offline=True))
    chosen = UpdateSettings(look=True, address="https://127.0.0.1:9/a", key=KEY)
    with pytest.raises(EgressRefused):
        await Updates(door, lambda: chosen, tmp_path).check()


@pytest.mark.parametrize("address", ["", "http://127.0.0.1/a"])
async def test_it_asks_only_an_encrypted_address(address: str, tmp_path: Path) -> None:
    chosen = UpdateSettings(look=True, address=address, key=KEY)
    with pytest.raises(UpdateFailed, match="https"):
        await Updates(Egress(NetworkSettings), lambda: chosen, tmp_path).check()


@pytest.mark.parametrize("address", ["https://[", "https://a:port/"])
async def test_an_address_that_is_none_ends_one_look_not_all_of_them(
    address: str, tmp_path: Path
) -> None:
    chosen = UpdateSettings(look=True, address=address, key=KEY)
    with pytest.raises(UpdateFailed, match="could not be loaded"):
        await Updates(Egress(NetworkSettings), lambda: chosen, tmp_path).check()


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Certificates(tmp_path).ready()


@pytest.fixture
async def address(pair: Pair) -> AsyncIterator[str]:
    """Where versions are announced: /new, /old and /forged."""
    bodies = {"new": announced(), "old": announced("0.0.1"), "forged": announced(by=OTHER)}

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=bodies[request.match_info["what"]])

    app = web.Application()
    app.router.add_get("/{what}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.chain, pair.key)
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    yield f"https://localhost:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.fixture
async def door(pair: Pair) -> AsyncIterator[Egress]:
    door = Egress(lambda: NetworkSettings(extra_ca=str(pair.authority)))
    yield door
    await door.close()


async def test_a_new_version_is_told_and_nothing_else_is_fetched(
    address: str, door: Egress, tmp_path: Path
) -> None:
    chosen = UpdateSettings(look=True, address=f"{address}/new", key=KEY)
    updates = Updates(door, lambda: chosen, tmp_path)
    await updates.check()
    assert updates.found.get().version == "9.1.0"
    assert [use.reason for use in door.uses.get()] == ["check for updates"]


async def test_an_older_version_is_no_news(address: str, door: Egress, tmp_path: Path) -> None:
    chosen = UpdateSettings(look=True, address=f"{address}/old", key=KEY)
    updates = Updates(door, lambda: chosen, tmp_path)
    await updates.check()
    assert updates.found.get().version == ""
    assert updates.found.get().checked_at > 0


async def test_a_forged_one_is_refused_on_the_wire(
    address: str, door: Egress, tmp_path: Path
) -> None:
    chosen = UpdateSettings(look=True, address=f"{address}/forged", key=KEY)
    updates = Updates(door, lambda: chosen, tmp_path)
    with pytest.raises(UpdateFailed, match="signature"):
        await updates.check()
    assert updates.found.get().checked_at == 0
