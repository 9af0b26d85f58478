"""OpenAI's Responses API.

Responses are kept in memory, so that a client can read them again and continue them with
`previous_response_id`.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from server.chat import ChatRequest, Constraint, Json, Message, Tool, ToolCall
from server.conversation.threads import KeptResponse
from server.errors import AppError, BadRequest
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
    Usage,
)
from server.protocols.base import Ask, Cancel, Endpoint, Facts, Frames, Reply
from server.protocols.constraints import (
    check_together,
    constraint_of,
    format_constraint,
    refuse_what_is_not_done,
)
from server.protocols.fields import (
    THINKING_EFFORTS,
    Fields,
    model_name,
    sampling,
    streams,
    template_options,
    token_limit,
)
from server.protocols.frames import (
    dump,
    error_object,
    failed,
    logprob,
    see_all,
    split_choice,
    sse,
    step,
    warnings_field,
)
from server.protocols.messages import (
    arguments_of,
    choice_of,
    function_tool,
    hosted_names,
    left_out,
    listed_tools,
    parts_of,
    several_calls,
    token_count,
)

ROLES = ("system", "developer", "user", "assistant")


def input_messages(fields: Fields, earlier: tuple[Message, ...]) -> tuple[Message, ...]:
    """Returns the conversation: the instructions, the earlier messages, and the new input."""
    instructions = fields.text("instructions")
    messages = [Message("system", instructions)] if instructions else []
    messages += earlier
    given = fields.value("input")
    if isinstance(given, str) and given:
        return (*messages, Message("user", given))
    if not isinstance(given, list) or not given:
        raise fields.wrong("input", "must be a string or an array of items, and not empty")
    thought = ""
    for item in fields.objects("input"):
        if item.value("type") == "reasoning":
            # Items from other servers may have only a summary of the reasoning.
            parts = item.list("content") or item.list("summary")
            thought += "".join(Fields(part).text("text") or "" for part in parts)
            continue
        _add(messages, item)
        if thought and messages[-1].role == "assistant":
            messages[-1] = replace(messages[-1], reasoning=(messages[-1].reasoning or "") + thought)
        thought = ""
    return tuple(messages)


def input_items(given: Any, response_id: str) -> tuple[Json, ...]:
    """Returns the input of a request as items, each with a type and an id."""
    items = given if isinstance(given, list) else [{"role": "user", "content": given}]
    return tuple(
        _as_item({"id": f"item_{response_id.removeprefix('resp_')}_{at}", **item})
        for at, item in enumerate(items)
    )


def _as_item(item: Json) -> Json:
    kind = item.get("type") or "message"
    content = item.get("content")
    if kind != "message" or not isinstance(content, str):
        return {**item, "type": kind}
    is_answer = item.get("role") == "assistant"
    part: Json = {"type": "output_text" if is_answer else "input_text", "text": content}
    part |= {"annotations": []} if is_answer else {}
    return {**item, "type": kind, "status": "completed", "content": [part]}


def flatten(body: Any) -> Any:
    """Returns the request with the functions of namespaces among its tools. Codex groups the tools
    of each MCP server in a namespace; the model knows such a tool by one name made of both."""
    tools = body.get("tools") if isinstance(body, dict) else None
    if not isinstance(tools, list):
        return body
    return {**body, "tools": [tool for given in tools for tool in _members(given)]}


def namespaces(body: Any) -> dict[str, tuple[str, str]]:
    """Returns the namespace and the own name of each function that is in one, by its full name."""
    return {
        _full_name(group["name"], tool["name"]): (group["name"], tool["name"])
        for group in filter(_is_namespace, body.get("tools") or ())
        for tool in filter(_is_function, group["tools"])
    }


def _members(tool: Any) -> list[Any]:
    if not _is_namespace(tool):
        return [tool]
    return [
        {**member, "name": _full_name(tool["name"], member["name"])}
        if _is_function(member)
        else member
        for member in tool["tools"]
    ]


def _is_namespace(tool: Any) -> bool:
    return (
        isinstance(tool, dict)
        and tool.get("type") == "namespace"
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("tools"), list)
    )


def _is_function(tool: Any) -> bool:
    return (
        isinstance(tool, dict)
        and tool.get("type") == "function"
        and isinstance(tool.get("name"), str)
    )


def _full_name(namespace: str | None, name: str) -> str:
    if not namespace:
        return name
    return f"{namespace}{name}" if namespace.endswith("__") else f"{namespace}__{name}"


def _tool(fields: Fields) -> Tool:
    if fields.value("type") != "function":
        raise fields.wrong("type", "is missing")
    return function_tool(fields)


def _add(messages: list[Message], item: Fields) -> None:
    kind = item.value("type") or "message"
    if kind == "message":
        messages.append(_message(item))
    elif kind == "function_call":
        name, call_id = item.some_text("name"), item.some_text("call_id")
        known_as = _full_name(item.text("namespace"), name)
        call = ToolCall(call_id, known_as, arguments_of(item.text("arguments") or ""))
        if messages and messages[-1].role == "assistant":
            messages[-1] = replace(messages[-1], tool_calls=(*messages[-1].tool_calls, call))
        else:
            messages.append(Message("assistant", "", tool_calls=(call,)))
    elif kind == "function_call_output":
        messages.append(_result(messages, item))
    else:
        raise item.wrong("type", "is not supported here")


def _message(item: Fields) -> Message:
    role = item.some_word("role", ROLES)
    if item.value("content") is None:
        raise item.wrong("content", "is missing")
    content, images = parts_of(item)
    return Message("system" if role == "developer" else role, content, images)


def _result(messages: list[Message], item: Fields) -> Message:
    call_id = item.some_text("call_id")
    calls = {call.id: call.name for message in messages for call in message.tool_calls}
    if call_id not in calls:
        raise item.wrong("call_id", "must name an earlier function_call")
    content, images = parts_of(item, "output")
    return Message("tool", content, images, tool_call_id=call_id, name=calls[call_id])


TEXT_KINDS = {"message": "output_text", "reasoning": "reasoning_text"}


class Output:
    """The items of a response as they grow. `see` takes our events and yields the stream's."""

    def __init__(self, head: Json, in_namespaces: dict[str, tuple[str, str]]) -> None:
        """`in_namespaces`: the namespace and the own name of a tool, by the model's name for it."""
        self.response: Json = {**head, "output": [], "status": "in_progress"}
        self._in_namespaces = in_namespaces
        self._sequence = 0
        self._places: dict[int, int] = {}
        self._open: int | None = None

    @property
    def items(self) -> list[Json]:
        items: list[Json] = self.response["output"]
        return items

    def begin(self) -> Iterator[Json]:
        yield self._event("response.created", response=dict(self.response))
        yield self.go_on()

    def go_on(self) -> Json:
        """Returns an event without news, to be sent while the prompt is read.

        Codex gives up a stream after five minutes of comments only, and large prompts take longer.
        """
        return self._event("response.in_progress", response=dict(self.response))

    def see(self, event: Event) -> Iterator[Json]:
        match event:
            case TextDelta(text, logprobs):
                yield from self._text("message", text, list(map(logprob, logprobs)))
            case ReasoningDelta(text):
                yield from self._text("reasoning", text, [])
            case CallOpened(index, call_id, name):
                yield from self._call(call_id, name)
                self._places[index] = len(self.items) - 1
            case CallArguments(index, text):
                yield from self._arguments(self._places[index], text)
            case ClientToolCall(call) if all(item.get("call_id") != call.id for item in self.items):
                yield from self._call(call.id, call.name)
                yield from self._arguments(len(self.items) - 1, dump(call.arguments))
            case Finished(reason, usage):
                yield from self._finish(reason, usage)

    def as_message(self) -> Message:
        """Returns the answer as a message of the conversation, for the next request."""
        calls = tuple(
            ToolCall(
                item["call_id"],
                _full_name(item.get("namespace"), item["name"]),
                arguments_of(item["arguments"]),
            )
            for item in self.items
            if item["type"] == "function_call"
        )
        thought = self._text_of("reasoning") or None
        return Message("assistant", self._text_of("message"), tool_calls=calls, reasoning=thought)

    def _text_of(self, kind: str) -> str:
        items = (item for item in self.items if item["type"] == kind)
        return "".join(part["text"] for item in items for part in item["content"])

    def _text(self, kind: str, text: str, logprobs: list[Json]) -> Iterator[Json]:
        if self._open is None or self.items[self._open]["type"] != kind:
            yield from self._add(_text_item(kind))
            yield self._event("response.content_part.added", part=_part(kind), **self._at())
        part = self._part()
        part["text"] += text
        if kind == "message":
            part["logprobs"] += logprobs
            yield self._event(
                "response.output_text.delta", delta=text, logprobs=logprobs, **self._at()
            )
        else:
            yield self._event("response.reasoning_text.delta", delta=text, **self._at())

    def _call(self, call_id: str, name: str) -> Iterator[Json]:
        namespace, name = self._in_namespaces.get(name, ("", name))
        item = {
            "id": "fc_" + uuid4().hex,
            "type": "function_call",
            "call_id": call_id,
            "name": name,
            **({"namespace": namespace} if namespace else {}),
            "arguments": "",
            "status": "in_progress",
        }
        yield from self._add(item)

    def _arguments(self, place: int, text: str) -> Iterator[Json]:
        item = self.items[place]
        item["arguments"] += text
        yield self._event(
            "response.function_call_arguments.delta",
            delta=text,
            item_id=item["id"],
            output_index=place,
        )

    def _add(self, item: Json) -> Iterator[Json]:
        yield from self._close("completed")
        self.items.append(item)
        self._open = len(self.items) - 1
        shown = {**item, "content": []} if "content" in item else dict(item)
        yield self._event("response.output_item.added", item=shown, output_index=self._open)

    def _close(self, status: str) -> Iterator[Json]:
        if self._open is None:
            return
        item = self.items[self._open]
        item["status"] = status
        if item["type"] == "function_call":
            yield self._event(
                "response.function_call_arguments.done",
                arguments=item["arguments"],
                name=item["name"],
                item_id=item["id"],
                output_index=self._open,
            )
        else:
            yield from self._close_text(item["type"])
        yield self._event("response.output_item.done", item=dict(item), output_index=self._open)
        self._open = None

    def _close_text(self, kind: str) -> Iterator[Json]:
        part = self._part()
        more = {"logprobs": part["logprobs"]} if kind == "message" else {}
        name = TEXT_KINDS[kind]
        yield self._event(f"response.{name}.done", text=part["text"], **self._at(), **more)
        yield self._event("response.content_part.done", part=dict(part), **self._at())

    def _finish(self, reason: str, usage: Usage) -> Iterator[Json]:
        cut = reason == "length"
        yield from self._close("incomplete" if cut else "completed")
        self.response["status"] = "incomplete" if cut else "completed"
        if cut:
            self.response["incomplete_details"] = {"reason": "max_output_tokens"}
        self.response["usage"] = _usage(usage)
        yield self._event(f"response.{self.response['status']}", response=dict(self.response))

    def failed(self, error: Json) -> Json:
        if self.response["status"] != "cancelled":
            self.response["status"] = "failed"
            self.response["error"] = {"code": "server_error", "message": error["message"]}
        return self._event("response.failed", response=dict(self.response))

    def _at(self) -> Json:
        assert self._open is not None
        return {
            "item_id": self.items[self._open]["id"],
            "output_index": self._open,
            "content_index": 0,
        }

    def _part(self) -> Json:
        assert self._open is not None
        part: Json = self.items[self._open]["content"][0]
        return part

    def _event(self, kind: str, **data: Any) -> Json:
        self._sequence += 1
        return {"type": kind, "sequence_number": self._sequence - 1, **data}


