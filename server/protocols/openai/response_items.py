"""The Responses API's input items and tools in our nouns."""

from dataclasses import replace
from typing import Any

from server.chat import Json, Message, Tool, ToolCall
from server.protocols.fields import Fields
from server.protocols.messages import arguments_of, function_tool, listed_tools, parts_of

ROLES = ("system", "developer", "user", "assistant")


def input_messages(fields: Fields, earlier: tuple[Message, ...]) -> tuple[Message, ...]:
    """Everything said so far: the instructions, the earlier turns, the new input."""
    instructions = fields.text("instructions")
    said = [Message("system", instructions)] if instructions else []
    said += earlier
    given = fields.value("input")
    if isinstance(given, str) and given:
        return (*said, Message("user", given))
    if not isinstance(given, list) or not given:
        raise fields.wrong("input", "must be a string or an array of items, and not empty")
    thought = ""
    for at, item in enumerate(given):
        one = Fields(item, f"input[{at}]")
        if one.value("type") == "reasoning":
            thought += _thought(one)
            continue
        _add(said, one)
        if thought and said[-1].role == "assistant":
            said[-1] = replace(said[-1], reasoning=(said[-1].reasoning or "") + thought)
        thought = ""
    return tuple(said)


def input_items(given: Any, response_id: str) -> tuple[Json, ...]:
    """What a response was asked with, each item with a type and an id of its own."""
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    return tuple(
        _listed({"id": f"item_{response_id.removeprefix('resp_')}_{at}", **item})
        for at, item in enumerate(items)
    )


def _listed(item: Json) -> Json:
    kind = item.get("type") or "message"
    content = item.get("content")
    if kind != "message" or not isinstance(content, str):
        return {**item, "type": kind}
    said = item.get("role") == "assistant"
    part: Json = {"type": "output_text" if said else "input_text", "text": content}
    part |= {"annotations": []} if said else {}
    return {**item, "type": kind, "status": "completed", "content": [part]}


def response_tools(fields: Fields) -> tuple[Tool, ...]:
    return listed_tools(fields, _tool)


def _tool(fields: Fields) -> Tool:
    if fields.value("type") != "function":
        raise fields.wrong("type", "is missing")
    return function_tool(fields)


def _add(said: list[Message], item: Fields) -> None:
    kind = item.value("type") or "message"
    if kind == "message":
        said.append(_message(item))
    elif kind == "function_call":
        name, call_id = item.some_text("name"), item.some_text("call_id")
        call = ToolCall(call_id, name, arguments_of(item.text("arguments") or ""))
        if said and said[-1].role == "assistant":
            said[-1] = replace(said[-1], tool_calls=(*said[-1].tool_calls, call))
        else:
            said.append(Message("assistant", "", tool_calls=(call,)))
    elif kind == "function_call_output":
        said.append(_result(said, item))
    else:
        raise item.wrong("type", "is not supported here")


def _thought(item: Fields) -> str:
    """What was thought before the item that follows; else the summary that others make of it."""
    parts = item.list("content") or item.list("summary")
    return "".join(Fields(part).text("text") or "" for part in parts)


def _message(item: Fields) -> Message:
    role: Any = item.word("role", ROLES)
    if role is None:
        raise item.wrong("role", "is missing")
    if item.value("content") is None:
        raise item.wrong("content", "is missing")
    content, images = parts_of(item)
    return Message("system" if role == "developer" else role, content, images)


def _result(said: list[Message], item: Fields) -> Message:
    call_id = item.some_text("call_id")
    calls = {call.id: call.name for message in said for call in message.tool_calls}
    if call_id not in calls:
        raise item.wrong("call_id", "must name an earlier function_call")
    content, images = parts_of(item, "output")
    return Message("tool", content, images, tool_call_id=call_id, name=calls[call_id])
