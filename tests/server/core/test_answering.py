"""How a request finds its model, and how programs fetch, name, keep and delete models."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import ClientSession

from server.chat import ChatRequest, Message
from server.core.answering import Answering
from server.core.core import Core
from server.core.keys import Keys
from server.core.running_requests import Requests
from server.engine.base import Engine
from server.errors import AppError, KeyBusy
from server.events import Event, Finished
from server.face.core import About, KeyLimits
from server.protocols.base import Ask, Reply
from server.tasks import spawn
from tests.kit.engines import ScriptedEngine
from tests.kit.fake_hub import FakeHub
from tests.kit.gguf_files import write_model
from tests.kit.held_workers import Workers, gone, opened
from tests.kit.requests import make_requests
from tests.kit.until import until

REPO, FILE = "Qwen/Qwen3-0.6B-GGUF", "Qwen3-0.6B-Q8_0.gguf"
PULLED = f"hf.co/{REPO}:Q8_0"


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[FakeHub]:
    write_model(tmp_path / "hub.gguf")
    data = (tmp_path / "hub.gguf").read_bytes()
    other = {"Other-Thing-1B-Q4_0.gguf": data}
    async with FakeHub({REPO: {FILE: data}, "a/Other-Thing-1B-GGUF": other}).running() as hub:
        yield hub


@pytest.fixture
async def core(workers: Workers, hub: FakeHub, tmp_path: Path) -> AsyncIterator[Core]:
    async with opened(workers, tmp_path / "listed") as core:
        await core.change_settings(
            {
                "network.hub": hub.address,
                "network.hub_storage": ["localhost"],
                "model.load_at_start": False,
            }
        )
        await core.start_on(0)
        yield core


class Program:
    """Asks as Ollama's programs do: no JSON content type, no origin."""

    def __init__(self, session: ClientSession, core: Core) -> None:
        self._session = session
        self._address = core.server.get().address

    async def __call__(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, list[Any]]:
        data = None if body is None else json.dumps(body).encode()
        reply = await self._session.request(
            method, f"{self._address}{path}", data=data, headers=headers
        )
        lines = (await reply.text()).splitlines()
        return reply.status, [json.loads(line) for line in lines if line]

    async def names(self) -> list[str]:
        _, (told,) = await self("GET", "/api/tags")
        return [model["name"] for model in told["models"]]


@pytest.fixture
async def ask(core: Core) -> AsyncIterator[Program]:
    async with ClientSession() as session:
        yield Program(session, core)


async def test_a_model_is_pulled_by_its_name_on_the_hub(ask: Program, core: Core) -> None:
    status, lines = await ask("POST", "/api/pull", {"name": PULLED})
    assert status == 200
    assert lines[0] == {"status": "pulling manifest"}
    assert lines[-1] == {"status": "success"}
    told = [line for line in lines if "digest" in line]
    assert told
    assert all(line["digest"].startswith("sha256:") and line["total"] for line in told)
    assert all(0 <= line["completed"] <= line["total"] for line in told)
    assert Path(FILE).stem in await ask.names()
    for name in (PULLED, Path(FILE).stem):
        status, (shown,) = await ask("POST", "/api/show", {"model": name})
        assert (status, shown["details"]["format"]) == (200, "gguf"), name
    again = await ask("POST", "/api/pull", {"model": PULLED, "stream": False})
    assert again == (200, [{"status": "success"}])
    await core.load_model(Path(FILE).stem)
    assert core.model.get().phase == "ready"


@pytest.mark.parametrize(
    ("name", "file"),
    [("qwen3:0.6b", FILE), ("other-thing:1b", "Other-Thing-1B-Q4_0.gguf"), (REPO, FILE)],
)
async def test_a_library_name_is_found_on_the_hub(ask: Program, name: str, file: str) -> None:
    status, lines = await ask("POST", "/api/pull", {"model": name})
    assert (status, lines[-1]) == (200, {"status": "success"})
    status, (shown,) = await ask("POST", "/api/show", {"model": name})
    assert status == 200
    assert (name in await ask.names(), Path(file).stem in await ask.names()) == (True, True)
    assert shown["details"]["parent_model"] == Path(file).stem


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("unheard-of:7b", 404, "not found on the hub"),
        ("registry.example/x/y", 400, "hf.co/owner/repository"),
        ("hf.co/nobody/nothing", 404, "no such repository"),
        (f"hf.co/{REPO}:Q2_K", 400, "There are: Q8_0"),
        ("", 400, "name"),
    ],
)
async def test_what_cannot_be_pulled_is_refused_before_the_stream(
    ask: Program, name: str, status: int, said: str
) -> None:
    found, (told,) = await ask("POST", "/api/pull", {"model": name})
    assert found == status
    assert said in told["error"]


