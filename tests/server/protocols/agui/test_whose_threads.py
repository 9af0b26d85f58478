"""What a page has said with an agent is for itself, and for the person's own window."""

from typing import Any

from aiohttp.test_utils import TestClient

from tests.contract.copilotkit import house

BASE = "/api/copilotkit"
ONE, OTHER = ({"Origin": f"https://{name}.example"} for name in ("one", "other"))
PROGRAM: dict[str, str] = {}
WINDOW = {"X-Moat-Window": "own"}
LOAD = """query load($data: LoadAgentStateInput!) {
  loadAgentState(data: $data) { threadExists }
}"""


def body() -> dict[str, Any]:
    said = [{"id": "u1", "role": "user", "content": "my salary"}]
    return {"threadId": "t", "runId": "r", "messages": said}


async def sees(client: TestClient[Any, Any], who: dict[str, str]) -> set[str]:
    """The ways in which the thread can be seen."""
    ways = set()
    if (await (await client.get(f"{BASE}/threads", headers=who)).json())["threads"]:
        ways.add("list")
    for what in ("messages", "events", "state"):
        told = await (await client.get(f"{BASE}/threads/t/{what}", headers=who)).json()
        if told[what]:
            ways.add(what)
    for way, sent in {
        "connect": {"method": "agent/connect", "params": {"agentId": "demo"}, "body": body()},
        "listed": {"method": "resource/request", "params": {"path": "/threads"}},
        "read": {"method": "resource/request", "params": {"path": "/threads/t/messages"}},
    }.items():
        text = await (await client.post(BASE, json=sent, headers=who)).text()
        if "salary" in text or '"updatedAt"' in text:
            ways.add(way)
    asked = {"query": LOAD, "variables": {"data": {"threadId": "t", "agentName": "demo"}}}
    loaded = await (await client.post(BASE, json=asked, headers=who)).json()
    if loaded["data"]["loadAgentState"]["threadExists"]:
        ways.add("load")
    return ways


ALL = {"list", "messages", "events", "state", "connect", "listed", "read", "load"}


async def test_a_thread_is_seen_by_its_page_and_the_window_alone():
    async with house.visit(house.agents()) as client:
        async with client.post(f"{BASE}/agent/demo/run", json=body(), headers=ONE) as reply:
            await reply.read()
        assert await sees(client, ONE) == ALL
        assert await sees(client, OTHER) == set()
        assert await sees(client, PROGRAM) == set()
        assert await sees(client, WINDOW) == ALL


async def test_programs_share_their_threads_and_no_page_sees_them():
    async with house.visit(house.agents()) as client:
        who = {"User-Agent": "one"}
        async with client.post(f"{BASE}/agent/demo/run", json=body(), headers=who) as reply:
            await reply.read()
        assert await sees(client, {"User-Agent": "other"}) == ALL
        assert await sees(client, ONE) == set()


async def test_a_page_clears_its_own_threads_alone():
    async with house.visit(house.agents()) as client:
        async with client.post(f"{BASE}/agent/demo/run", json=body(), headers=ONE) as reply:
            await reply.read()
        cleared = {"method": "resource/request"} | {
            "params": {"path": "/threads/clear", "httpMethod": "POST"}
        }
        await client.post(f"{BASE}/threads/clear", json={}, headers=OTHER)
        await client.post(BASE, json=cleared, headers=OTHER)
        assert await sees(client, ONE) == ALL
        await client.post(f"{BASE}/threads/clear", json={}, headers=ONE)
        assert await sees(client, ONE) == set()


async def test_a_page_cannot_stop_a_run_of_another():
    async with house.visit(house.agents()) as client:
        sent = body()
        sent["messages"][0]["content"] = "LONG"
        run, stop = f"{BASE}/agent/default/run", f"{BASE}/agent/default/stop/t"
        async with client.post(run, json=sent, headers=ONE) as reply:
            await reply.content.readuntil(b"TEXT_MESSAGE_CONTENT")
            other = await (await client.post(stop, json={}, headers=OTHER)).json()
            own = await (await client.post(stop, json={}, headers=ONE)).json()
            await reply.read()
    assert (other["stopped"], own["stopped"]) == (False, True)
