"""What Ollama's clients send, as our requests."""

import base64
import binascii
import json
from typing import Any

from server.chat import ChatRequest, Constraint, Image, Message, ToolCall
from server.protocols.base import Facts, Reply
from server.protocols.fields import (
    THINKING_EFFORTS,
    Fields,
    sampling,
    sendable,
    stop_texts,
    template_options,
)
from server.protocols.messages import arguments_of, tools_of
from server.protocols.ollama.words import line, loaded, model_name, said

ROLES = ("system", "user", "assistant", "tool")


def accept_chat(body: Any, facts: Facts) -> ChatRequest | Reply:
    fields = Fields(body)
    messages = _messages(fields)
    if not messages:
        return Reply({**line(body, facts), "message": said(""), **loaded()})
    return _request(fields, facts, messages=messages, tools=tools_of(fields))


def accept_generate(body: Any, facts: Facts) -> ChatRequest | Reply:
    fields = Fields(body)
    prompt = fields.text("prompt") or ""
    if not prompt:
        return Reply({**line(body, facts), "response": "", **loaded()})
    if fields.flag("raw"):
        return _request(fields, facts, prompt=prompt)
    system = fields.text("system")
    before = [Message("system", system)] if system else []
    messages = (*before, Message("user", prompt, _images(fields)))
    return _request(fields, facts, messages=messages)


def streams(body: Any) -> bool:
    return Fields(body).flag("stream") is not False


def _request(fields: Fields, facts: Facts, **given: Any) -> ChatRequest:
    options = fields.object("options") or Fields({})
    streams(fields.body)
    limit = options.integer("num_predict", -2, 2**31 - 1)
    return ChatRequest(
        model=model_name(fields.body, facts),
        sampling=sampling(options),
        max_tokens=limit if limit and limit > 0 else None,
        stop=stop_texts(options),
        constraint=_constraint(fields),
        top_logprobs=_top_logprobs(fields),
        template_options=_thinking(fields),
        **given,
    )


def _thinking(fields: Fields) -> tuple[tuple[str, Any], ...]:
    think = fields.value("think")
    if think is None:
        return ()
    if not isinstance(think, bool | str):
        raise fields.wrong("think", "must be true, false or a word")
    if think in THINKING_EFFORTS:
        return template_options(Fields({"reasoning_effort": think}))
    return (("enable_thinking", think is not False),)


def _top_logprobs(fields: Fields) -> int | None:
    wanted, top = fields.flag("logprobs"), fields.integer("top_logprobs", 0, 20)
    return top or 0 if wanted else None


def _constraint(fields: Fields) -> Constraint | None:
    given = fields.value("format")
    if given in (None, ""):
        return None
    if given == "json":
        return Constraint("json_schema", '{"type": "object"}')
    if not isinstance(given, dict):
        raise fields.wrong("format", "must be json or a JSON schema")
    return Constraint("json_schema", json.dumps(sendable(given)))


def _messages(fields: Fields) -> tuple[Message, ...]:
    """Ollama's calls have no ids: results answer the oldest open call, of their name if given."""
    turns: list[Message] = []
    waiting: list[ToolCall] = []
    for at, item in enumerate(fields.list("messages")):
        turn = Fields(item, f"messages[{at}]")
        role: Any = turn.word("role", ROLES)
        if role is None:
            raise turn.wrong("role", "is missing")
        content = turn.text("content") or ""
        if role == "tool":
            call = _answered(turn, waiting)
            images = _images(turn)
            turns.append(Message("tool", content, images, tool_call_id=call.id, name=call.name))
            continue
        calls = _calls(turn, at)
        waiting.extend(calls)
        turns.append(Message(role, content, _images(turn), calls, reasoning=turn.text("thinking")))
    return tuple(turns)


def _answered(turn: Fields, waiting: list[ToolCall]) -> ToolCall:
    name = turn.text("tool_name") or turn.text("name")
    found = next((call for call in waiting if name in (None, call.name)), None)
    if found is None:
        raise turn.wrong("role", "is tool, but no earlier call waits for a result")
    waiting.remove(found)
    return found


def _calls(turn: Fields, at: int) -> tuple[ToolCall, ...]:
    calls = []
    for place, item in enumerate(turn.list("tool_calls")):
        function = Fields(item, turn.path(f"tool_calls[{place}]")).object("function")
        if function is None:
            raise turn.wrong(f"tool_calls[{place}].function", "is missing")
        given = function.value("arguments")
        text = given if isinstance(given, str) else json.dumps({} if given is None else given)
        arguments = arguments_of(text)
        calls.append(ToolCall(f"call_{at}_{place}", function.some_text("name"), arguments))
    return tuple(calls)


def _images(fields: Fields) -> tuple[Image, ...]:
    images = []
    for data in fields.list("images"):
        try:
            images.append(Image("image/png", base64.b64decode(data, validate=True)))
        except (binascii.Error, ValueError, TypeError):
            raise fields.wrong("images", "must be an array of base64 strings") from None
    return tuple(images)
