"""Who may wait is decided when a request arrives: a stream that began is never turned away."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from server.core.core import Core
from server.tasks import spawn, stop
from server.web import app
from tests.kit.held_workers import Workers, opened
from tests.kit.until import until

SLOTS, QUEUE, ASKED = 2, 3, 20
HI = {"messages": [{"role": "user", "content": "Hi"}], "stream": True}
AGENT = {
    "threadId": "t", "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
    "messages": [{"id": "m", "role": "user", "content": "Hi"}],
}  # fmt: skip
ROUTES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": HI,
    "/v1/completions": {"prompt": "Hi", "stream": True},
    "/v1/responses": {"input": "Hi", "stream": True},
    "/v1/messages": {**HI, "max_tokens": 9},
    "/api/chat": HI,
    "/api/generate": {"prompt": "Hi"},
    "/api/copilotkit/agent/default/run": AGENT,
}
SPOKEN = ("/api/chat", "/v1/messages", "/v1/chat/completions")


@pytest.fixture
def workers() -> Workers:
    return Workers()


@pytest.fixture
async def core(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Core]:
    monkeypatch.setattr(app, "FIRST_EVENT_S", 0.05)
    async with opened(workers, tmp_path) as core:
        await core.change_settings(
            {"model.slots": SLOTS, "model.queue_limit": QUEUE, "model.load_at_start": False}
        )
        await core.start_on(0)
        yield core


async def until_asked(core: Core, count: int) -> None:
    await until(lambda: len(core._requests._tracked) >= count)


@pytest.mark.parametrize("path", ROUTES)
async def test_who_finds_the_queue_full_is_told_by_the_status(
    core: Core, workers: Workers, path: str
) -> None:
    workers.hold()
    seen: list[tuple[int, str, Any]] = []

    async def ask(session: ClientSession) -> None:
        body = {"model": "first", **ROUTES[path]}
        async with session.post(f"{core.server.get().address}{path}", json=body) as reply:
            seen.append((reply.status, reply.headers.get("Retry-After", ""), await reply.text()))

    async with ClientSession() as session, asyncio.TaskGroup() as asking:
        for _ in range(ASKED):
            asking.create_task(ask(session))
        await until_asked(core, SLOTS + QUEUE)
        await until(lambda: len(seen) >= ASKED - SLOTS - QUEUE)
        # Streams open while the model still loads: nobody among them may be turned away now.
        await asyncio.sleep(2 * app.FIRST_EVENT_S)
        workers.may_load.set()
        await until(lambda: workers.made)
        workers.made[-1].may_end.set()
    statuses = Counter(status for status, _, _ in seen)
    assert statuses == {200: SLOTS + QUEUE, 429: ASKED - SLOTS - QUEUE}
    for status, retry_after, text in seen:
        assert ("queue is full" in text) == (status == 429)
        assert bool(retry_after) == (status == 429)


@asynccontextmanager
async def holding(
    core: Core, count: int, body: Any, path: str = "/api/chat"
) -> AsyncIterator[None]:
    """So many clients that wait for an answer."""

    async def ask(session: ClientSession) -> None:
        async with session.post(f"{core.server.get().address}{path}", **body) as reply:
            await reply.read()

    async with ClientSession() as session:
        asking = [spawn(ask(session), "ask") for _ in range(count)]
        await until_asked(core, count)
        try:
            yield
        finally:
            for task in asking:
                await stop(task)


async def posted(core: Core, path: str, body: Any) -> tuple[int, Any]:
    async with (
        ClientSession() as session,
        session.post(f"{core.server.get().address}{path}", json=body) as reply,
    ):
        text = await reply.text()
        return reply.status, json.loads(text.splitlines()[0])


async def test_the_refusal_is_in_the_words_of_its_protocol(core: Core, workers: Workers) -> None:
    workers.hold()
    body = {"model": "first", **HI, "max_tokens": 9}
    async with holding(core, SLOTS + QUEUE, {"json": body}):
        told = {path: await posted(core, path, body) for path in ROUTES if path in SPOKEN}
    assert [status for status, _ in told.values()] == [429] * len(SPOKEN)
    assert isinstance(told["/api/chat"][1]["error"], str)
    assert told["/v1/messages"][1]["type"] == "error"
    assert told["/v1/chat/completions"][1]["error"]["code"] == "server_busy"


async def test_too_many_connections_are_refused_in_their_protocols_words(
    core: Core, workers: Workers
) -> None:
    workers.hold()
    await core.change_setting("server.max_requests", 1)
    async with (
        holding(core, 1, {"json": {"model": "first", **HI}}),
        ClientSession() as session,
        session.get(f"{core.server.get().address}/api/tags") as reply,
    ):
        assert (reply.status, reply.headers["Retry-After"]) == (503, "2")
        assert await reply.json() == {"error": "Too many requests at once."}


async def test_several_answers_take_several_places(core: Core, workers: Workers) -> None:
    workers.hold()
    path, body = "/v1/chat/completions", {"model": "first", **HI}
    async with holding(core, 1, {"json": {**body, "n": SLOTS + QUEUE}}, path):
        assert (await posted(core, path, body))[0] == 429
