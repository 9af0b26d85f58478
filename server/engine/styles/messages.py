"""Converts a conversation for a template: in the model's own form, or as plain turns."""

import hashlib
import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from server.chat import Message, ToolCall
from server.engine.styles.base import Abilities, TemplateMessage

IMAGE_MARK = f"<image {secrets.token_hex(8)}>"
"""Marks an image's place in the text. It is random, so that no other text can contain it."""
THOUGHT_NAMES = ("reasoning_content", "reasoning", "thinking")
"""The names that templates use for an earlier thought. Each template shows at most one of them."""


def native(
    messages: Sequence[Message],
    able: Abilities,
    *,
    short_ids: bool = False,
    write: Callable[[Sequence[ToolCall]], str] | None = None,
) -> tuple[TemplateMessage, ...]:
    """Returns messages in the form that the template expects. What it cannot show becomes text."""
    shown = [_shorten_ids(message) for message in messages] if short_ids else messages
    turns = [_turn_for(message, able, write or envelope) for message in shown]
    turns = one_by_one(turns) if able.single_call else turns
    if able.parts_text and not able.alternates:
        turns = [part for turn in turns for part in _split_text(turn)]
    return _fit(turns, able)


def in_plain_turns(
    messages: Sequence[Message], able: Abilities, note: str = ""
) -> tuple[TemplateMessage, ...]:
    """Writes calls and results as JSON in ordinary turns, for templates without support."""
    turns = [_plain_turn(message) for message in messages]
    return _fit(_with_note(turns, note) if note else turns, able)


def envelope(calls: Sequence[ToolCall]) -> str:
    made = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps({"tool_calls": made}, ensure_ascii=False)


def one_by_one(turns: Sequence[TemplateMessage]) -> list[TemplateMessage]:
    """Splits turns with several calls: each call gets its own turn, followed by its result."""
    left = list(turns)
    made: list[TemplateMessage] = []
    while left:
        turn = left.pop(0)
        calls = turn.get("tool_calls") or []
        if len(calls) < 2:
            made.append(turn)
            continue
        results = list(takewhile(lambda later: later["role"] == "tool", left))
        del left[: len(results)]
        for at, call in enumerate(calls):
            first = turn if not at else {"role": turn["role"], "content": ""}
            own = [result for result in results if result.get("tool_call_id") == call["id"]]
            made += [{**first, "tool_calls": [call]}, *own]
            results = [result for result in results if result not in own]
        made += results
    return made


def _split_text(turn: TemplateMessage) -> list[TemplateMessage]:
    """Moves text into a separate turn before the turn with calls."""
    if not (turn.get("tool_calls") and turn["content"]):
        return [turn]
    return [{"role": turn["role"], "content": turn["content"]}, {**turn, "content": ""}]


def plainer(
    turns: Sequence[TemplateMessage],
) -> Iterator[tuple[TemplateMessage, ...]]:
    """Yields plainer and plainer forms of the turns, for a template that refuses them."""
    turns = [{**turn, "content": turn.get("content") or ""} for turn in turns]
    yield tuple({**turn, "content": turn["content"] or None} for turn in turns)
    turns = one_by_one([_with_short_ids(turn) for turn in turns])
    yield tuple(turns)
    yield tuple(_join_neighbours(_system_first(turns)))
    yield tuple(_join_neighbours(_without_system(turns)))
    turns = [_plain_from_turn(turn) for turn in turns]
    yield tuple(_join_neighbours(_system_first(turns)))
    yield tuple(_join_neighbours(_without_system(turns)))


def _with_short_ids(turn: TemplateMessage) -> TemplateMessage:
    made = dict(turn)
    if turn.get("tool_calls"):
        made["tool_calls"] = [{**call, "id": _short(call["id"])} for call in turn["tool_calls"]]
    if turn.get("tool_call_id"):
        made["tool_call_id"] = _short(turn["tool_call_id"])
    return made


def _plain_from_turn(turn: TemplateMessage) -> TemplateMessage:
    if turn["role"] == "tool":
        return _result_turn(turn.get("name"), turn.get("tool_call_id"), turn["content"])
    calls = [call["function"] for call in turn.get("tool_calls") or ()]
    calls_text = [json.dumps({"tool_calls": calls}, ensure_ascii=False)] if calls else []
    content = "\n".join(filter(None, (turn["content"], *calls_text)))
    return {"role": turn["role"], "content": content}


