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
from server.protocols.frames import dumped, logprob, placed
from server.protocols.ollama.words import failed, line, said, worded

NANO = 1_000_000_000


async def render_chat(events: Events, body: Any, facts: Facts) -> Frames:
    async for event in events:
        _, inner = placed(event)
        shown = _chat_line(inner)
        if shown is not None:
            yield _frame({**line(body, facts), **shown})


async def render_generate(events: Events, body: Any, facts: Facts) -> Frames:
    async for event in events:
        _, inner = placed(event)
        shown = _generate_line(inner)
        if shown is not None:
            yield _frame({**line(body, facts), **shown})


async def collect_chat(events: Events, body: Any, facts: Facts) -> Reply:
    whole: Json = {}
    message = said("")
    async for event in events:
        _, inner = placed(event)
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
        _, inner = placed(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        shown = _generate_line(inner) or {}
        for name in ("response", "thinking"):
            text[name] += shown.pop(name, "")
        _gather(whole, shown)
    texts = {name: told for name, told in text.items() if told or name == "response"}
    return Reply({**line(body, facts), **whole, **texts})


def _chat_line(event: Event) -> Json | None:
    match event:
        case TextDelta(text, logprobs):
            return {"message": said(text), "done": False, **_logprobs(logprobs)}
        case ReasoningDelta(text):
            return {"message": {**said(""), "thinking": text}, "done": False}
        case ClientToolCall(call):
            function = {"name": call.name, "arguments": call.arguments}
            return {"message": {**said(""), "tool_calls": [{"function": function}]}, "done": False}
        case Finished(reason, usage):
            return {"message": said(""), **_ended(reason, usage)}
        case Failed(error):
            return {"error": worded(error), "done": True}
    return None


def _generate_line(event: Event) -> Json | None:
    match event:
        case TextDelta(text, logprobs):
            return {"response": text, "done": False, **_logprobs(logprobs)}
        case ReasoningDelta(text):
            return {"response": "", "thinking": text, "done": False}
        case Finished(reason, usage):
            return {"response": "", **_ended(reason, usage)}
        case Failed(error):
            return {"error": worded(error), "done": True}
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


def _ended(reason: str, usage: Usage) -> Json:
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
    return f"{dumped(line)}\n".encode("utf-8", "replace")
