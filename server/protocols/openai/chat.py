"""OpenAI's chat completions: POST /v1/chat/completions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from server.chat import ChatRequest, Json
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Events,
    Failed,
    Finished,
    PromptProgress,
    ReasoningDelta,
    StatusNote,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.protocols.base import KEEP_ALIVE, Endpoint, Facts, Frames, Reply
from server.protocols.constraints import (
    check_together,
    constraint_of,
    continues,
    refuse_what_is_not_done,
)
from server.protocols.fields import (
    Fields,
    model_name,
    sampling,
    stop_texts,
    streams,
    template_options,
    token_limit,
    wants_usage,
)
from server.protocols.frames import (
    DONE,
    Mould,
    chat_usage,
    dump,
    error_object,
    failed,
    head,
    logprob,
    split_choice,
    sse,
    step,
    sum_usage,
    warnings_field,
)
from server.protocols.messages import (
    choice_of,
    function_tool,
    hosted_names,
    left_out,
    listed_tools,
    messages_of,
    several_calls,
    tools_of,
)

MOST_CHOICES = 16


def accept(body: Any, facts: Facts) -> ChatRequest:
    """Answers a conversation in the format of OpenAI's chat completions."""
    fields = Fields(body)
    refuse_what_is_not_done(fields, echo=(False,))
    tools, choice = _tools(fields)
    streams(body)
    wants_usage(fields)
    messages = messages_of(fields)
    constraint = constraint_of(fields)
    check_together(constraint, tools, choice)
    return ChatRequest(
        messages=messages,
        model=model_name(fields, facts),
        tools=tools,
        tool_choice=choice,
        parallel_calls=not _is_legacy(body)
        and several_calls(fields.flag("parallel_tool_calls"), tools, choice),
        sampling=sampling(fields),
        max_tokens=token_limit(fields, "max_completion_tokens", "max_tokens", "n_predict"),
        stop=stop_texts(fields),
        constraint=constraint,
        top_logprobs=_top_logprobs(fields),
        choices=fields.integer("n", 1, MOST_CHOICES) or 1,
        continues=continues(fields, messages),
        template_options=template_options(fields),
        client=fields.text("user") or "",
        warnings=_warnings(fields),
    )


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    chunks = _Chunks(body, facts)
    for index in range(Fields(body).integer("n", 1, MOST_CHOICES) or 1):
        yield chunks.frame(index, {"role": "assistant", "content": ""})
    async for event in events:
        index, inner = split_choice(event)
        if isinstance(inner, Failed):
            yield sse({"error": error_object(inner.error)})
            return
        for frame in chunks.frames(index, inner):
            yield frame
    if chunks.wants_usage:
        yield chunks.last()
    yield DONE


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    answers: dict[int, _Answer] = {}
    async for event in events:
        index, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        answers.setdefault(index, _Answer()).see(inner)
    legacy = _is_legacy(body)
    choices = [answers[index].choice(index, legacy=legacy) for index in sorted(answers)]
    usage = sum_usage([answers[index].usage for index in sorted(answers)])
    return Reply(
        {**_head("chat.completion", body, facts), "choices": choices, "usage": chat_usage(usage)}
    )


@dataclass
class _Answer:
    """Collects the events of one choice."""

    text: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[str, Json] = field(default_factory=dict)
    ids: dict[int, str] = field(default_factory=dict)
    logprobs: list[Json] = field(default_factory=list)
    reason: str = "stop"
    usage: Usage = field(default_factory=Usage)

    def see(self, event: Event) -> None:
        match event:
            case TextDelta(text, logprobs):
                self.text.append(text)
                self.logprobs.extend(map(logprob, logprobs))
            case ReasoningDelta(text):
                self.thoughts.append(text)
            case CallOpened(index, call_id, name):
                self.ids[index] = call_id
                self.calls[call_id] = {"name": name, "arguments": ""}
            case CallArguments(index, text):
                self.calls[self.ids[index]]["arguments"] += text
            case ClientToolCall(call) if call.id not in self.calls:
                self.calls[call.id] = {"name": call.name, "arguments": dump(call.arguments)}
            case Finished(reason, usage):
                self.reason, self.usage = reason, usage

    def choice(self, index: int, *, legacy: bool) -> Json:
        content = "".join(self.text)
        message: Json = {"role": "assistant", "content": content, "refusal": None}
        if self.thoughts:
            message["reasoning_content"] = "".join(self.thoughts)
        reason = self.reason
        if self.calls:
            message["content"] = content or None
            if legacy:
                message["function_call"] = next(iter(self.calls.values()))
                reason = "function_call" if reason == "tool_calls" else reason
            else:
                message["tool_calls"] = [
                    {"id": call_id, "type": "function", "function": function}
                    for call_id, function in self.calls.items()
                ]
        return {
            "index": index,
            "message": message,
            "logprobs": {"content": self.logprobs, "refusal": None} if self.logprobs else None,
            "finish_reason": reason,
        }


