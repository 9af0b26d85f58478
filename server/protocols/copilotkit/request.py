"""The arguments of generateCopilotResponse, read into a request to an agent."""

import base64
import binascii
import uuid
from typing import Any

from server.chat import File, Image, Json, Message, Role, Tool, ToolCall, ToolChoice
from server.conversation.agents.base import DEFAULT, AgentRequest, Answer
from server.conversation.guardrails import Topics
from server.conversation.threads.threads import Said
from server.errors import BadRequest
from server.protocols.base import Facts
from server.protocols.fields import BIGGEST, parsed, sendable

PASSING = ("Task", "Suggestion", "TextareaCompletion", "TextareaPopover")
"""Kinds of request that are no part of the conversation."""
DOCUMENTS = frozenset({"pdf", "csv", "tsv", "txt", "text", "md", "json", "html", "docx", "xlsx"})
"""Formats that are no image's."""


def read(data: Json, facts: Facts) -> AgentRequest:
    session = data.get("agentSession") or {}
    agent = session.get("agentName") or DEFAULT
    said = _said(data["messages"])
    has_prompt = any(one.message.role == "system" for one in said)
    forwarded = data.get("forwardedParameters") or {}
    return AgentRequest(
        agent,
        session.get("threadId") or data.get("threadId") or str(uuid.uuid4()),
        data.get("runId") or str(uuid.uuid4()),
        said,
        tools=_tools(data["frontend"]["actions"]),
        tool_choice=_tool_choice(forwarded),
        # The page's own prompt already tells what it shows.
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


def _said(sent: list[Json]) -> tuple[Said, ...]:
    said: list[Said] = []
    calls: list[ToolCall] = []
    for one in sent:
        if action := one.get("actionExecutionMessage"):
            # Calls that follow each other were made in one message.
            calls = calls if said and said[-1].message.tool_calls else []
            calls.append(ToolCall(one["id"], action["name"], _object(action["arguments"])))
            if len(calls) == 1:
                said.append(Said(one["id"], Message("assistant", "", tool_calls=tuple(calls))))
            continue
        _close_calls(said, calls)
        if text := one.get("textMessage"):
            said.append(Said(one["id"], _text(text)))
        elif result := one.get("resultMessage"):
            said.append(Said(one["id"], _result(result)))
        elif image := one.get("imageMessage"):
            said.append(Said(one["id"], _image(image)))
    _close_calls(said, calls)
    return tuple(said)


def _close_calls(said: list[Said], calls: list[ToolCall]) -> None:
    """The last message gets all calls that followed it."""
    if len(calls) > 1 and said[-1].message.tool_calls:
        said[-1] = Said(said[-1].id, Message("assistant", "", tool_calls=tuple(calls)))


def _text(text: Json) -> Message:
    role = text["role"]
    if role in ("system", "developer"):
        return Message("system", text["content"])
    return Message("assistant" if role == "assistant" else "user", text["content"])


def _result(result: Json) -> Message:
    call_id, name = result["actionExecutionId"], result["actionName"]
    return Message("tool", result["result"], tool_call_id=call_id, name=name)


def _image(image: Json) -> Message:
    """A picture, or whatever else a page sends by the only message that carries bytes."""
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
    enabled = [one for one in actions if one.get("available") in (None, "enabled")]
    return tuple(
        Tool(one["name"], one["description"], _object(one["jsonSchema"])) for one in enabled
    )


def _tool_choice(forwarded: Json) -> ToolChoice:
    choice, name = forwarded.get("toolChoice"), forwarded.get("toolChoiceFunctionName")
    if choice == "function" and name:
        return ToolChoice("required", (name,))
    if choice in ("none", "required"):
        return ToolChoice(choice)
    return ToolChoice()


def _context(context: Any) -> tuple[tuple[str, str], ...]:
    return tuple((one["description"], one["value"]) for one in context)


def _state(data: Json, agent: str) -> Json | None:
    states = [*(data.get("agentStates") or ()), *filter(None, [data.get("agentState")])]
    found = [one["state"] for one in states if one["agentName"] == agent]
    return _object(found[0]) if found else None


def _answer(events: Any) -> Answer | None:
    for one in events:
        if one.get("response") is not None:
            return Answer(parsed(one["response"], one["response"]))
        if said := _said(one.get("messages") or []):
            return Answer(said[-1].message.content)
    return None


def _topics(cloud: Json | None) -> Topics:
    rules = ((cloud or {}).get("guardrails") or {}).get("inputValidationRules") or {}
    return Topics(tuple(rules.get("allowList") or ()), tuple(rules.get("denyList") or ()))


def _model(forwarded: Json, facts: Facts) -> str | None:
    """Pages name the models of a cloud; only one that is here is meant for us."""
    name = forwarded.get("model")
    return name if name in {card.name for card in facts.models} else None


def _temperature(forwarded: Json) -> float | None:
    temperature = forwarded.get("temperature")
    return None if temperature is None else min(max(float(temperature), 0.0), 2.0)


def _max_tokens(forwarded: Json) -> int | None:
    limit = forwarded.get("maxTokens") or 0
    return int(min(limit, BIGGEST)) if limit >= 1 else None


def _object(text: str) -> Json:
    value = sendable(parsed(text))
    return value if isinstance(value, dict) else {}