def _text_item(kind: str) -> Json:
    if kind == "reasoning":
        return {
            "id": "rs_" + uuid4().hex,
            "type": kind,
            "summary": [],
            "content": [_part(kind)],
            "status": "in_progress",
        }
    return {
        "id": "msg_" + uuid4().hex,
        "type": kind,
        "role": "assistant",
        "content": [_part(kind)],
        "status": "in_progress",
    }


def _part(kind: str) -> Json:
    if kind == "reasoning":
        return {"type": "reasoning_text", "text": ""}
    return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.prompt_tokens + usage.completion_tokens,
    }


ECHOED = ("instructions", "metadata", "temperature", "top_p", "max_output_tokens", "reasoning",
          "previous_response_id", "text", "truncation", "user")  # fmt: skip
ENDED = ("completed", "incomplete", "cancelled")


class ResponseNotFound(AppError):
    code = "response_not_found"
    status = 404

    def __init__(self, response_id: str, param: str | None = None) -> None:
        super().__init__(f"There is no response '{response_id}' here any more.")
        self.param = param


def accept(body: Any, facts: Facts) -> ChatRequest:
    """Answers a conversation in the format of OpenAI's Responses API."""
    fields = Fields(flatten(body))
    refuse_what_is_not_done(fields, prompt=())
    streams(body)
    fields.flag("store")
    tools, choice = choice_of(
        fields.value("tool_choice"), listed_tools(fields, _tool), hosted=hosted_names(fields)
    )
    constraint = _constraint(fields)
    check_together(constraint, tools, choice)
    return ChatRequest(
        messages=input_messages(fields, _earlier(fields, facts)),
        model=model_name(fields, facts),
        tools=tools,
        tool_choice=choice,
        parallel_calls=several_calls(fields.flag("parallel_tool_calls"), tools, choice),
        sampling=sampling(fields),
        max_tokens=token_limit(fields, "max_output_tokens"),
        constraint=constraint,
        top_logprobs=_top_logprobs(fields),
        template_options=_options(fields),
        client=fields.text("user") or "",
        warnings=left_out(fields),
    )


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    output = Output(_head(body, facts), namespaces(body))
    # Kept from here on, so that another request can cancel it.
    facts.responses.keep(_response_of(output, body, facts))
    try:
        for sent in output.begin():
            yield sse(sent, sent["type"])
        async for event in events:
            _, inner = split_choice(event)
            if isinstance(inner, Failed):
                sent = output.failed(error_object(inner.error))
                yield sse(sent, sent["type"])
                return
            if isinstance(inner, PromptProgress):
                yield sse(output.go_on(), "response.in_progress")
            if isinstance(inner, StatusNote):
                yield step(inner.message)
            for sent in output.see(inner):
                yield sse(sent, sent["type"])
    finally:
        _keep(output, body, facts)


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    output = Output(_head(body, facts), namespaces(body))
    if failure := await see_all(events, output.see):
        return failed(failure.error)
    _keep(output, body, facts)
    return Reply(output.response)


