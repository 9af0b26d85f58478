"""Settings of a model alone: how it is loaded, what its requests get, where that is kept."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from server.chat import ChatRequest, Message
from server.core.core import Core
from server.errors import AppError, BadRequest
from server.settings import OwnSettings, Settings
from server.system.paths import find
from tests.kit.held_workers import Worker, Workers, gone, opened

ASK = {"model": "second", "messages": [{"role": "user", "content": "hello"}]}


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
async def core(workers: Workers, tmp_path: Path) -> AsyncIterator[Core]:
    async with opened(workers, tmp_path) as core:
        await core.change_settings({"model.load_at_start": False, "model.context_tokens": 1024})
        await core.start_on(0)
        yield core


async def ask(core: Core, workers: Workers, path: str, body: dict[str, object]) -> ChatRequest:
    """The request that the model got."""
    await core._engine("second")
    worker = workers.made[-1]
    worker.may_end.set()
    address = core.server.get().address
    async with ClientSession() as session, session.post(f"{address}{path}", json=body) as reply:
        assert reply.status == 200, await reply.text()
    return worker.requests[-1]


async def test_a_model_is_loaded_with_its_own_context_and_layers(
    core: Core, workers: Workers
) -> None:
    await core.models.change_own_setting("second", "context_tokens", 2048)
    await core.models.change_own_setting("second", "gpu_layers", 0)
    for name in ("first", "second"):
        await core._engine(name)
    loaded = {made.name: made.options.context_tokens for made in workers.made}
    assert loaded == {"first": 1024, "second": 2048}
    layers = [core._look_up(name).options.gpu_layers for name in ("first", "second")]
    assert layers == [999, 0]


async def test_the_default_model_is_loaded_anew_and_others_at_their_next_request(
    core: Core, workers: Workers
) -> None:
    await core.load_model("first")
    await core._engine("second")
    first, second = workers.made
    await core.models.change_own_setting("first", "context_tokens", 512)
    await gone(first)
    assert core.model.get().phase == "ready"
    assert [made.options.context_tokens for made in workers.made] == [1024, 1024, 512]
    await core.models.change_own_setting("second", "context_tokens", 256)
    await gone(second)
    assert len(workers.made) == 3
    await core._engine("second")
    assert workers.made[-1].options.context_tokens == 256
    await core.models.change_own_setting("second", "temperature", 0.1)
    assert not workers.made[-1].closed.is_set()


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/chat"])
async def test_requests_get_what_they_leave_open(core: Core, workers: Workers, path: str) -> None:
    for field, value in {
        "temperature": 0.25, "top_k": 7, "system_prompt": "Be brief.", "thinking": "off"
    }.items():  # fmt: skip
        await core.models.change_own_setting("second", field, value)
    got = await ask(core, workers, path, ASK)
    assert (got.sampling.temperature, got.sampling.top_k, got.sampling.top_p) == (0.25, 7, 0.95)
    assert got.messages[0] == Message("system", "Be brief.")
    assert dict(got.template_options)["enable_thinking"] is False


async def test_what_a_request_says_goes_before_it_also_where_that_is_the_default(
    core: Core, workers: Workers
) -> None:
    await core.models.change_own_setting("second", "temperature", 0.25)
    await core.models.change_own_setting("second", "system_prompt", "Be brief.")
    await core.models.change_own_setting("second", "thinking", "off")
    own = [{"role": "system", "content": "Be long."}, {"role": "user", "content": "hello"}]
    body = {**ASK, "messages": own, "temperature": 0.8, "reasoning_effort": "high"}
    got = await ask(core, workers, "/v1/chat/completions", body)
    assert got.sampling.temperature == 0.8
    assert [message.content for message in got.messages] == ["Be long.", "hello"]
    assert dict(got.template_options)["enable_thinking"] is True


async def test_a_second_name_of_the_model_goes_before_it(core: Core, workers: Workers) -> None:
    await core.models.change_own_setting("second", "temperature", 0.25)
    await core.models.change_own_setting("second", "top_k", 7)
    address = core.server.get().address
    made = {"model": "calm", "from": "second", "parameters": {"temperature": 0.5}}
    async with ClientSession() as session, session.post(f"{address}/api/create", json=made) as told:
        assert told.status == 200, await told.text()
    got = await ask(core, workers, "/v1/chat/completions", {**ASK, "model": "calm"})
    assert (got.sampling.temperature, got.sampling.top_k) == (0.5, 7)


async def test_a_model_that_must_not_think_does_not_for_dashboards_either(
    core: Core, workers: Workers
) -> None:
    await core.models.change_own_setting("second", "thinking", "off")
    engine = await core._engine("second")
    worker: Worker = workers.made[-1]
    worker.may_end.set()
    assert [piece async for piece in engine.generate(ChatRequest(prompt="go on"))]
    assert worker.requests[-1].template_options == (("enable_thinking", False),)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("second", "temperature", 3),
        ("second", "temperature", "warm"),
        ("second", "context_tokens", -1),
        ("second", "thinking", "maybe"),
        ("second", "name", "first"),
        ("second", "slots", 2),
        ("nowhere", "temperature", 0.5),
    ],
)
async def test_what_cannot_be_is_refused_and_changes_nothing(
    core: Core, name: str, field: str, value: object
) -> None:
    with pytest.raises(AppError):
        await core.models.change_own_setting(name, field, value)
    assert core.settings.get().model.own == ()


async def test_they_survive_a_restart_and_end_with_the_model(
    core: Core, tmp_path: Path, workers: Workers
) -> None:
    path = await core.models.import_file(str(tmp_path / "third.gguf"))
    await core.models.change_own_setting(path, "min_p", 0.2)
    await core.models.change_own_setting("second", "top_p", "0.5")
    again = Core(find(), workers)
    assert {own.name: own.values for own in again.settings.get().model.own} == {
        path: {"min_p": 0.2},
        "second": {"top_p": 0.5},
    }
    await core.models.change_own_setting("second", "top_p", None)
    await core.models.delete(path)
    assert core.settings.get().model.own == ()


def test_an_entry_can_be_written_as_a_text_and_comes_back_whole() -> None:
    own = OwnSettings(name="Qwen3 8B", system_prompt="Two\nlines {so}", temperature=0.5)
    settings = Settings().changed("model.own", (str(own), "other"))
    assert settings.model.own == (own, OwnSettings(name="other"))
    for wrong in ("name {broken", 'name {"temperature": 9}'):
        with pytest.raises(ValueError, match="validation error"):
            Settings().changed("model.own", (wrong,))
    with pytest.raises(ValueError, match="one entry"):
        Settings().changed("model.own", ("same", "same"))


async def test_a_variable_that_decides_them_is_named(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOAT_MODEL__OWN", '[{"name": "first", "temperature": 0}]')
    async with opened(workers, tmp_path) as core:
        assert core.settings.get().model.own_of("first").temperature == 0
        with pytest.raises(BadRequest, match="MOAT_MODEL__OWN decides"):
            await core.models.change_own_setting("first", "temperature", 1)
