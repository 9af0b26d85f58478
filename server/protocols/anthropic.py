"""Anthropic's Messages API: reads its requests and writes its messages and streams."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

from server.chat import ChatRequest, Constraint, Image, Json, Message, Tool, ToolCall, ToolChoice
from server.errors import AppError, BadRequest, ContextOverflow
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
from server.protocols.base import Ask, Endpoint, Facts, Frames, Reply
from server.protocols.constraints import check_together, constraint_of, refuse_what_is_not_done
from server.protocols.fields import (
    Fields,
    model_name,
    sampling,
    schema_constraint,
    sendable,
    stop_texts,
    streams,
    token_limit,
)
from server.protocols.frames import dump, see_all, split_choice, sse, step, warnings_field
from server.protocols.messages import (
    check_hosted,
    function_tool,
    hosted_names,
    left_out,
    listed_tools,
    several_calls,
    token_count,
)
from server.system.limits import try_json

EFFORTS = ("low", "medium", "high", "xhigh", "max")


class ThreadsNotKept(BadRequest):
    """Anthropic's packages know this code, and send the whole conversation after it."""

    code = "thread_unsupported_request"

    def __init__(self) -> None:
        message = "'thread' is not supported here; send the whole conversation instead."
        super().__init__(message, "thread")


def accept(body: Any, facts: Facts) -> ChatRequest:
    """Answers a conversation in the format of Anthropic's Messages API."""
    fields = Fields(body)
    limit = token_limit(fields, "max_tokens")
    if limit is None:
        raise fields.wrong("max_tokens", "is missing")
    return _request(fields, facts, limit)


def count_tokens(body: Any, facts: Facts) -> Ask:
    """Counts the tokens of a conversation without answering it."""
    request = _request(Fields(body), facts, None)
    return token_count(request, lambda count: Reply({"input_tokens": count}))


def _request(fields: Fields, facts: Facts, limit: int | None) -> ChatRequest:
    streams(fields.body)
    refuse_what_is_not_done(fields)
    if fields.value("thread") is not None:
        raise ThreadsNotKept
    tools = listed_tools(fields, partial(function_tool, schema="input_schema"))
    choice, parallel = _choice(fields, tools)
    thinking = fields.object("thinking")
    asked = thinking.word("type", ("enabled", "disabled", "adaptive")) if thinking else None
    constraint, effort = _output(fields)
    check_together(constraint, tools, choice)
    messages = _messages(fields)
    return ChatRequest(
        messages=(*_system(fields), *messages),
        model=model_name(fields, facts),
        tools=tools,
        tool_choice=choice,
        parallel_calls=parallel,
        sampling=sampling(fields),
        max_tokens=limit,
        stop=stop_texts(fields, "stop_sequences"),
        constraint=constraint,
        continues=messages[-1].role == "assistant" and not messages[-1].tool_calls,
        template_options=((("enable_thinking", asked != "disabled"),) if asked else ()) + effort,
        warnings=left_out(fields, "mcp_servers"),
    )


def _output(fields: Fields) -> tuple[Constraint | None, tuple[tuple[str, Any], ...]]:
    """Returns the constraint on the answer, and the template option for the thinking effort."""
    config = fields.object("output_config")
    effort = config.word("effort", EFFORTS) if config else None
    effort_option = (("reasoning_effort", "high" if effort == "max" else effort),) if effort else ()
    format_ = config.object("format") if config else None
    older = fields.object("output_format")
    given = format_ if format_ is not None else older
    if given is None:
        return constraint_of(fields), effort_option
    given.word("type", ("json_schema",))
    return schema_constraint(given, strict=True), effort_option


def _choice(fields: Fields, tools: tuple[Tool, ...]) -> tuple[ToolChoice, bool]:
    given = fields.object("tool_choice")
    if given is None:
        return ToolChoice(), True
    alone = given.flag("disable_parallel_tool_use")
    several = None if alone is None else not alone
    kind = given.word("type", ("auto", "any", "tool", "none"))
    hosted = hosted_names(fields)
    check_hosted(given, hosted)
    if kind == "any" and hosted and not tools:
        raise fields.wrong("tool_choice", f"needs '{hosted[0]}', which is not available here")
    if kind in ("any", "tool") and not tools:
        raise fields.wrong("tool_choice", "needs 'tools' to choose from")
    if kind == "tool":
        name = given.some_text("name")
        if name not in {tool.name for tool in tools}:
            raise given.wrong("name", f"is '{name}', which is not among the tools")
        choice = ToolChoice("required", (name,))
    else:
        modes: dict[Any, ToolChoice] = {"any": ToolChoice("required"), "none": ToolChoice("none")}
        choice = modes.get(kind, ToolChoice())
    return choice, several_calls(several, tools, choice)