async def test_a_pull_that_its_client_leaves_waits_for_the_next(
    core: Core, hub: FakeHub, ask: Program
) -> None:
    hub.files[REPO][FILE] += bytes(4 << 20)
    hub.delay_s = 0.01
    async with ClientSession() as session:
        address = f"{core.server.get().address}/api/pull"
        reply = await session.post(address, json={"model": PULLED})
        async for line in reply.content:
            if b'"completed"' in line and b'"completed": 0' not in line:
                break
        reply.close()
    await until(lambda: any(one.phase == "paused" for one in core.models.downloads.get()))
    hub.delay_s = 0.0
    status, lines = await ask("POST", "/api/pull", {"model": PULLED})
    assert (status, lines[-1]) == (200, {"status": "success"})


async def test_a_download_that_fails_is_the_streams_last_line(ask: Program, hub: FakeHub) -> None:
    hub.lied[FILE] = "0" * 64
    status, lines = await ask("POST", "/api/pull", {"model": PULLED})
    assert status == 200
    assert list(lines[-1]) == ["error"]
    assert {"status": "success"} not in lines


async def test_pages_may_not_change_the_models(core: Core, ask: Program, hub: FakeHub) -> None:
    await core.change_setting("server.origins", ("https://allowed.test",))
    changes = [
        ("POST", "/api/pull", {"model": PULLED}),
        ("DELETE", "/api/delete", {"model": "first"}),
        ("POST", "/api/copy", {"source": "first", "destination": "x"}),
        ("POST", "/api/create", {"model": "x", "from": "first"}),
    ]
    before = await ask.names()
    for origin in ("https://allowed.test", "https://evil.test"):
        for method, path, body in changes:
            headers = {"Origin": origin, "Content-Type": "application/json"}
            status, (told,) = await ask(method, path, body, **headers)
            assert (status, isinstance(told["error"], str)) == (403, True), (origin, path)
    assert await ask.names() == before
    assert not hub.seen


async def test_a_pulled_model_is_deleted_by_either_name(ask: Program, core: Core) -> None:
    for name in (PULLED, Path(FILE).stem):
        await ask("POST", "/api/pull", {"model": PULLED})
        path = next(
            Path(card.path) for card in core.models.cards.get() if card.name == Path(FILE).stem
        )
        assert path.exists()
        assert await ask("DELETE", "/api/delete", {"model": name}) == (200, [])
        assert not path.exists()
        assert PULLED not in await ask.names()


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [("SmolLM2-135M-Instruct", 400, "part of the program"), ("none", 404, "not found"),
     ("first", 400, "another program")],
)  # fmt: skip
async def test_what_may_not_be_deleted_stays(
    ask: Program, name: str, status: int, said: str
) -> None:
    before = await ask.names()
    found, (told,) = await ask("DELETE", "/api/delete", {"name": name})
    assert found == status
    assert said in told["error"]
    assert await ask.names() == before


async def test_another_name_survives_a_restart(
    ask: Program, core: Core, workers: Workers, tmp_path: Path
) -> None:
    copied = {"source": "first", "destination": "my/first:v2"}
    assert await ask("POST", "/api/copy", copied) == (200, [])
    assert "my/first:v2" in await ask.names()
    await core.close()
    async with opened(workers, tmp_path / "listed") as again:
        assert "my/first:v2" in [card.name for card in again._facts("x").models]
        await again._engine("my/first:v2")
        assert workers.loaded == ["first"]


