"""Settings that are secrets do not stay settings."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from server.core.core import Core
from server.errors import BadRequest
from server.system import paths
from server.tasks import spawn

PROXY = "http://user:pa%40ss-word@proxy.example:3128"


@asynccontextmanager
async def opened() -> AsyncIterator[Core]:
    core = Core(paths.find())
    await core.open()
    try:
        yield core
    finally:
        await core.close()


async def test_the_password_of_a_proxy_goes_to_the_keyring():
    async with opened() as core:
        await core.change_setting("network.proxy", PROXY)
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert await core._configuration.proxy_password() == "pa@ss-word"
        assert "ss-word" not in paths.find().settings.read_text()


async def test_one_written_by_hand_is_taken_out_of_the_file():
    places = paths.find()
    places.make()
    places.settings.write_text(json.dumps({"network": {"proxy": PROXY}}))
    async with opened() as core:
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert await core._configuration.proxy_password() == "pa@ss-word"
    assert "ss-word" not in places.settings.read_text()


async def test_what_cannot_be_is_refused_and_nothing_changes():
    async with opened() as core:
        for field, value in (("network.proxy", 5), ("server.port", "x"), ("server.no", 1)):
            with pytest.raises(BadRequest):
                await core.change_setting(field, value)
        assert core.settings.get().network.proxy == ""


async def test_a_change_made_while_the_keyring_is_asked_is_not_undone(
    monkeypatch: pytest.MonkeyPatch,
):
    async with opened() as core:
        asked, goes_on = asyncio.Event(), asyncio.Event()
        keep = core.keychain.set

        async def slowly(name: str, secret: str) -> None:
            asked.set()
            await goes_on.wait()
            await keep(name, secret)

        monkeypatch.setattr(core.keychain, "set", slowly)
        changing = spawn(core.change_setting("network.proxy", PROXY), "change")
        await asked.wait()
        await core.change_setting("server.max_requests", 7)
        goes_on.set()
        await changing
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert core.settings.get().server.max_requests == 7


async def test_a_password_before_a_proxy_without_a_scheme_goes_to_the_keyring_as_well():
    async with opened() as core:
        await core.change_setting("network.proxy", PROXY.removeprefix("http://"))
        assert core.settings.get().network.proxy == "http://user@proxy.example:3128"
        assert "ss-word" not in paths.find().settings.read_text()


async def test_a_proxy_that_cannot_be_is_refused_without_showing_its_password():
    async with opened() as core:
        with pytest.raises(BadRequest) as refused:
            await core.change_setting("network.proxy", "http://user:pa-word@proxy.example:99999")
    said = "The setting network.proxy cannot be that: A proxy is written as http://host:port."
    assert str(refused.value) == said