def count_tokens(body: Any, facts: Facts) -> Ask:
    """Counts the tokens of a request without answering it."""
    return token_count(
        accept(body, facts),
        lambda count: Reply({"object": "response.input_tokens", "input_tokens": count}),
    )


def recall(_body: Any, facts: Facts) -> Reply:
    """Returns a response that is kept."""
    if facts.query.get("stream") == "true":
        raise BadRequest("'stream' is not supported here for a response that is kept.", "stream")
    return Reply(_find(facts).response)


def list_input(_body: Any, facts: Facts) -> Reply:
    """Lists the input items of a response, the last one first unless `order` is `asc`."""
    query = Fields(dict(facts.query))
    items = list(_find(facts).items)
    if (query.word("order", ("asc", "desc")) or "desc") == "desc":
        items.reverse()
    after = query.text("after")
    if after is not None:
        places = [at for at, item in enumerate(items) if item["id"] == after]
        items = items[places[0] + 1 :] if places else []
    limit = query.digits("limit", 20, 100)
    shown = items[:limit]
    return Reply(
        {
            "object": "list",
            "data": shown,
            "first_id": shown[0]["id"] if shown else None,
            "last_id": shown[-1]["id"] if shown else None,
            "has_more": len(items) > limit,
        }
    )


def cancel(_body: Any, facts: Facts) -> Cancel:
    """Cancels a response that is still being written. (OpenAI: background responses only.)"""
    kept = _find(facts)
    response = kept.response
    if response["status"] not in ("in_progress", "cancelled"):
        raise BadRequest(
            f"The response '{response['id']}' is {response['status']}; it cannot be cancelled."
        )
    response["status"] = "cancelled"
    return Cancel(kept.request_id, Reply(response))