def _system(fields: Fields) -> list[Message]:
    given = fields.value("system")
    if isinstance(given, list):
        given = "\n\n".join(part.text("text") or "" for part in fields.objects("system"))
    if given is not None and not isinstance(given, str):
        raise fields.wrong("system", "must be a string or an array of text blocks")
    return [Message("system", given)] if given else []


def _messages(fields: Fields) -> list[Message]:
    turns = fields.objects("messages")
    if not turns:
        raise fields.wrong("messages", "must be an array with at least one message")
    names: dict[str, str] = {}
    messages: list[Message] = []
    for turn in turns:
        for message in _turn(turn, names):
            names.update({call.id: call.name for call in message.tool_calls})
            messages.append(message)
    return messages


def _turn(turn: Fields, names: dict[str, str]) -> list[Message]:
    """Splits one of Anthropic's turns into our messages: each tool result becomes its own."""
    role = turn.some_word("role", ("user", "assistant", "system"))
    content = turn.value("content")
    if isinstance(content, str):
        return [Message(role, content)]
    if not isinstance(content, list) or not content:
        raise turn.wrong("content", "must be a string or an array of blocks")
    blocks = turn.objects("content")
    results = [_result(block, names) for block in blocks if block.value("type") == "tool_result"]
    rest = [block for block in blocks if block.value("type") != "tool_result"]
    return [*results, _join_blocks(role, rest)] if rest else results


def _join_blocks(role: Any, blocks: Sequence[Fields]) -> Message:
    texts: list[str] = []
    images: list[Image] = []
    calls: list[ToolCall] = []
    thoughts: list[str] = []
    for block in blocks:
        match block.value("type"):
            case "text":
                texts.append(block.text("text") or "")
            case "document":
                texts.append(_document(block, block.some_object("source")))
            case "search_result":
                texts.append(_titled(block, _joined_texts(block)))
            case "image":
                images.append(replace(_image(block), at=sum(map(len, texts))))
            case "tool_use":
                calls.append(_call(block))
            case "thinking":
                thoughts.append(block.text("thinking") or "")
            case "redacted_thinking":
                continue
            case kind:
                raise block.wrong("type", f"is {kind!r}, which is not supported here")
    reasoning = "".join(thoughts) or None
    return Message(role, "".join(texts), tuple(images), tuple(calls), reasoning=reasoning)


def _document(block: Fields, source: Fields) -> str:
    kind = source.value("type")
    if kind == "text":
        return _titled(block, source.some_text("data"))
    if kind == "content":
        whole = source.value("content")
        return _titled(block, whole if isinstance(whole, str) else _joined_texts(source))
    raise source.wrong("type", f"is {kind!r}; only documents of text are read here")


def _titled(block: Fields, text: str) -> str:
    """Returns a document's text between its title and what follows it in the message."""
    head = (block.text("title"), block.text("context"))
    return "\n".join([*filter(None, head), text]) + "\n\n"


def _joined_texts(block: Fields) -> str:
    parts = block.objects("content")
    for part in parts:
        if part.value("type") != "text":
            raise part.wrong("type", "must be text")
    return "\n".join(part.text("text") or "" for part in parts)


def _call(block: Fields) -> ToolCall:
    arguments = block.object("input")
    return ToolCall(
        block.some_text("id"),
        block.some_text("name"),
        sendable(arguments.body) if arguments else {},
    )


def _result(block: Fields, names: dict[str, str]) -> Message:
    call_id = block.some_text("tool_use_id")
    if call_id not in names:
        raise block.wrong("tool_use_id", "must name an earlier tool_use block")
    content = block.value("content")
    shown = Message("tool", content) if isinstance(content, str) else _read_result(block)
    return replace(shown, tool_call_id=call_id, name=names[call_id])


def _read_result(block: Fields) -> Message:
    if not isinstance(block.value("content") or [], list):
        raise block.wrong("content", "must be a string or an array of blocks")
    parts = block.objects("content")
    for part in parts:
        kind = part.value("type")
        if kind not in ("text", "image"):
            raise part.wrong("type", f"is {kind!r}; a result may hold texts and images only")
    return _join_blocks("tool", parts)


def _image(block: Fields) -> Image:
    source = block.object("source")
    if source is None or source.value("type") != "base64":
        raise block.wrong("source", "must be base64 data; nothing is fetched from elsewhere")
    data = block.decode(source.some_text("data"), "source")
    return Image(source.text("media_type") or "image/png", data)


REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error",
         413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error"}  # fmt: skip


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    answer = _Answer(body, facts)
    yield _frame({"type": "message_start", "message": dict(answer.message)})
    async for event in events:
        _, inner = split_choice(event)
        if isinstance(inner, Failed):
            yield _frame(error_body(inner.error))
            return
        if isinstance(inner, PromptProgress):
            yield _frame({"type": "ping"})
        if isinstance(inner, StatusNote):
            yield step(inner.message)
        for sent in answer.see(inner):
            yield _frame(sent)


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    answer = _Answer(body, facts)
    failure = await see_all(events, answer.see)
    return failed(failure.error) if failure else Reply(answer.whole())


