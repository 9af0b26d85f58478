"""Reads the arguments of generateCopilotResponse into a request to an agent."""

import base64
import binascii
import uuid
from typing import Any

from server.chat import File, Image, Json, Message, Role, Tool, ToolCall, ToolChoice
from server.conversation.agents.base import DEFAULT, AgentRequest, InterruptAnswer
from server.conversation.guardrails import Topics
from server.conversation.threads.threads import ThreadMessage
from server.errors import BadRequest
from server.protocols.base import Facts
from server.protocols.fields import BIGGEST, parse, sendable

PASSING = ("Task", "Suggestion", "TextareaCompletion", "TextareaPopover")
"""Kinds of request that are not part of the conversation."""
DOCUMENTS = frozenset({"pdf", "csv", "tsv", "txt", "text", "md", "json", "html", "docx", "xlsx"})
"""Formats that are not those of images."""


def read(data: Json, facts: Facts) -> AgentRequest:
    session = data.get("agentSession") or {}
    agent = session.get("agentName") or DEFAULT
    messages = _messages(data["messages"])
    has_prompt = any(kept.message.role == "system" for kept in messages)
    forwarded = data.get("forwardedParameters") or {}
    return AgentRequest(
        agent,
        session.get("threadId") or data.get("threadId") or str(uuid.uuid4()),
        data.get("runId") or str(uuid.uuid4()),
        messages,
        tools=_tools(data["frontend"]["actions"]),
        tool_choice=_tool_choice(forwarded),
        # The page's own prompt already describes what it shows.
        context=() if has_prompt else _context(data.get("context") or ()),
        state=_state(data, agent),
        answer=_answer(data.get("metaEvents") or ()),
        topics=_topics(data.get("cloud")),
        model=_model(forwarded, facts),
        temperature=_temperature(forwarded),
        max_tokens=_max_tokens(forwarded),
        stop=tuple(forwarded.get("stop") or ()),
        ends_after_tools=True,
        is_kept=(data["metadata"].get("requestType") or "Chat") not in PASSING,
        client=facts.origin or facts.headers.get("user-agent", ""),
        origin=facts.place,
        is_own=facts.is_own,
    )


def _messages(sent: list[Json]) -> tuple[ThreadMessage, ...]:
    messages: list[ThreadMessage] = []
    calls: list[ToolCall] = []
    for item in sent:
        if action := item.get("actionExecutionMessage"):
            # Calls in a row were made in one message.
            calls = calls if messages and messages[-1].message.tool_calls else []
            calls.append(ToolCall(item["id"], action["name"], _object(action["arguments"])))
            if len(calls) == 1:
                messages.append(
                    ThreadMessage(item["id"], Message("assistant", "", tool_calls=tuple(calls)))
                )
            continue
        _close_calls(messages, calls)
        if text := item.get("textMessage"):
            messages.append(ThreadMessage(item["id"], _text(text)))
        elif result := item.get("resultMessage"):
            messages.append(ThreadMessage(item["id"], _result(result)))
        elif image := item.get("imageMessage"):
            messages.append(ThreadMessage(item["id"], _image(image)))
    _close_calls(messages, calls)
    return tuple(messages)


def _close_calls(messages: list[ThreadMessage], calls: list[ToolCall]) -> None:
    """Gives the last message all calls that followed it."""
    if len(calls) > 1 and messages[-1].message.tool_calls:
        messages[-1] = ThreadMessage(
            messages[-1].id, Message("assistant", "", tool_calls=tuple(calls))
        )


def _text(text: Json) -> Message:
    role = text["role"]
    if role in ("system", "developer"):
        return Message("system", text["content"])
    return Message("assistant" if role == "assistant" else "user", text["content"])


def _result(result: Json) -> Message:
    call_id, name = result["actionExecutionId"], result["actionName"]
    return Message("tool", result["result"], tool_call_id=call_id, name=name)


def _image(image: Json) -> Message:
    """Reads a picture, or another file that a page sends in the only message with bytes."""
    try:
        data = base64.b64decode(image["bytes"], validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("An image's 'bytes' must be base64.", "messages") from None
    role: Role = "assistant" if image["role"] == "assistant" else "user"
    kind = image["format"].strip().lower()
    if kind in DOCUMENTS:
        return Message(role, "", files=(File(f"attachment.{kind}", data=data),))
    mime = kind if "/" in kind else f"image/{kind}"
    if not mime.startswith("image/"):
        return Message(role, "", files=(File("", mime, data),))
    return Message(role, "", (Image(mime, data),))


def _tools(actions: list[Json]) -> tuple[Tool, ...]:
    enabled = [action for action in actions if action.get("available") in (None, "enabled")]
    return tuple(
        Tool(action["name"], action["description"], _object(action["jsonSchema"]))
        for action in enabled
    )


def _tool_choice(forwarded: Json) -> ToolChoice:
    choice, name = forwarded.get("toolChoice"), forwarded.get("toolChoiceFunctionName")
    if choice == "function" and name:
        return ToolChoice("required", (name,))
    if choice in ("none", "required"):
        return ToolChoice(choice)
    return ToolChoice()


def _context(context: Any) -> tuple[tuple[str, str], ...]:
    return tuple((entry["description"], entry["value"]) for entry in context)


def _state(data: Json, agent: str) -> Json | None:
    states = [*(data.get("agentStates") or ()), *filter(None, [data.get("agentState")])]
    found = [entry["state"] for entry in states if entry["agentName"] == agent]
    return _object(found[0]) if found else None


def _answer(events: Any) -> InterruptAnswer | None:
    for event in events:
        if event.get("response") is not None:
            return InterruptAnswer(parse(event["response"], event["response"]))
        if answers := _messages(event.get("messages") or []):
            return InterruptAnswer(answers[-1].message.content)
    return None


def _topics(cloud: Json | None) -> Topics:
    rules = ((cloud or {}).get("guardrails") or {}).get("inputValidationRules") or {}
    return Topics(tuple(rules.get("allowList") or ()), tuple(rules.get("denyList") or ()))


def _model(forwarded: Json, facts: Facts) -> str | None:
    """Returns a model's name only if we have it: pages name the models of a cloud."""
    name = forwarded.get("model")
    return name if name in {card.name for card in facts.models} else None


def _temperature(forwarded: Json) -> float | None:
    temperature = forwarded.get("temperature")
    return None if temperature is None else min(max(float(temperature), 0.0), 2.0)


def _max_tokens(forwarded: Json) -> int | None:
    limit = forwarded.get("maxTokens") or 0
    return int(min(limit, BIGGEST)) if limit >= 1 else None


def _object(text: str) -> Json:
    value = sendable(parse(text))
    return value if isinstance(value, dict) else {}
