"""POST /v1/responses, and the answers remembered for previous_response_id."""

import time
from contextlib import suppress
from typing import Any
from uuid import uuid4

from server.chat import ChatRequest, Constraint, Json, Message
from server.conversation.threads.responses import KeptResponse
from server.errors import AppError, BadRequest
from server.events import Events, Failed, PromptProgress
from server.protocols.base import KEEP_ALIVE, Ask, Cancel, Endpoint, Facts, Frames, Reply
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
    template_options,
    token_limit,
)
from server.protocols.frames import placed, sse, warned
from server.protocols.messages import choice_of, hosted_names, left_out, several_calls, token_count
from server.protocols.openai.errors import error_object, failed
from server.protocols.openai.response_items import input_items, input_messages, response_tools
from server.protocols.openai.response_output import Output

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
    fields = Fields(body)
    refuse_what_is_not_done(fields, prompt=())
    streams(body)
    fields.flag("store")
    tools, choice = choice_of(
        fields.value("tool_choice"), response_tools(fields), hosted=hosted_names(fields)
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


def streams(body: Any) -> bool:
    return Fields(body).flag("stream") is True


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    output = Output(_head(body, facts))
    # From now on it can be cancelled.
    facts.responses.keep(_kept(output, body, facts))
    try:
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
    finally:
        _keep(output, body, facts)


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    output = Output(_head(body, facts))
    async for event in events:
        _, inner = placed(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        for _ in output.see(inner):
            continue
    _keep(output, body, facts)
    return Reply(output.response)


def count_tokens(body: Any, facts: Facts) -> Ask:
    """POST /v1/responses/input_tokens: what a response would be asked with."""
    return token_count(
        accept(body, facts),
        lambda count: Reply({"object": "response.input_tokens", "input_tokens": count}),
    )


def recall(_body: Any, facts: Facts) -> Reply:
    return Reply(_found(facts).response)


def list_input(_body: Any, facts: Facts) -> Reply:
    """The items of one request, the last first unless asked otherwise."""
    query = Fields(dict(facts.query))
    items = list(_found(facts).items)
    if (query.word("order", ("asc", "desc")) or "desc") == "desc":
        items.reverse()
    after = query.text("after")
    if after is not None:
        places = [at for at, item in enumerate(items) if item["id"] == after]
        items = items[places[0] + 1 :] if places else []
    limit = _page(query)
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
    """Ends a response that is under way, as OpenAI does with those in the background."""
    kept = _found(facts)
    response = kept.response
    if response["status"] not in ("in_progress", "cancelled"):
        raise BadRequest(
            f"The response '{response['id']}' is {response['status']}; it cannot be cancelled."
        )
    response["status"] = "cancelled"
    return Cancel(kept.request_id, Reply(response))


def forget(_body: Any, facts: Facts) -> Reply:
    response = _found(facts).response
    facts.responses.forget(facts.owner, response["id"])
    return Reply({"id": response["id"], "object": "response", "deleted": True})


def _found(facts: Facts) -> KeptResponse:
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


def _page(query: Fields) -> int:
    given = query.text("limit") or "20"
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:6]) <= 100:
        raise query.wrong("limit", "must be between 1 and 100")
    return int(given)


def _keep(output: Output, body: Any, facts: Facts) -> None:
    """An answer that is whole, to go on from; one that was cancelled, to be looked at."""
    status = output.response["status"]
    messages: tuple[Message, ...] = ()
    name = output.response["id"]
    facts.responses.forget(facts.owner, name)
    if Fields(body).flag("store") is False or status not in ENDED:
        return
    # Instructions hold for one response only; whatever else was said is kept.
    own = {name: value for name, value in body.items() if name != "instructions"}
    # What it went on from may be deleted by now; the answer is as good without being kept.
    with suppress(ResponseNotFound):
        if status != "cancelled":
            messages = (*accept(own, facts).messages, output.said())
        facts.responses.keep(_kept(output, body, facts, messages))


def _kept(
    output: Output, body: Any, facts: Facts, messages: tuple[Message, ...] = ()
) -> KeptResponse:
    items = input_items(body.get("input"), output.response["id"])
    return KeptResponse(facts.owner, facts.request_id, output.response, items, messages)


def _constraint(fields: Fields) -> Constraint | None:
    text = fields.object("text")
    made = format_constraint(text.object("format")) if text else None
    other = constraint_of(fields)
    if made is not None and other is not None:
        raise fields.wrong(other.param, "cannot be had together with 'text.format'")
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
        **warned(left_out(Fields(body))),
    }


def _shown_tool(tool: Any) -> Any:
    """OpenAI makes a function strict where nothing is said ("Responses requests will normalize your
    schema into strict mode", its guide to function calling), and tells so. Here calls are kept to
    their schema either way; strict is only what is refused for a schema that cannot be kept."""
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
