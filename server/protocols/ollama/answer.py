"""Our events as Ollama's lines."""

from collections import defaultdict
from typing import Any

from server.chat import Json
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
from server.protocols.base import Facts, Frames, Reply
from server.protocols.frames import dump, logprob, split_choice
from server.protocols.ollama.words import assistant_message, error_text, failed, line

NANO = 1_000_000_000


async def render_chat(events: Events, body: Any, facts: Facts) -> Frames:
    async for event in events:
        _, inner = split_choice(event)
        shown = _chat_line(inner)
        if shown is not None:
            yield _frame({**line(body, facts), **shown})


async def render_generate(events: Events, body: Any, facts: Facts) -> Frames:
    async for event in events:
        _, inner = split_choice(event)
        shown = _generate_line(inner)
        if shown is not None:
            yield _frame({**line(body, facts), **shown})


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
    whole: Json = {}
    text: defaultdict[str, str] = defaultdict(str)
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        shown = _generate_line(inner) or {}
        for name in ("response", "thinking"):
            text[name] += shown.pop(name, "")
        _gather(whole, shown)
    texts = {name: value for name, value in text.items() if value or name == "response"}
    return Reply({**line(body, facts), **whole, **texts})


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
    match event:
        case TextDelta(text, logprobs):
            return {"response": text, "done": False, **_logprobs(logprobs)}
        case ReasoningDelta(text):
            return {"response": "", "thinking": text, "done": False}
        case Finished(reason, usage):
            return {"response": "", **_end_fields(reason, usage)}
        case Failed(error):
            return {"error": error_text(error), "done": True}
    return None


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


def _frame(line: Json) -> bytes:
    return f"{dump(line)}\n".encode("utf-8", "replace")
