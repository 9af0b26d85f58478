"""POST /v1/responses, and the answers remembered for previous_response_id."""

import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

from server.chat import ChatRequest, Json, Message
from server.errors import AppError
from server.events import Events, Failed, PromptProgress
from server.protocols.base import KEEP_ALIVE, Endpoint, Facts, Frames, Reply
from server.protocols.fields import (
    THINKING_EFFORTS,
    Fields,
    json_constraint,
    model_name,
    sampling,
    template_options,
    token_limit,
)
from server.protocols.frames import placed, sse
from server.protocols.messages import choice_of, several_calls
from server.protocols.openai.errors import error_object, failed
from server.protocols.openai.response_items import input_messages, response_tools
from server.protocols.openai.response_output import Output

MOST_REMEMBERED = 200
ECHOED = ("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "reasoning",
          "previous_response_id", "text", "truncation", "user")  # fmt: skip


class ResponseNotFound(AppError):
    code = "response_not_found"
    status = 404

    def __init__(self, response_id: str) -> None:
        super().__init__(f"There is no response '{response_id}' here any more.")
        self.param = "previous_response_id"


@dataclass
class Memory:
    """The last responses and the conversations that led to them. Gone when the server stops."""

    kept: OrderedDict[str, tuple[Json, tuple[Message, ...]]] = field(default_factory=OrderedDict)

    def keep(self, response: Json, messages: tuple[Message, ...]) -> None:
        self.kept[response["id"]] = (response, messages)
        while len(self.kept) > MOST_REMEMBERED:
            self.kept.popitem(last=False)

    def find(self, response_id: str) -> tuple[Json, tuple[Message, ...]]:
        if response_id not in self.kept:
            raise ResponseNotFound(response_id)
        return self.kept[response_id]


def accept(memory: Memory, body: Any, facts: Facts) -> ChatRequest:
    fields = Fields(body)
    streams(body)
    fields.flag("store")
    earlier = fields.text("previous_response_id")
    known = memory.find(earlier)[1] if earlier else ()
    tools, choice = choice_of(fields.value("tool_choice"), response_tools(fields))
    text = fields.object("text")
    return ChatRequest(
        messages=input_messages(fields, known),
        model=model_name(fields, facts),
        tools=tools,
        tool_choice=choice,
        parallel_calls=several_calls(fields.flag("parallel_tool_calls"), tools, choice),
        sampling=sampling(fields),
        max_tokens=token_limit(fields, "max_output_tokens"),
        constraint=json_constraint(text.object("format")) if text else None,
        top_logprobs=_top_logprobs(fields),
        template_options=_options(fields),
        client=fields.text("user") or "",
    )


def streams(body: Any) -> bool:
    return Fields(body).flag("stream") is True


async def render(memory: Memory, events: Events, body: Any, facts: Facts) -> Frames:
    output = Output(_head(body, facts))
    for told in output.begin():
        yield sse(told, told["type"])
    async for event in events:
        _, inner = placed(event)
        if isinstance(inner, Failed):
            told = output.failed(error_object(inner.error))
            yield sse(told, told["type"])
            return
        if isinstance(inner, PromptProgress):
            yield KEEP_ALIVE
        for told in output.see(inner):
            yield sse(told, told["type"])
    _remember(memory, output, body, facts)


async def collect(memory: Memory, events: Events, body: Any, facts: Facts) -> Reply:
    output = Output(_head(body, facts))
    async for event in events:
        _, inner = placed(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        for _ in output.see(inner):
            continue
    _remember(memory, output, body, facts)
    return Reply(output.response)


def recall(memory: Memory, _body: Any, facts: Facts) -> Reply:
    return Reply(memory.find(facts.path["id"])[0])


def forget(memory: Memory, _body: Any, facts: Facts) -> Reply:
    response, _ = memory.find(facts.path["id"])
    del memory.kept[response["id"]]
    return Reply({"id": response["id"], "object": "response", "deleted": True})


def _remember(memory: Memory, output: Output, body: Any, facts: Facts) -> None:
    if Fields(body).flag("store") is not False:
        # Instructions hold for one response only; whatever else was said is kept.
        own = {name: value for name, value in body.items() if name != "instructions"}
        # What it went on from may be deleted by now; the answer is as good without being kept.
        with suppress(ResponseNotFound):
            messages = accept(memory, own, facts).messages
            memory.keep(output.response, (*messages, output.said()))


def _options(fields: Fields) -> tuple[tuple[str, Any], ...]:
    reasoning = fields.object("reasoning")
    effort = reasoning.word("effort", THINKING_EFFORTS) if reasoning else None
    return template_options(Fields({**fields.body, "reasoning_effort": effort}))


def _top_logprobs(fields: Fields) -> int | None:
    top = fields.integer("top_logprobs", 0, 20)
    wanted = "message.output_text.logprobs" in fields.list("include")
    return top or 0 if wanted else None


def _head(body: Any, facts: Facts) -> Json:
    echoed: Json = {name: body.get(name) for name in ECHOED}
    return {
        **echoed,
        "id": "resp_" + uuid4().hex,
        "object": "response",
        "created_at": int(time.time()),
        "model": body.get("model") or facts.default_model,
        "error": None,
        "incomplete_details": None,
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "usage": None,
    }


def endpoints(memory: Memory) -> tuple[Endpoint, ...]:
    return (
        Endpoint(
            "POST",
            "/v1/responses",
            partial(accept, memory),
            partial(render, memory),
            partial(collect, memory),
            streams,
            failed=failed,
        ),
        Endpoint("GET", "/v1/responses/{id}", partial(recall, memory), failed=failed),
        Endpoint("DELETE", "/v1/responses/{id}", partial(forget, memory), failed=failed),
    )


ENDPOINTS = endpoints(Memory())
