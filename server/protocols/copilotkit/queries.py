"""What GraphQL clients ask besides a run: who is here, and what a thread has come to."""

import json
from typing import Any

from server.chat import Json
from server.conversation.agents.base import Agents, ThreadState
from server.conversation.threads.history import said_in
from server.conversation.threads.threads import Said, Thread


def root(agents: Agents, sees: str | None) -> Json:
    async def available(_info: Any) -> Json:
        cards = await agents.cards()
        listed = [
            {"id": card.name, "name": card.name, "description": card.description} for card in cards
        ]
        return {"agents": listed}

    async def load(_info: Any, data: Json) -> Json:
        agent = await agents.find(data["agentName"])
        thread_id = data["threadId"]
        found = await agent.recall(thread_id) or _kept(agents.threads.find(thread_id, sees))
        return {
            "threadId": thread_id,
            "threadExists": found is not None,
            "state": json.dumps(found.state if found else {}, ensure_ascii=False),
            "messages": json.dumps(_messages(found), ensure_ascii=False),
        }

    return {"hello": "Hello World", "availableAgents": available, "loadAgentState": load}


def _kept(thread: Thread | None) -> ThreadState | None:
    return ThreadState(thread.state or {}, said_in(thread)) if thread else None


def _messages(found: ThreadState | None) -> list[Json]:
    return [told for one in (found.said if found else ()) for told in _told(one)]


def _told(said: Said) -> list[Json]:
    """A message as the pages' own store writes it: text and each call apart."""
    message = said.message
    if message.role == "tool":
        return [
            {
                "id": said.id,
                "actionExecutionId": message.tool_call_id,
                "actionName": message.name or "",
                "result": message.content,
            }
        ]
    told: list[Json] = []
    if message.content or not message.tool_calls:
        told.append({"id": said.id, "role": message.role, "content": message.content})
    for call in message.tool_calls:
        told.append(
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "parentMessageId": said.id,
            }
        )
    return told
