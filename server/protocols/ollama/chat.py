"""Ollama's chat and generate: reads their requests, and writes events as lines of JSON."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from server.chat import ChatRequest, Constraint, Image, Json, Message, ToolCall
from server.errors import BadRequest
from server.events import (
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.protocols.base import Ask, Facts, Frames, Manage, Managed, ModelKeeper, Reply
from server.protocols.fields import (
    THINKING_EFFORTS,
    Fields,
    sampling,
    sendable,
    stop_texts,
    template_options,
)
from server.protocols.frames import logprob, split_choice
from server.protocols.messages import arguments_of, tools_of
from server.protocols.ollama.words import (
    assistant_message,
    can_think,
    card_named,
    error_text,
    failed,
    frame,
    keep_alive,
    line,
    model_name,
    refuse,
)

ROLES = ("system", "user", "assistant", "tool")
EFFORTS = ("low", "medium", "high", "max")
NEITHER = {
    "template": "a model's own template is used.",
    "suffix": "Moat does not fill in text between two others here.",
    "context": "send the conversation to /api/chat.",
    "_debug_render_only": "ask /apply-template.",
}
"""Fields that are refused, with the end of the error message."""
BESIDE_RAW = ("system", "images")
UNKNOWN_OPTIONS = {"tfs_z": "it is no longer part of the engine."}


def accept_chat(body: Any, facts: Facts) -> ChatRequest | Ask | Manage:
    """Answers a conversation. Without messages, loads the model, or unloads it (`keep_alive` 0)."""
    fields = Fields(body)
    refuse(fields, {"_debug_render_only": NEITHER["_debug_render_only"]})
    messages = _messages(fields)
    if not messages:
        return _load(fields, facts, {"message": assistant_message("")})
    request = _request(fields, facts, messages=messages, tools=tools_of(fields))
    return _if_it_thinks(fields, facts, request)


def accept_generate(body: Any, facts: Facts) -> ChatRequest | Ask | Manage:
    """Answers one prompt. Without a prompt, loads the model, or unloads it (`keep_alive` 0)."""
    fields = Fields(body)
    refuse(fields, NEITHER)
    prompt = fields.text("prompt") or ""
    if not prompt:
        return _load(fields, facts, {"response": ""})
    if fields.flag("raw"):
        refuse(fields, dict.fromkeys(BESIDE_RAW, "'raw' sends the prompt alone."))
        return _if_it_thinks(fields, facts, _request(fields, facts, prompt=prompt))
    system = fields.text("system")
    before = [Message("system", system)] if system else []
    messages = (*before, Message("user", prompt, _images(fields)))
    return _if_it_thinks(fields, facts, _request(fields, facts, messages=messages))


def _load(fields: Fields, facts: Facts, empty: Json) -> ChatRequest | Ask | Manage:
    """Loads the model, or unloads it if `keep_alive` is 0. Replies with the `empty` answer."""
    model, keep_s = model_name(fields.body, facts), keep_alive(fields)

    def reply(reason: str) -> Reply:
        done = {**empty, "done": True, "done_reason": reason}
        return Reply({**line(fields.body, facts), **done})

    async def unload(keeper: ModelKeeper) -> Managed:
        keeper.keep(card_named(model or facts.default_model, facts), 0.0)
        return reply("unload")

    if keep_s == 0:
        return Manage(unload)
    load = Ask("load", model, {}, lambda _loaded: reply("load"), keep_s)
    return _if_it_thinks(fields, facts, load)


def _if_it_thinks(
    fields: Fields, facts: Facts, asked: ChatRequest | Ask
) -> ChatRequest | Ask | Manage:
    """Refuses a request with `think` if the model cannot think."""
    if not fields.value("think") or not facts.models:
        return asked
    card = card_named(asked.model or facts.default_model, facts)

    async def check(keeper: ModelKeeper) -> Managed:
        if not can_think(await keeper.header(card)):
            raise BadRequest(f"'{card.name}' does not support thinking.", "think")
        return asked

    return Manage(check)


def streams(body: Any) -> bool:
    return Fields(body).flag("stream") is not False


def _request(fields: Fields, facts: Facts, **given: Any) -> ChatRequest:
    options = fields.object("options") or Fields({})
    refuse(options, UNKNOWN_OPTIONS)
    streams(fields.body)
    limit = options.integer("num_predict", -(2**31), 2**31 - 1)
    wants_logprobs, top = fields.flag("logprobs"), fields.integer("top_logprobs", 0, 20)
    return ChatRequest(
        model=model_name(fields.body, facts),
        sampling=sampling(options),
        max_tokens=limit if limit and limit > 0 else None,
        stop=stop_texts(options),
        constraint=_constraint(fields),
        top_logprobs=(top or 0) if wants_logprobs else None,
        template_options=_thinking(fields),
        keep_s=keep_alive(fields),
        **given,
    )


def _thinking(fields: Fields) -> tuple[tuple[str, Any], ...]:
    think = fields.value("think")
    if think is None:
        return ()
    if isinstance(think, bool):
        return (("enable_thinking", think),)
    if think not in (*EFFORTS, *THINKING_EFFORTS):
        raise fields.wrong("think", "must be true, false or one of: " + ", ".join(EFFORTS))
    return template_options(Fields({"reasoning_effort": "high" if think == "max" else think}))


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
    """Reads the messages and matches tool results to calls.

    Ollama's calls have no ids. A result answers the oldest open call; if it names a tool, the
    oldest open call of that tool.
    """
    turns: list[Message] = []
    waiting: list[ToolCall] = []
    for at, turn in enumerate(fields.objects("messages")):
        role = turn.some_word("role", ROLES)
        content = turn.text("content") or ""
        if role == "tool":
            call = _call_answered(turn, waiting)
            images = _images(turn)
            turns.append(Message("tool", content, images, tool_call_id=call.id, name=call.name))
            continue
        calls = _calls(turn, at)
        waiting.extend(calls)
        turns.append(Message(role, content, _images(turn), calls, reasoning=turn.text("thinking")))
    return tuple(turns)


def _call_answered(turn: Fields, waiting: list[ToolCall]) -> ToolCall:
    name = turn.text("tool_name") or turn.text("name")
    found = next((call for call in waiting if name in (None, call.name)), None)
    if found is None:
        raise turn.wrong("role", "is tool, but no earlier call waits for a result")
    waiting.remove(found)
    return found


def _calls(turn: Fields, at: int) -> tuple[ToolCall, ...]:
    calls = []
    for place, item in enumerate(turn.objects("tool_calls")):
        function = item.some_object("function")
        given = function.value("arguments")
        text = given if isinstance(given, str) else json.dumps({} if given is None else given)
        arguments = arguments_of(text)
        calls.append(ToolCall(f"call_{at}_{place}", function.some_text("name"), arguments))
    return tuple(calls)


def _images(fields: Fields) -> tuple[Image, ...]:
    problem = "must be an array of base64 strings"
    decoded = (fields.decode(data, "images", problem) for data in fields.list("images"))
    return tuple(Image("image/png", data) for data in decoded)


NANO = 1_000_000_000


async def _render(
    show: Callable[[Event], Json | None], events: Events, body: Any, facts: Facts
) -> Frames:
    async for event in events:
        _, inner = split_choice(event)
        shown = show(inner)
        if shown is not None:
            yield frame({**line(body, facts), **shown})


async def collect_chat(events: Events, body: Any, facts: Facts) -> Reply:
    whole: Json = {}
    message = assistant_message("")
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        shown = _chat_line(inner) or {}
        _join(message, shown.pop("message", {}))
        _gather(whole, shown)
    return Reply({**line(body, facts), **whole, "message": message})


async def collect_generate(events: Events, body: Any, facts: Facts) -> Reply:
    collected = await collect_chat(events, body, facts)
    if "message" not in collected.body:
        return collected
    message = collected.body.pop("message")
    return Reply({**collected.body, **_as_response(message)})


def _chat_line(event: Event) -> Json | None:
    match event:
        case TextDelta(text, logprobs):
            return {"message": assistant_message(text), "done": False, **_logprobs(logprobs)}
        case ReasoningDelta(text):
            return {"message": {**assistant_message(""), "thinking": text}, "done": False}
        case ClientToolCall(call):
            function = {"name": call.name, "arguments": call.arguments}
            return {
                "message": {**assistant_message(""), "tool_calls": [{"function": function}]},
                "done": False,
            }
        case Finished(reason, usage):
            return {"message": assistant_message(""), **_end_fields(reason, usage)}
        case Failed(error):
            return {"error": error_text(error), "done": True}
    return None


def _generate_line(event: Event) -> Json | None:
    shown = None if isinstance(event, ClientToolCall) else _chat_line(event)
    message = shown.pop("message", None) if shown else None
    return {**_as_response(message), **shown} if shown and message else shown


def _as_response(message: Json) -> Json:
    """Converts a chat message to the fields of `/api/generate`."""
    thinking = {"thinking": message["thinking"]} if "thinking" in message else {}
    return {"response": message["content"], **thinking}


render_chat = partial(_render, _chat_line)
render_generate = partial(_render, _generate_line)


def _logprobs(tokens: tuple[TokenLogprob, ...]) -> Json:
    return {"logprobs": list(map(logprob, tokens))} if tokens else {}


def _gather(whole: Json, shown: Json) -> None:
    logprobs = [*whole.get("logprobs", []), *shown.get("logprobs", [])]
    whole.update(shown)
    if logprobs:
        whole["logprobs"] = logprobs


def _join(message: Json, more: Json) -> None:
    for name in ("content", "thinking"):
        if more.get(name):
            message[name] = message.get(name, "") + more[name]
    if "tool_calls" in more:
        message["tool_calls"] = [*message.get("tool_calls", []), *more["tool_calls"]]


def _end_fields(reason: str, usage: Usage) -> Json:
    return {
        "done": True,
        "done_reason": "length" if reason == "length" else "stop",
        "total_duration": int((usage.prompt_s + usage.decode_s) * NANO),
        "load_duration": 0,
        "prompt_eval_count": usage.prompt_tokens,
        "prompt_eval_duration": int(usage.prompt_s * NANO),
        "eval_count": usage.completion_tokens,
        "eval_duration": int(usage.decode_s * NANO),
    }