def failed(error: Exception) -> Reply:
    status = error.status if isinstance(error, AppError) else 500
    return Reply(error_body(error), status)


def error_body(error: Exception) -> Json:
    known = isinstance(error, AppError)
    status = error.status if isinstance(error, AppError) else 500
    kind = "invalid_request_error" if status < 500 else "api_error"
    message = str(error) if known else "Something went wrong inside Moat."
    if isinstance(error, ContextOverflow):
        message = f"prompt is too long: {error.needed} tokens > {error.available} maximum"
    found: Json = {"type": TYPES.get(status, kind), "message": message}
    if isinstance(error, ThreadsNotKept):
        found["details"] = {"error_code": error.code, "unsupported": ["thread"]}
    return {"type": "error", "error": found}


class _Answer:
    """The message as it grows. `see` takes one of our events and yields the stream's events."""

    def __init__(self, body: Any, facts: Facts) -> None:
        self.message: Json = {
            "id": "msg_" + uuid4().hex,
            "type": "message",
            "role": "assistant",
            "model": body.get("model") or facts.default_model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _usage(Usage()),
            **warnings_field(left_out(Fields(body), "mcp_servers")),
        }
        self._blocks: list[Json] = []
        self._is_open = False

    def see(self, event: Event) -> Iterator[Json]:
        match event:
            case TextDelta(text):
                yield from self._text("text", text)
            case ReasoningDelta(text):
                yield from self._text("thinking", text)
            case CallOpened(_, call_id, name):
                yield from self._call(call_id, name)
            case CallArguments(_, text):
                yield from self._arguments(text)
            case ClientToolCall(call) if all(made.get("id") != call.id for made in self._blocks):
                yield from self._call(call.id, call.name)
                yield from self._arguments(dump(call.arguments))
            case Finished(reason, usage, stop_text):
                yield from self._finish(REASONS[reason], usage, stop_text)

    def whole(self) -> Json:
        return {**self.message, "content": [_whole(block) for block in self._blocks]}

    def _text(self, kind: str, text: str) -> Iterator[Json]:
        if not self._is_open or self._blocks[-1]["type"] != kind:
            signature = {"signature": ""} if kind == "thinking" else {}
            yield from self._add({"type": kind, kind: "", **signature})
        self._blocks[-1][kind] += text
        yield self._delta({"type": f"{kind}_delta", kind: text})

    def _call(self, call_id: str, name: str) -> Iterator[Json]:
        yield from self._add({"type": "tool_use", "id": call_id, "name": name, "input": {}})
        self._blocks[-1]["arguments"] = ""

    def _arguments(self, text: str) -> Iterator[Json]:
        self._blocks[-1]["arguments"] += text
        yield self._delta({"type": "input_json_delta", "partial_json": text})

    def _add(self, block: Json) -> Iterator[Json]:
        yield from self._close()
        self._blocks.append(block)
        self._is_open = True
        index = len(self._blocks) - 1
        yield {"type": "content_block_start", "index": index, "content_block": dict(block)}

    def _close(self) -> Iterator[Json]:
        if self._is_open:
            yield {"type": "content_block_stop", "index": len(self._blocks) - 1}
        self._is_open = False

    def _finish(self, reason: str, usage: Usage, stop_text: str | None) -> Iterator[Json]:
        yield from self._close()
        ended = {
            "stop_reason": "stop_sequence" if stop_text else reason,
            "stop_sequence": stop_text,
        }
        self.message |= {**ended, "usage": _usage(usage)}
        yield {"type": "message_delta", "delta": ended, "usage": _usage(usage)}
        yield {"type": "message_stop"}

    def _delta(self, delta: Json) -> Json:
        return {"type": "content_block_delta", "index": len(self._blocks) - 1, "delta": delta}


def _whole(block: Json) -> Json:
    if block["type"] != "tool_use":
        return block
    rest = {name: value for name, value in block.items() if name != "arguments"}
    return {**rest, "input": try_json(block["arguments"] or "{}", {})}


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens - usage.cached_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.completion_tokens,
    }


def _frame(data: Json) -> bytes:
    return sse(data, data["type"])


_ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/messages",
        accept,
        render,
        collect,
        streams,
        failed=failed,
    ),
    Endpoint("POST", "/v1/messages/count_tokens", count_tokens, failed=failed),
)
ENDPOINTS = (
    *_ENDPOINTS,
    *(replace(endpoint, path=endpoint.path.removeprefix("/v1")) for endpoint in _ENDPOINTS),
)
