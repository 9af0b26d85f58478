"""Engines elsewhere in a real core: added, listed, asked, removed; where prompts go is said."""

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.engine.base import EngineOptions
from server.errors import BadRequest, EgressRefused, ModelLoadFailed
from server.events import Failed, Finished, TextDelta
from server.face.core import About, find_away, is_here
from server.settings import EngineElsewhere, NetworkSettings, Settings
from server.system.paths import find
from tests.kit.engines import ScriptedEngine, says
from tests.kit.small_engine import SmallEngine, started
from tests.kit.until import until

KEY = "sk-far-away-123456"


def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
    return ScriptedEngine(*[says("from here")] * 5)


@pytest.fixture
def far() -> Iterator[SmallEngine]:
    with started("far") as server:
        yield server


@pytest.fixture
async def core() -> AsyncIterator[Core]:
    core = Core(find(), make)
    await core.open()
    yield core
    await core.close()


def engine(*servers: SmallEngine, name: str = "large") -> EngineElsewhere:
    return EngineElsewhere(name=name, urls=tuple(server.address for server in servers))


async def answer(core: Core, model: str | None = None) -> str:
    request = ChatRequest((Message("user", "hi"),), model=model)
    events = [event async for event in core.answer_chat(request, About("test"))]
    if isinstance(events[-1], Failed):
        raise events[-1].error
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_one_that_is_added_is_listed_asked_and_kept(core: Core, far: SmallEngine) -> None:
    await core.engines.add(engine(far), KEY)
    await until(lambda: core.engines.states.get()[0].phase == "ready")
    card = next(card for card in core.models.cards.get() if card.name == "large")
    assert (card.owned, card.hosts) == ("elsewhere", (far.address.removeprefix("http://"),))
    assert card.trained_context_tokens == 4096
    assert await answer(core, "large") == "far " * 5
    assert await answer(core) == "from here"
    uses = [use.reason for use in core.egress.uses.get()]
    assert set(uses) == {"the engine large"}
    again = Core(find(), make)
    assert again.settings.get().engines.elsewhere == (engine(far),)
    assert KEY not in find().settings.read_text("utf-8")
    assert await again.keychain.get("engine-large") == KEY


async def test_loaded_it_answers_by_default_and_says_where(core: Core, far: SmallEngine) -> None:
    await core.engines.add(engine(far), "")
    await core.load_model("large")
    status = core.model.get()
    assert (status.phase, status.name, status.context_tokens) == ("ready", "large", 4096)
    assert status.hosts == (far.address.removeprefix("http://"),)
    assert await answer(core) == "far " * 5


async def test_one_that_is_removed_is_not_reached_any_more(core: Core, far: SmallEngine) -> None:
    await core.engines.add(engine(far), KEY)
    await core.load_model("large")
    await core.engines.remove("large")
    assert core.engines.states.get() == ()
    assert await answer(core) == "from here"
    assert await core.keychain.get("engine-large") is None
    with pytest.raises(EgressRefused, match="is not allowed for: the engine large"):
        async with core.egress.request("GET", far.address, "the engine large"):
            pass
    with pytest.raises(BadRequest, match="no engine 'large'"):
        await core.engines.remove("large")


async def test_a_name_of_a_model_here_is_not_taken_over(core: Core, far: SmallEngine) -> None:
    here = core.models.cards.get()[0].name
    with pytest.raises(BadRequest, match="on this machine is called"):
        await core.engines.add(engine(far, name=here), "")
    await core.use_engines([f"{here}={far.address}"])
    assert await answer(core, here) == "from here"
    assert await answer(core) == "far " * 5


async def test_a_test_opens_the_door_only_for_itself(core: Core, far: SmallEngine) -> None:
    found = await core.engines.test(engine(far), "")
    assert (found.phase, found.model, found.context_tokens) == ("ready", "small", 4096)
    far.process.kill()
    far.process.wait()
    with pytest.raises(ModelLoadFailed, match="cannot be reached"):
        await core.engines.test(engine(far), "")
    with pytest.raises(EgressRefused):
        async with core.egress.request("GET", far.address, "testing a remote engine"):
            pass
    assert core.settings.get().engines.elsewhere == ()