class _Chunks:
    """Makes the chunks of one stream.

    All have the same id and time. The calls of each choice are numbered from 0.
    """

    def __init__(self, body: Any, facts: Facts) -> None:
        self._head = _head("chat.completion.chunk", body, facts)
        self._legacy = _is_legacy(body)
        self._opened: dict[int, list[str]] = {}
        self._places: dict[tuple[int, int], int] = {}
        self._usages: list[Usage] = []
        self._moulds: dict[int, Mould] = {}
        self.wants_usage = wants_usage(Fields(body))

    def frames(self, index: int, event: Event) -> Iterator[bytes]:
        match event:
            case TextDelta(text, ()):
                yield self._text(index, text)
            case TextDelta(text, logprobs):
                yield self.frame(index, {"content": text}, logprobs=logprobs)
            case ReasoningDelta(text):
                yield self.frame(index, {"reasoning_content": text})
            case CallOpened(place, call_id, name):
                self._places[index, place] = self._place(index, call_id)
                yield self._call(index, self._places[index, place], call_id, name)
            case CallArguments(place, text):
                yield self._arguments(index, self._places[index, place], text)
            case ClientToolCall(call) if call.id not in self._opened.get(index, []):
                place = self._place(index, call.id)
                yield self._call(index, place, call.id, call.name)
                yield self._arguments(index, place, dump(call.arguments))
            case Finished(reason, usage):
                self._usages.append(usage)
                legacy = self._legacy and reason == "tool_calls"
                yield self.frame(index, {}, "function_call" if legacy else reason)
            case PromptProgress():
                yield KEEP_ALIVE
            case StatusNote(message):
                yield step(message)

    def frame(
        self,
        index: int,
        delta: Json,
        reason: str | None = None,
        logprobs: tuple[TokenLogprob, ...] = (),
    ) -> bytes:
        shown = {"content": list(map(logprob, logprobs)), "refusal": None} if logprobs else None
        choice = {"index": index, "delta": delta, "logprobs": shown, "finish_reason": reason}
        no_usage = {"usage": None} if self.wants_usage else {}
        return sse({**self._head, "choices": [choice], **no_usage})

    def _text(self, index: int, text: str) -> bytes:
        if index not in self._moulds:
            self._moulds[index] = Mould(lambda mark: self.frame(index, {"content": mark}))
        return self._moulds[index].frame(text)

    def last(self) -> bytes:
        return sse({**self._head, "choices": [], "usage": chat_usage(sum_usage(self._usages))})

    def _place(self, index: int, call_id: str) -> int:
        opened = self._opened.setdefault(index, [])
        opened.append(call_id)
        return len(opened) - 1

    def _call(self, index: int, place: int, call_id: str, name: str) -> bytes:
        function = {"name": name, "arguments": ""}
        if self._legacy:
            return self.frame(index, {"function_call": function})
        call = {"index": place, "id": call_id, "type": "function", "function": function}
        return self.frame(index, {"tool_calls": [call]})

    def _arguments(self, index: int, place: int, text: str) -> bytes:
        if self._legacy:
            return self.frame(index, {"function_call": {"arguments": text}})
        return self.frame(
            index, {"tool_calls": [{"index": place, "function": {"arguments": text}}]}
        )


def _head(kind: str, body: Any, facts: Facts) -> Json:
    return head("chatcmpl", kind, body, facts) | warnings_field(_warnings(Fields(body)))


def _is_legacy(body: Any) -> bool:
    return not body.get("tools") and bool(body.get("functions"))


def _tools(fields: Fields) -> tuple[tuple[Any, ...], Any]:
    if not _is_legacy(fields.body):
        given = fields.value("tool_choice")
        return choice_of(given, tools_of(fields), hosted=hosted_names(fields))
    tools = listed_tools(fields, function_tool, "functions")
    return choice_of(fields.value("function_call"), tools, "function_call")


def _warnings(fields: Fields) -> tuple[str, ...]:
    return left_out(fields, "web_search_options")


def _top_logprobs(fields: Fields) -> int | None:
    top = fields.integer("top_logprobs", 0, 20)
    if fields.flag("logprobs"):
        return top or 0
    if top is not None:
        raise fields.wrong("top_logprobs", "needs 'logprobs': true")
    return None


ENDPOINTS = (
    Endpoint("POST", "/v1/chat/completions", accept, render, collect, streams, failed=failed),
)