def forget(_body: Any, facts: Facts) -> Reply:
    """Deletes a response that is kept."""
    response = _find(facts).response
    facts.responses.forget(facts.owner, response["id"])
    return Reply({"id": response["id"], "object": "response", "deleted": True})


def _find(facts: Facts) -> KeptResponse:
    name = facts.path["id"]
    kept = facts.responses.find(facts.owner, name)
    if kept is None:
        raise ResponseNotFound(name)
    return kept


def _earlier(fields: Fields, facts: Facts) -> tuple[Message, ...]:
    name = fields.text("previous_response_id")
    if not name:
        return ()
    kept = facts.responses.find(facts.owner, name)
    if kept is None:
        raise ResponseNotFound(name, "previous_response_id")
    if not kept.messages:
        status = kept.response["status"]
        raise fields.wrong("previous_response_id", f"names a response that is {status}")
    return kept.messages


def _keep(output: Output, body: Any, facts: Facts) -> None:
    """Keeps a response that is complete or cancelled, unless `store` is false. Forgets others."""
    status = output.response["status"]
    messages: tuple[Message, ...] = ()
    name = output.response["id"]
    facts.responses.forget(facts.owner, name)
    if Fields(body).flag("store") is False or status not in ENDED:
        return
    # Instructions apply to one response only, so they are not part of what is kept.
    own = {name: value for name, value in body.items() if name != "instructions"}
    # The earlier response may have been deleted meanwhile. Then this one is not kept either.
    with suppress(ResponseNotFound):
        if status != "cancelled":
            messages = (*accept(own, facts).messages, output.as_message())
        facts.responses.keep(_response_of(output, body, facts, messages))