async def test_a_model_is_made_from_another_with_words_of_its_own(
    ask: Program, workers: Workers
) -> None:
    made = {
        "model": "mario",
        "from": "first",
        "system": "You are Mario.",
        "parameters": {"temperature": 0.1, "stop": ["\n"], "num_predict": 7},
        "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    }
    status, lines = await ask("POST", "/api/create", made)
    assert (status, lines[-1]) == (200, {"status": "success"})
    await ask("POST", "/api/generate", {"model": "mario", "keep_alive": -1})
    workers.made[-1].may_end.set()
    asked = {"messages": [{"role": "user", "content": "Hi"}], "model": "mario", "stream": False}
    for path in ("/api/chat", "/v1/chat/completions"):
        status, _ = await ask("POST", path, {**asked, "options": {"top_k": 3}})
        assert status == 200
        (request,) = workers.made[-1].requests[-1:]
        told = [(message.role, message.content) for message in request.messages]
        assert told == [("system", "You are Mario."), ("user", "a"), ("assistant", "b"),
                        ("user", "Hi")]  # fmt: skip
        assert (request.sampling.temperature, request.stop, request.max_tokens) == (0.1, ("\n",), 7)
    assert workers.loaded == ["first"]
    own = {"messages": [{"role": "system", "content": "Mine."}, *asked["messages"]]}
    await ask("POST", "/api/chat", {**asked, **own, "options": {"temperature": 0.5}})
    request = workers.made[-1].requests[-1]
    assert (request.messages[0].content, request.sampling.temperature) == ("Mine.", 0.5)


@pytest.mark.parametrize(
    "change",
    [
        {"template": "{{ .Prompt }}"},
        {"files": {"a.gguf": "sha256:0"}},
        {"adapters": {"a": "sha256:0"}},
        {"quantize": "q4_0"},
        {"parameters": {"unheard_of": 1}},
        {"parameters": {"temperature": "hot"}},
        {"messages": [{"content": "x"}]},
        {"license": 5},
        {"license": True},
        {"license": {"a": "b"}},
        {"license": ["MIT", 5]},
        {"from": ""},
        {"from": "none"},
        {"model": "../../etc"},
        {"model": "second"},
    ],
)
async def test_a_model_that_cannot_be_made_is_refused_by_name(
    ask: Program, change: dict[str, Any]
) -> None:
    before = await ask.names()
    status, (told,) = await ask("POST", "/api/create", {"model": "x", "from": "first", **change})
    assert 400 <= status < 500
    assert isinstance(told["error"], str)
    assert await ask.names() == before


async def test_what_others_are_made_from_is_not_deleted(ask: Program, core: Core) -> None:
    await ask("POST", "/api/pull", {"model": PULLED})
    await ask("POST", "/api/copy", {"source": PULLED, "destination": "mine"})
    status, (told,) = await ask("DELETE", "/api/delete", {"model": PULLED})
    assert (status, "'mine'" in told["error"]) == (409, True)
    assert await ask("DELETE", "/api/delete", {"model": "mine"}) == (200, [])
    assert await ask("DELETE", "/api/delete", {"model": PULLED}) == (200, [])


async def test_looking_on_neither_loads_a_model_nor_keeps_it(
    ask: Program, core: Core, workers: Workers
) -> None:
    looks = [
        "/metrics",
        "/props",
        "/health",
        "/ready",
        "/v1/models",
        "/api/ps",
        "/api/tags",
        "/",
        "/agents.json",
    ]
    async with ClientSession() as session:
        for path in looks:
            reply = await session.get(f"{core.server.get().address}{path}")
            assert reply.status == 200, path
            assert await reply.read()
        await ask("POST", "/api/show", {"model": "first"})
        assert workers.made == []
        await ask("POST", "/api/generate", {"model": "SmolLM2-135M-Instruct", "keep_alive": 60})
        (before,) = core._pool.loaded.get()
        assert before.leaves_at is not None
        timer = core._pool._entries[before.name].idle
        for path in looks:
            assert (await session.get(f"{core.server.get().address}{path}")).status == 200
        await ask("POST", "/api/show", {"model": "SmolLM2-135M-Instruct"})
        assert core._pool._entries[before.name].idle is timer
    assert len(workers.made) == 1


async def test_keep_alive_decides_how_long_a_model_stays(
    ask: Program, core: Core, workers: Workers
) -> None:
    async def kept_until() -> str:
        _, (told,) = await ask("GET", "/api/ps")
        return ",".join(model["expires_at"][:2] for model in told["models"])

    await ask("POST", "/api/generate", {"model": "first", "keep_alive": "10m"})
    assert (workers.loaded, await kept_until()) == (["first"], "20")
    await ask("POST", "/api/generate", {"model": "first", "keep_alive": -1})
    assert await kept_until() == "23"
    workers.made[0].may_end.set()
    asked = {"model": "first", "prompt": "Hi", "stream": False, "keep_alive": 0}
    assert (await ask("POST", "/api/generate", asked))[0] == 200
    await gone(workers.made[0])
    assert await kept_until() == ""
    await ask("POST", "/api/generate", {"model": "second"})
    _, (told,) = await ask("POST", "/api/chat", {"model": "second", "keep_alive": 0})
    assert told["done_reason"] == "unload"
    assert await kept_until() == ""
    await gone(workers.made[1])


async def test_a_broken_list_of_names_is_set_aside(core: Core, tmp_path: Path) -> None:
    path = core._keeper._aliases._path
    await core.close()
    path.write_text("[1, 2", "utf-8")
    async with opened(Workers(), tmp_path / "listed") as again:
        assert all(not card.base for card in again._keeper.cards())
        assert path.with_name("names.broken-1.json").exists()
        with pytest.raises(AppError):
            await again._engine("my/first:v2")


ASKED = ChatRequest((Message("user", "Hello"),))


class Talk:
    """Takes every question; the chats it was asked in are kept."""

    def __init__(self) -> None:
        self.chats: list[str] = []

    async def prepare(self, _request: ChatRequest) -> AsyncGenerator[str, None]:
        nothing: tuple[str, ...] = ()
        for words in nothing:
            yield words

    async def take(self, _engine: Engine, request: ChatRequest, _can_plan: Any) -> Any:
        self.chats.append(request.chat)

        async def events() -> Any:
            yield Finished("stop")

        return events()


class NoModels:
    @staticmethod
    def resolve(request: ChatRequest) -> ChatRequest:
        return request

    @staticmethod
    def base_name(name: str) -> str:
        return name


def make_answering(engine: Any, house: Any, keys: Keys, requests: Requests) -> Answering:
    rest: Any = None
    keeper: Any = NoModels()
    return Answering(engine, lambda: "m", house, rest, requests, keeper, rest, rest, rest, keys)


async def chats(*asked: About) -> list[str]:
    async def engine(_name: str | None) -> Engine:
        return ScriptedEngine()

    talk = Talk()
    house: Any = SimpleNamespace(talk_for=lambda **_of: talk)
    requests = make_requests()
    answering = make_answering(engine, house, Keys(Path("no such folder")), requests)
    for about in asked:
        events: list[Event] = [one async for one in answering.chat(ASKED, about)]  # type: ignore[misc]
        assert events == [Finished("stop")]
    await requests.close()
    return talk.chats


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c1"), True),
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c2"), False),
        (About("/c", "page", chat="c1"), About("/c", "other", chat="c1"), False),
        (About("/c", "page", chat="c1"), About("/c", "page", chat="c1", is_own=True), False),
        (About("/c", "page"), About("/c", "page"), False),
    ],
)
async def test_a_chat_is_what_its_client_names_as_one(
    one: About, other: About, is_same: bool
) -> None:
    first, second = await chats(one, other)
    assert (first == second) is is_same


async def test_a_request_counts_for_its_key_while_its_model_loads(tmp_path: Path) -> None:
    keys, loaded = Keys(tmp_path), asyncio.Event()
    keys.add("anna", KeyLimits(at_once=1))

    async def engine(_name: str | None) -> Engine:
        await loaded.wait()
        return ScriptedEngine()

    answering = make_answering(engine, None, keys, make_requests())
    ask = Ask("tokenize", "m", {"text": "hi"}, Reply, by=About("/tokenize", key="anna"))
    first = spawn(answering.ask(ask), "load")
    await until(lambda: keys._running["anna"] == 1)
    with pytest.raises(KeyBusy):
        await answering.ask(ask)
    loaded.set()
    await first
    assert not keys._running["anna"]
