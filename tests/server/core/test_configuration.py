"""Settings that are secrets do not stay settings."""

import asyncio
import json
import re
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
    said = "The setting network.proxy has an invalid value: A proxy is written as http://host:port."
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("MOAT_SERVER__LISTEN", "network", "network"),
        ("MOAT_SERVER__PORT", "8123", 8123),
        ("MOAT_SERVER__REQUIRE_KEY", "true", True),
        ("MOAT_SERVER__ORIGINS", "https://a.example, https://b.example", None),
        ("MOAT_SERVER__ORIGINS", '["https://a.example", "https://b.example"]', None),
        ("MOAT_MODEL__GPU_SPLIT", "3,1", (3.0, 1.0)),
        ("MOAT_SERVER__HOST_NAMES", "", ()),
    ],
)
def test_a_variable_stands_before_what_is_saved(
    variable: str, text: str, expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    group, name = variable.removeprefix("MOAT_").lower().split("__")
    found = getattr(getattr(Core(paths.find()).settings.get(), group), name)
    assert found == (("https://a.example", "https://b.example") if expected is None else expected)


def test_engines_in_a_variable_stand_apart_by_spaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOAT_ENGINES__ELSEWHERE", "a=http://one:1,http://two:2 b=three:3")
    engines = Core(paths.find()).settings.get().engines.elsewhere
    assert [(engine.name, len(engine.urls)) for engine in engines] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    ("variable", "text", "words"),
    [
        (
            "MOAT_SERVER__PORT",
            "high",
            "MOAT_SERVER__PORT has an invalid value: Input should be a valid",
        ),
        ("MOAT_SERVER__PORT", "", "MOAT_SERVER__PORT has an invalid value"),
        ("MOAT_SERVER__LISTEN", "moon", "'loopback' or 'network'"),
        ("MOAT_SERVER__PROT", "1", "MOAT_SERVER__PROT: there is no setting 'prot' in server"),
        ("MOAT_SEVRER__PORT", "1", "no group of settings 'sevrer'. There are: server, model"),
        ("MOAT_SERVER__ORIGINS", "[nothing", "MOAT_SERVER__ORIGINS begins like JSON"),
        ("MOAT_ENGINES__ELSEWHERE", "ftp://x", "MOAT_ENGINES__ELSEWHERE has an invalid value"),
    ],
)
def test_a_variable_that_cannot_be_is_named(
    variable: str, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(BadRequest, match=re.escape(words)):
        Core(paths.find())


async def test_what_a_variable_decides_is_neither_changed_nor_saved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MOAT_SERVER__MAX_REQUESTS", "7")
    monkeypatch.setenv("MOAT_SECRET_ENGINE_A__B", "no setting")
    async with opened() as core:
        with pytest.raises(BadRequest, match="MOAT_SERVER__MAX_REQUESTS decides"):
            await core.change_setting("server.max_requests", 9)
        await core.change_setting("server.max_body_mb", 9)
        assert core.settings.get().server.max_requests == 7
    saved = json.loads(paths.find().settings.read_text())["server"]
    assert (saved["max_requests"], saved["max_body_mb"]) == (512, 9)