def _response_of(
    output: Output, body: Any, facts: Facts, messages: tuple[Message, ...] = ()
) -> KeptResponse:
    items = input_items(body.get("input"), output.response["id"])
    return KeptResponse(facts.owner, facts.request_id, output.response, items, messages)


def _constraint(fields: Fields) -> Constraint | None:
    text = fields.object("text")
    made = format_constraint(text.object("format")) if text else None
    other = constraint_of(fields)
    if made is not None and other is not None:
        raise fields.wrong(other.param, "cannot be combined with 'text.format'")
    return made or other


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
        "tools": [_shown_tool(tool) for tool in body.get("tools") or []],
        "usage": None,
        **warnings_field(left_out(Fields(flatten(body)))),
    }


def _shown_tool(tool: Any) -> Any:
    """Returns a tool as the response shows it: a function is strict by default, as OpenAI's is.

    OpenAI's guide to function calling: "Responses requests will normalize your schema into strict
    mode". Our calls always follow their schema; `strict` only refuses one that cannot be enforced.
    """
    if isinstance(tool, dict) and tool.get("type") == "function" and tool.get("strict") is None:
        return {**tool, "strict": True}
    return tool


ENDPOINTS = (
    Endpoint("POST", "/v1/responses", accept, render, collect, streams, failed=failed),
    Endpoint("POST", "/v1/responses/input_tokens", count_tokens, failed=failed),
    Endpoint("GET", "/v1/responses/{id}", recall, failed=failed),
    Endpoint("DELETE", "/v1/responses/{id}", forget, failed=failed, needs_body=False),
    Endpoint("GET", "/v1/responses/{id}/input_items", list_input, failed=failed),
    Endpoint("POST", "/v1/responses/{id}/cancel", cancel, failed=failed, needs_body=False),
)