def _turn_for(
    message: Message, able: Abilities, write: Callable[[Sequence[ToolCall]], str]
) -> TemplateMessage:
    calls = message.tool_calls and not able.calls
    result = message.role == "tool" and not able.results
    return _plain_turn(message, write) if calls or result else _native(message, able)


def _native(message: Message, able: Abilities) -> TemplateMessage:
    shown: TemplateMessage = {"role": message.role, "content": _content(message)}
    if message.tool_calls:
        shown["tool_calls"] = [
            native_call(call, as_text=able.text_arguments) for call in message.tool_calls
        ]
    if message.tool_call_id:
        shown["tool_call_id"] = message.tool_call_id
    if message.name:
        shown["name"] = message.name
    if message.reasoning:
        shown |= dict.fromkeys(THOUGHT_NAMES, message.reasoning)
    return shown


def native_call(call: ToolCall, *, as_text: bool) -> TemplateMessage:
    """Returns a call as in OpenAI's API, with arguments as an object or as JSON text."""
    arguments = json.dumps(call.arguments, ensure_ascii=False) if as_text else call.arguments
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _shorten_ids(message: Message) -> Message:
    """Shortens ids to the nine letters and digits that Mistral's templates require."""
    calls = tuple(replace(call, id=_short(call.id)) for call in message.tool_calls)
    answered = _short(message.tool_call_id) if message.tool_call_id else None
    return replace(message, tool_calls=calls, tool_call_id=answered)


def _short(call_id: str) -> str:
    if len(call_id) == 9 and call_id.isalnum():
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


def _plain_turn(
    message: Message, write: Callable[[Sequence[ToolCall]], str] | None = None
) -> TemplateMessage:
    if message.role == "tool":
        return _result_turn(message.name, message.tool_call_id, _content(message))
    content = _content(message)
    if message.tool_calls:
        content = "\n".join(filter(None, (content, (write or envelope)(message.tool_calls))))
    return {"role": message.role, "content": content}


def _result_turn(name: str | None, call_id: str | None, content: str) -> TemplateMessage:
    result = {"name": name, "id": call_id, "content": content}
    known = {key: value for key, value in result.items() if value is not None}
    return {"role": "user", "content": json.dumps({"tool_result": known}, ensure_ascii=False)}


def _content(message: Message) -> str:
    return "".join(part if isinstance(part, str) else f"{IMAGE_MARK}\n" for part in message.parts())


def _with_note(turns: list[TemplateMessage], note: str) -> list[TemplateMessage]:
    at = next((i for i, turn in enumerate(turns) if turn["role"] == "system"), None)
    if at is None:
        return [{"role": "system", "content": note}, *turns]
    noted = {**turns[at], "content": f"{turns[at]['content']}\n\n{note}".lstrip()}
    return [*turns[:at], noted, *turns[at + 1 :]]


def _fit(turns: list[TemplateMessage], able: Abilities) -> tuple[TemplateMessage, ...]:
    if not able.system:
        turns = _without_system(turns)
    if able.alternates:
        turns = _join_neighbours(_system_first(turns) if able.system else turns)
    return tuple(turns)


def _without_system(turns: list[TemplateMessage]) -> list[TemplateMessage]:
    return [{**turn, "role": "user"} if turn["role"] == "system" else turn for turn in turns]


def _system_first(turns: list[TemplateMessage]) -> list[TemplateMessage]:
    """Moves all system text into one first turn, as templates with strict turns require."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    rest = [turn for turn in turns if turn["role"] != "system"]
    return [{"role": "system", "content": "\n\n".join(system)}, *rest] if system else rest


def _join_neighbours(turns: list[TemplateMessage]) -> list[TemplateMessage]:
    """Joins neighbours of the same role. An empty question is added before a leading answer."""
    groups: list[list[TemplateMessage]] = []
    for turn in turns:
        last = groups[-1][-1] if groups else {}
        plain = not ({"tool_calls", "tool_call_id"} & (turn.keys() | last.keys()))
        if plain and last.get("role") == turn["role"]:
            groups[-1].append(turn)
            continue
        if turn["role"] == "assistant" and last.get("role", "system") == "system":
            groups.append([{"role": "user", "content": ""}])
        groups.append([turn])
    return [_as_one(group) for group in groups]


def _as_one(group: list[TemplateMessage]) -> TemplateMessage:
    if len(group) == 1:
        return group[0]
    return {**group[0], "content": "\n\n".join(turn["content"] for turn in group)}
