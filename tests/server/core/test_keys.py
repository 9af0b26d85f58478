"""Named keys in a real core over HTTP: the matrix of refusals, in each protocol's own words."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from multidict import CIMultiDict
from prometheus_client.parser import text_string_to_metric_families

from server.chat import ChatRequest
from server.core.core import Core
from server.core.keys import Keys, hash_of
from server.engine.base import EngineOptions
from server.errors import BadRequest, KeyRevoked
from server.events import Finished, Pieces, TextDelta, Usage
from server.face.core import KeyLimits
from server.settings import Settings
from server.system.paths import find
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.gguf_files import write_model
from tests.kit.until import until

HI = [{"role": "user", "content": "hi"}]
MODEL = "SmolLM2-135M-Instruct"


class Counted(ScriptedEngine):
    """Each answer reads 30 tokens and writes 12; one that is asked to wait has no end."""

    async def generate(self, request: ChatRequest) -> Pieces:
        yield TextDelta("yes")
        if request.messages and request.messages[-1].content == "wait":
            await asyncio.Event().wait()
        yield Finished("stop", Usage(30, 0, 12))


def make(_path: Path, _options: EngineOptions) -> ScriptedEngine:
    return Counted()


@dataclass
class Asker:
    core: Core
    session: ClientSession

    async def __call__(
        self, method: str, path: str, key: str = "", body: Any = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        if key:
            headers["Authorization"] = f"Bearer {key}"
        url = f"{self.core.server.get().address}{path}"
        reply = await self.session.request(method, url, json=body, headers=headers)
        text = await reply.text()
        told = json.loads(text) if text.startswith(("{", "[")) else text
        return reply.status, told, dict(reply.headers)

    async def chat(self, key: str, **more: Any) -> tuple[int, Any, dict[str, str]]:
        return await self("POST", "/v1/chat/completions", key, {"messages": HI, **more})


@pytest.fixture
async def ask() -> AsyncIterator[Asker]:
    places = find()
    places.make()
    settings = Settings().changed("server.require_key", value=True)
    places.settings.write_text(settings.model_dump_json())
    write_model(places.models / "second.gguf")
    core = Core(places, make)
    await core.open()
    await core.start_on(0)
    async with ClientSession() as session:
        yield Asker(core, session)
    await core.close()


WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "openai": ("/v1/chat/completions", {"messages": HI}),
    "responses": ("/v1/responses", {"input": "hi"}),
    "completions": ("/v1/completions", {"prompt": "hi"}),
    "embeddings": ("/v1/embeddings", {"input": "hi"}),
    "anthropic": ("/v1/messages", {"messages": HI, "max_tokens": 5}),
    "ollama": ("/api/chat", {"messages": HI}),
    "tokenize": ("/tokenize", {"content": "hi"}),
}
AGUI = {
    "threadId": "t",
    "runId": "r",
    "state": {},
    "messages": [{"id": "1", "role": "user", "content": "hi"}],
    "tools": [],
    "context": [],
    "forwardedProps": {},
}
AGENT = "/api/copilotkit/agent/default/run"
OPENBB = {"messages": [{"role": "human", "content": "hi"}]}


def sentence(told: Any) -> str:
    error = told.get("error", told)
    return error if isinstance(error, str) else error["message"]


@pytest.mark.parametrize("way", WAYS)
async def test_a_model_that_is_not_allowed_is_refused_in_each_protocol(
    ask: Asker, way: str
) -> None:
    key = await ask.core.add_key("anna", KeyLimits(models=("second",)))
    path, body = WAYS[way]
    status, told, _ = await ask("POST", path, key, {**body, "model": MODEL})
    assert status == 403, told
    assert sentence(told).endswith(f"may not use the model '{MODEL}'. It may use: second.")
    if way == "anthropic":
        assert told["error"]["type"] == "permission_error"


async def test_agents_and_dashboards_keep_to_the_key_as_well(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits(models=("second",)))
    status, told, _ = await ask("POST", AGENT, key, AGUI)
    assert (status, "may not use" in str(told)) == (403, True)
    spent = await ask.core.add_key("bob", KeyLimits(tokens_per_day=1))
    assert (await ask.chat(spent))[0] == 200
    # Workspace shows what a stream says, and hides an error behind words of its own.
    ways = ((AGENT, AGUI, 429), ("/v1/query", OPENBB, 200), ("/v1/agent/query", OPENBB, 200))
    for path, body, expected in ways:
        status, told, _ = await ask("POST", path, spent, body)
        assert (status, "tokens of today" in str(told)) == (expected, True), path


@pytest.mark.parametrize("way", WAYS)
async def test_without_a_key_of_ours_nobody_comes_in(ask: Asker, way: str) -> None:
    path, body = WAYS[way]
    for key in ("", "moat-made-up", "x" * 5000):
        status, told, headers = await ask("POST", path, key, body)
        assert (status, headers["WWW-Authenticate"]) == (401, "Bearer"), told
        assert "access key" in sentence(told)


async def test_a_revoked_key_fails_at_once_and_after_a_restart(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits())
    assert (await ask.chat(key))[0] == 200
    await ask.core.revoke_key("anna")
    status, told, _ = await ask.chat(key)
    assert (status, "was revoked" in sentence(told)) == (401, True)
    with pytest.raises(KeyRevoked):
        Keys(find().config).name_of(key)
    with pytest.raises(BadRequest, match="no key 'anna'"):
        await ask.core.revoke_key("anna")
    await ask.core.change_setting("server.require_key", value=False)
    assert (await ask.chat(key))[0] == 401
    assert (await ask.chat("whatever a client sends"))[0] == 200


async def test_the_one_access_key_goes_on_working_and_two_keys_must_agree(ask: Asker) -> None:
    access = await ask.core.access_key()
    assert (await ask.chat(access))[0] == 200
    assert (await ask("GET", "/metrics", access))[0] == 200
    anna = await ask.core.add_key("anna", KeyLimits())
    for first, second, expected in ((anna, anna, 200), (anna, access, 401), (anna, "x", 401)):
        path, body = WAYS["openai"]
        status, _, _ = await ask("POST", path, first, body, **{"X-API-Key": second})
        assert status == expected


async def test_tokens_of_a_day_are_counted_over_a_restart(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits(tokens_per_day=80))
    assert (await ask.chat(key))[0] == 200
    assert (await ask.chat(key))[0] == 200
    status, told, headers = await ask.chat(key)
    assert (status, told["error"]["code"]) == (429, "insufficient_quota")
    assert "has used its 80 tokens of today" in sentence(told)
    assert 0 < int(headers["Retry-After"]) <= 86401
    await ask.core._keys.close()
    clock = [0.0]
    again = Keys(find().config)
    assert again.spent("anna") == 84
    again._clock = lambda: clock[0]
    assert again.find_refusal("anna", (MODEL,)) is None  # another day


async def test_so_many_requests_at_a_time_and_no_more(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits(at_once=1))
    with ask.core._keys.count("anna"):
        status, told, headers = await ask.chat(key)
        assert (status, told["error"]["code"]) == (429, "rate_limit_exceeded")
        assert headers["Retry-After"] == "2"
    assert (await ask.chat(key))[0] == 200
    await until(lambda: not ask.core._keys._running["anna"])


async def test_whoever_leaves_gives_the_place_back(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits(at_once=1))
    waits = {"messages": [{"role": "user", "content": "wait"}]}
    for more in ({}, {"stream": True}):
        leaving = spawn(ask.chat(key, **waits, **more), "leave")
        await until(lambda: ask.core._keys._running["anna"] == 1)
        assert (await ask.chat(key))[0] == 429
        leaving.cancel()
        await until(lambda: not ask.core._keys._running["anna"])
    assert (await ask.chat(key))[0] == 200


async def test_a_key_that_is_revoked_ends_its_answers_under_way(ask: Asker) -> None:
    keys = [await ask.core.add_key(name, KeyLimits()) for name in ("anna", "bob")]
    waits = {"messages": [{"role": "user", "content": "wait"}], "stream": True}
    anna, bob = (spawn(ask.chat(key, **waits), "wait") for key in keys)
    await until(lambda: len(ask.core.requests.get()) == 2)
    await ask.core.revoke_key("anna")
    assert "This key was revoked." in (await anna)[1]
    assert not bob.done()
    bob.cancel()


BEARERS = {
    "Bearer {}": 200,
    "bearer {}": 200,
    "BEARER {}": 200,
    "Bearer   {}": 200,
    "bearer {}x": 401,
    "Bearer {} ": 200,
    "Bearer{}": 401,
    "Basic {}": 401,
    "Bearer": 401,
    "{}": 401,
    "Bearer {}x": 401,
    "Bearer {}, Bearer {}": 401,
    "Bearer \u00a0{}": 401,
    "Bearer ключ": 401,
}


async def test_the_forms_in_which_a_key_is_sent(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits())
    for form, expected in BEARERS.items():
        headers = {"Authorization": form.replace("{}", key)}
        assert (await ask("GET", "/v1/models", **headers))[0] == expected, form
    url = f"{ask.core.server.get().address}/v1/models"
    for second, expected in ((key, 200), ("x", 401), ("", 401)):
        both = CIMultiDict([("Authorization", f"Bearer {sent}") for sent in (key, second)])
        async with ask.session.get(url, headers=both) as reply:
            assert reply.status == expected, second


async def test_a_name_full_of_tricks_stays_one_label(ask: Asker) -> None:
    name = 'a"} 1\\ {x=\'"'
    key = await ask.core.add_key(name, KeyLimits())
    assert (await ask.chat(key))[0] == 200
    _, told, _ = await ask("GET", "/metrics", await ask.core.access_key())
    lines = text_string_to_metric_families(told)
    found = [sample for family in lines for sample in family.samples if sample.labels.get("key")]
    assert {sample.labels["key"] for sample in found} == {name}


async def test_a_key_sees_its_own_models_only_and_its_first_one_answers(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits(models=("second",)))
    _, told, _ = await ask("GET", "/v1/models", key)
    assert [model["id"] for model in told["data"]] == ["second"]
    assert (await ask("GET", f"/v1/models/{MODEL}", key))[0] == 403
    assert (await ask("GET", "/v1/models/none", key))[0] == 404
    status, told, _ = await ask.chat(key)
    assert (status, told["model"]) == (200, "second")
    with pytest.raises(BadRequest, match="no model 'none' here"):
        await ask.core.add_key("bob", KeyLimits(models=("none",)))


async def test_a_named_key_neither_manages_models_nor_reads_the_figures(ask: Asker) -> None:
    key = await ask.core.add_key("anna", KeyLimits())
    status, told, _ = await ask("DELETE", "/api/delete", key, {"model": "second"})
    assert (status, "may not change which models" in told["error"]) == (403, True)
    status, told, _ = await ask("GET", "/metrics", key)
    assert (status, sentence(told)) == (403, "The key 'anna' may not read the figures.")
    reader = await ask.core.add_key("prometheus", KeyLimits(figures=True))
    assert (await ask.chat(key))[0] == 200
    status, told, _ = await ask("GET", "/metrics", reader)
    assert f'moat_prompt_tokens_total{{key="anna",model="{MODEL}"}} 30.0' in told


async def test_people_with_keys_do_not_see_each_others_threads(ask: Asker) -> None:
    anna, bob = [await ask.core.add_key(name, KeyLimits()) for name in ("anna", "bob")]
    assert (await ask("POST", AGENT, anna, AGUI))[0] == 200
    path = "/api/copilotkit/threads?agentId=default"
    seen = [len((await ask("GET", path, key))[1]["threads"]) for key in (anna, bob)]
    assert seen == [1, 0]


async def test_keys_are_hashed_at_rest_and_in_no_log(
    ask: Asker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = await ask.core.add_key("anna", KeyLimits())
    await ask.chat(key)
    await ask.core.revoke_key("anna")
    await ask.chat(key)
    logging.getLogger("test").warning("sent: %s", key)
    held = [path.read_bytes() for path in find().config.parent.rglob("*") if path.is_file()]
    assert not any(key.encode() in text for text in held)
    assert any(hash_of(key).encode() in text for text in held)
    assert not any(key in line.text for line in await ask.core.recent_logs(1000))


@pytest.mark.parametrize(
    "name", ["", " ", "access-key", "x" * 61, "\u200b", "an\u200bna", "\ud800"]
)
def test_a_name_that_cannot_be_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="needs a name"):
        Keys(tmp_path).add(name, KeyLimits())


def test_a_name_is_given_once_and_a_limit_is_no_debt(tmp_path: Path) -> None:
    keys = Keys(tmp_path)
    keys.add("anna", KeyLimits())
    with pytest.raises(BadRequest, match="'anna' already"):
        keys.add(" anna ", KeyLimits())
    with pytest.raises(BadRequest, match="0 \\(none\\) or more"):
        keys.add("bob", KeyLimits(at_once=-1))


@pytest.mark.parametrize("held", ["nonsense", '{"keys": {"x": 5}}', '{"keys": 3, "revoked": 4}'])
def test_a_file_that_cannot_be_read_lets_nobody_in(tmp_path: Path, held: str) -> None:
    (tmp_path / "keys.json").write_text(held)
    keys = Keys(tmp_path)
    assert keys.name_of("x") is None
    assert keys.cards.get() == ()
