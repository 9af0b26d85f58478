"""Settings that are secrets do not stay settings."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from server import paths
from server.core import Core
from server.errors import BadRequest

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