async def test_one_that_cannot_be_reached_is_listed_with_its_reason(
    core: Core, far: SmallEngine
) -> None:
    far.process.kill()
    far.process.wait()
    await core.engines.add(engine(far), "")
    await until(lambda: core.engines.states.get()[0].phase == "failed")
    assert "cannot be reached" in core.engines.states.get()[0].reason
    assert core.engines.states.get()[0].details
    with pytest.raises(ModelLoadFailed, match="cannot be reached"):
        await answer(core, "large")
    assert await answer(core) == "from here"


async def test_what_is_given_is_called_after_its_model_and_not_saved(
    core: Core, far: SmallEngine
) -> None:
    await core.use_engines([far.address])
    assert core.engines.states.get()[0].is_given
    assert await answer(core) == "far " * 5
    assert core.model.get().name == "small"
    assert core.settings.get().engines.elsewhere == ()
    with pytest.raises(BadRequest, match="is not understood"):
        await core.use_engines(["ftp://nowhere"])


async def test_a_change_of_addresses_is_followed(core: Core, far: SmallEngine) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(started("other"))
        await core.engines.add(engine(far), "")
        assert await answer(core, "large") == "far " * 5
        await core.engines.add(engine(other), "")
        assert await answer(core, "large") == "other " * 5


async def test_one_on_this_machine_is_not_sent_through_a_proxy(
    core: Core, far: SmallEngine
) -> None:
    await core.change_setting("network.proxy", "http://127.0.0.1:9")
    await core.engines.add(engine(far), "")
    assert await answer(core, "large") == "far " * 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpu:8000", ("gpu:8000", ("http://gpu:8000/v1",), "")),
        ("a=https://x/v1,https://y/v1#org/m", ("a", ("https://x/v1", "https://y/v1"), "org/m")),
        ("http://x:1/openai/v1/", ("x:1", ("http://x:1/openai/v1",), "")),
        ("http://x#m", ("m", ("http://x/v1",), "m")),
    ],
)
def test_an_engine_is_written_in_one_word(
    text: str, expected: tuple[str, tuple[str, ...], str]
) -> None:
    made = EngineElsewhere.of(text)
    assert (made.name, made.urls, made.model) == expected
    assert EngineElsewhere.of(str(made)) == made


@pytest.mark.parametrize(
    "url", ["", "ftp://x", "http://", "http://me:secret@x", "http://x:0", "a b"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="engine is written as"):
        EngineElsewhere(name="x", urls=(url,))


def test_hosts_that_are_this_machine_are_known() -> None:
    here = ("localhost:1", "127.0.0.1", "127.9.9.9:80", "[::1]:8080", "[::1]", "::1")
    assert all(map(is_here, here))
    away = ("gpu-box:8000", "10.0.0.1:80", "localhost.example:1", "[fe80::1]:80", "")
    assert find_away((*here, *away)) == away


def test_settings_with_engines_survive_a_change_of_another() -> None:
    settings = Settings().changed("engines.elsewhere", [{"name": "x", "urls": ["gpu:1"]}])
    later = settings.changed("network.offline", value=True)
    assert later.engines.elsewhere[0].urls == ("http://gpu:1/v1",)
    assert isinstance(later.network, NetworkSettings)


async def test_a_variable_with_a_key_is_not_shared_by_two_engines(
    core: Core, far: SmallEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = engine(far, name="a-b"), engine(far, name="A.b")
    monkeypatch.setenv("MOAT_SECRET_ENGINE_A_B", KEY)
    await core.engines.add(first, "")
    assert (await core.engines.test(first, "")).phase == "ready"
    shared = "MOAT_SECRET_ENGINE_A_B would be the key of 'a-b' and of 'A.b'"
    with pytest.raises(BadRequest, match=shared):
        await core.engines.add(second, "")
    with pytest.raises(BadRequest, match=shared):
        await core.use_engines([f"A.b={far.address}"])
    assert [state.engine.name for state in core.engines.states.get()] == ["a-b"]
    monkeypatch.delenv("MOAT_SECRET_ENGINE_A_B")
    await core.engines.add(second, "")
    assert await answer(core, "A.b") == "far " * 5
    monkeypatch.setenv("MOAT_SECRET_ENGINE_A_B", KEY)
    with pytest.raises(ModelLoadFailed, match="would be the key of"):
        await core.engines.reach(first).load()
