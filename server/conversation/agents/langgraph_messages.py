"""LangGraph's messages and interrupts, to and from ours."""

from typing import Any

from server.chat import Json, Message, ToolCall
from server.conversation.agents.base import AgentRequest
from server.conversation.threads.threads import Said
from server.events import Interrupted

ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
KIT_VALUE = "__copilotkit_interrupt_value__"
KIT_MESSAGES = "__copilotkit_messages__"


def read(told: Json) -> Said:
    role = ROLES.get(str(told.get("type")), "assistant")
    message_id, content = str(told.get("id") or ""), text(told)
    if role == "tool":
        call_id = str(told.get("tool_call_id"))
        name = told.get("name")
        return Said(message_id, Message("tool", content, tool_call_id=call_id, name=name))
    calls = tuple(
        ToolCall(one["id"], one["name"], one["args"]) for one in told.get("tool_calls") or ()
    )
    if role == "assistant":
        return Said(message_id, Message("assistant", content, tool_calls=calls))
    return Said(message_id, Message("user" if role == "user" else "system", content))


def write(said: Said) -> Json:
    message = said.message
    if message.role == "tool":
        call = {"tool_call_id": message.tool_call_id, "name": message.name}
        return {"id": said.id, "role": "tool", "content": message.content} | call
    return {"id": said.id, "role": "user", "content": message.content}


def text(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(part.get("text") or "" for part in content or () if isinstance(part, dict))


def interrupted(told: Json) -> Interrupted:
    """CopilotKit's SDK brings the question along as messages of the conversation."""
    name, value = str(told.get("id") or "interrupt"), told.get("value")
    if not isinstance(value, dict) or KIT_VALUE not in value:
        return Interrupted(name, value)
    said = tuple(read(one).message for one in value.get(KIT_MESSAGES) or ())
    return Interrupted(name, value[KIT_VALUE], said)


def waiting(state: Any) -> tuple[Interrupted, ...]:
    """What a thread still waits for, by the state its server tells."""
    tasks = state.get("tasks") if isinstance(state, dict) else None
    return tuple(interrupted(one) for task in tasks or () for one in task.get("interrupts") or ())


def spoken_answer(request: AgentRequest) -> str | None:
    """The newest thing the user or the page said: it answers a question asked in messages."""
    last = request.said[-1].message if request.said else None
    return last.content if last is not None and last.role in ("user", "tool") else None
