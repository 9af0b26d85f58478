"""GraphQL for CopilotKit's clients up to 1.10.6.

A document is checked against `schema.graphql` and executed while an agent's run fills a `Response`.
Answers are sent whole, or as increments: multipart or server-sent events.
"""

import base64
import binascii
import json
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from typing import Any

from graphql import (
    DirectiveNode,
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLDeferDirective,
    GraphQLError,
    GraphQLSchema,
    GraphQLStreamDirective,
    OperationDefinitionNode,
    OperationType,
    Visitor,
    build_schema,
    get_operation_ast,
    parse,
    specified_directives,
    validate,
    visit,
)
from graphql.execution import (
    ExperimentalIncrementalExecutionResults,
    experimental_execute_incrementally,
)
from graphql.execution.values import get_argument_values, get_variable_values

from server.chat import (
    DOCUMENTS,
    TEXTS,
    File,
    Image,
    Json,
    Message,
    Role,
    Tool,
    ToolCall,
    ToolChoice,
)
from server.conversation.agents.base import (
    DEFAULT,
    AgentRequest,
    Agents,
    InterruptAnswer,
    ThreadState,
    Topics,
)
from server.conversation.threads import ThreadMessage, messages_of
from server.errors import AppError, BadRequest
from server.events import Events, OfChoice
from server.protocols.base import (
    EVENT_STREAM,
    KEEP_ALIVE,
    AgentRun,
    Facts,
    Frames,
    Look,
    LookResult,
    Reply,
)
from server.protocols.copilotkit.response import Response, bad_body, early, format_errors
from server.protocols.fields import BIGGEST, parse_json, sendable
from server.tasks import spawn, stop

PASSING = ("Task", "Suggestion", "TextareaCompletion", "TextareaPopover")
"""Types of request that are not part of the conversation, so they are not kept."""
FILES = frozenset({"text", *(kind.removeprefix(".") for kind in (*DOCUMENTS, *TEXTS))})
"""Formats of files that are not images, as a page names them."""


def read_request(data: Json, facts: Facts) -> AgentRequest:
    session = data.get("agentSession") or {}
    agent = session.get("agentName") or DEFAULT
    messages = _read_messages(data["messages"])
    has_prompt = any(kept.message.role == "system" for kept in messages)
    forwarded = data.get("forwardedParameters") or {}
    # The page's own system prompt already has the context.
    context = () if has_prompt else data.get("context") or ()
    listed = [*(data.get("agentStates") or ()), *filter(None, [data.get("agentState")])]
    states = [entry["state"] for entry in listed if entry["agentName"] == agent]
    model, temperature = forwarded.get("model"), forwarded.get("temperature")
    limit = forwarded.get("maxTokens") or 0
    return AgentRequest(
        agent,
        session.get("threadId") or data.get("threadId") or str(uuid.uuid4()),
        data.get("runId") or str(uuid.uuid4()),
        messages,
        tools=_tools(data["frontend"]["actions"]),
        tool_choice=_tool_choice(forwarded),
        context=tuple((entry["description"], entry["value"]) for entry in context),
        state=_object(states[0]) if states else None,
        answer=_answer(data.get("metaEvents") or ()),
        topics=_topics(data.get("cloud")),
        # Pages name models of cloud providers, so only the name of one of our models counts.
        model=model if model in {card.name for card in facts.models} else None,
        temperature=None if temperature is None else min(max(float(temperature), 0.0), 2.0),
        max_tokens=int(min(limit, BIGGEST)) if limit >= 1 else None,
        stop=tuple(forwarded.get("stop") or ()),
        ends_after_tools=True,
        is_kept=(data["metadata"].get("requestType") or "Chat") not in PASSING,
        client=facts.origin or facts.headers.get("user-agent", ""),
        origin=facts.place,
        is_own=facts.is_own,
    )


def _read_messages(sent: list[Json]) -> tuple[ThreadMessage, ...]:
    messages: list[ThreadMessage] = []
    calls: list[ToolCall] = []
    for item in sent:
        if action := item.get("actionExecutionMessage"):
            # Consecutive calls were made in one message.
            calls = calls if messages and messages[-1].message.tool_calls else []
            calls.append(ToolCall(item["id"], action["name"], _object(action["arguments"])))
            if len(calls) == 1:
                messages.append(
                    ThreadMessage(item["id"], Message("assistant", "", tool_calls=tuple(calls)))
                )
            continue
        _close_calls(messages, calls)
        if text := item.get("textMessage"):
            messages.append(ThreadMessage(item["id"], _text(text)))
        elif result := item.get("resultMessage"):
            call_id, name = result["actionExecutionId"], result["actionName"]
            answer = Message("tool", result["result"], tool_call_id=call_id, name=name)
            messages.append(ThreadMessage(item["id"], answer))
        elif image := item.get("imageMessage"):
            messages.append(ThreadMessage(item["id"], _image(image)))
    _close_calls(messages, calls)
    return tuple(messages)


def _close_calls(messages: list[ThreadMessage], calls: list[ToolCall]) -> None:
    """Puts several consecutive calls into the last message, which has only the first of them."""
    if len(calls) > 1 and messages[-1].message.tool_calls:
        messages[-1] = ThreadMessage(
            messages[-1].id, Message("assistant", "", tool_calls=tuple(calls))
        )


def _text(text: Json) -> Message:
    role = text["role"]
    if role in ("system", "developer"):
        return Message("system", text["content"])
    return Message("assistant" if role == "assistant" else "user", text["content"])


def _image(image: Json) -> Message:
    """Reads an image, or another file: pages send both in the only message type with bytes."""
    try:
        data = base64.b64decode(image["bytes"], validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("An image's 'bytes' must be base64.", "messages") from None
    role: Role = "assistant" if image["role"] == "assistant" else "user"
    kind = image["format"].strip().lower()
    if kind in FILES:
        return Message(role, "", files=(File(f"attachment.{kind}", data=data),))
    mime = kind if "/" in kind else f"image/{kind}"
    if not mime.startswith("image/"):
        return Message(role, "", files=(File("", mime, data),))
    return Message(role, "", (Image(mime, data),))


def _tools(actions: list[Json]) -> tuple[Tool, ...]:
    enabled = [action for action in actions if action.get("available") in (None, "enabled")]
    return tuple(
        Tool(action["name"], action["description"], _object(action["jsonSchema"]))
        for action in enabled
    )


def _tool_choice(forwarded: Json) -> ToolChoice:
    choice, name = forwarded.get("toolChoice"), forwarded.get("toolChoiceFunctionName")
    if choice == "function" and name:
        return ToolChoice("required", (name,))
    if choice in ("none", "required"):
        return ToolChoice(choice)
    return ToolChoice()


def _answer(events: Any) -> InterruptAnswer | None:
    for event in events:
        if event.get("response") is not None:
            return InterruptAnswer(parse_json(event["response"], event["response"]))
        if answers := _read_messages(event.get("messages") or []):
            return InterruptAnswer(answers[-1].message.content)
    return None


def _topics(cloud: Json | None) -> Topics:
    rules = ((cloud or {}).get("guardrails") or {}).get("inputValidationRules") or {}
    return Topics(tuple(rules.get("allowList") or ()), tuple(rules.get("denyList") or ()))


def _object(text: str) -> Json:
    value = sendable(parse_json(text))
    return value if isinstance(value, dict) else {}


MULTIPART = 'multipart/mixed; boundary="-"'
RESPONSE_JSON = "application/graphql-response+json"
PLAIN_JSON = "application/json"
DELIMITER = b"\r\n---"
PART = b"\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: "


def stream_type(accept: str) -> str | None:
    """Returns the content type for increments; None if the client does not accept any."""
    if not accept or "multipart/mixed" in accept or "*/*" in accept:
        return MULTIPART
    return EVENT_STREAM if EVENT_STREAM in accept else None


def json_type(accept: str) -> str:
    return RESPONSE_JSON if RESPONSE_JSON in accept else PLAIN_JSON


def keep_alive(kind: str) -> bytes:
    """Returns an empty part or an SSE comment, to keep the connection open."""
    return _part({"hasNext": True}) if kind == MULTIPART else KEEP_ALIVE


async def multipart(payloads: AsyncGenerator[Json, None]) -> Frames:
    """Streams parts. A delimiter follows each at once, because clients wait for it."""
    yield DELIMITER
    async for payload in payloads:
        yield _part(payload)
    yield b"--\r\n"


async def event_stream(payloads: AsyncGenerator[Json, None]) -> Frames:
    yield b":\n\n"
    async for payload in payloads:
        yield b"event: next\ndata: %b\n\n" % _dump(payload)
    yield b"event: complete\ndata:\n\n"


def _part(payload: Json) -> bytes:
    body = _dump(payload)
    return b"%b%d\r\n\r\n%b%b" % (PART, len(body), body, DELIMITER)


def _dump(payload: Json) -> bytes:
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


class Paths:
    """Converts payloads with ids to the older format with paths, which these clients read.

    Remembers the path of each pending id, and the index of the next item of a streamed list.
    """

    def __init__(self) -> None:
        self._paths: dict[str, list[str | int]] = {}
        self._next: dict[str, int] = {}

    def initial(self, payload: Mapping[str, Any]) -> Json:
        self._learn(payload, payload.get("data"))
        kept = ("data", "errors", "extensions", "hasNext")
        return {name: payload[name] for name in kept if name in payload}

    def following(self, payload: Mapping[str, Any]) -> Json | None:
        """Converts a later payload. Returns None if it has nothing for the client."""
        self._learn(payload, None)
        increments = [self._place(entry) for entry in payload.get("incremental", ())]
        for done in payload.get("completed", ()):
            if done.get("errors"):
                path = self._paths.get(done["id"], [])
                increments.append({"data": None, "path": path, "errors": done["errors"]})
            self._paths.pop(done["id"], None)
        if increments:
            return {"incremental": increments, "hasNext": payload["hasNext"]}
        return None if payload["hasNext"] else {"hasNext": False}

    def _place(self, entry: Mapping[str, Any]) -> Json:
        base = self._paths[entry["id"]]
        extra = {name: entry[name] for name in ("errors", "extensions") if entry.get(name)}
        if "items" not in entry:
            path = [*base, *entry.get("subPath", ())]
            return {"data": entry["data"], "path": path} | extra
        index = self._next[entry["id"]]
        self._next[entry["id"]] = index + len(entry["items"])
        return {"items": entry["items"], "path": [*base, index]} | extra

    def _learn(self, payload: Mapping[str, Any], data: Any) -> None:
        for pending in payload.get("pending", ()):
            path = list(pending["path"])
            self._paths[pending["id"]] = path
            there = _at(data, path)
            self._next[pending["id"]] = len(there) if isinstance(there, list) else 0


def _at(data: Any, path: list[str | int]) -> Any:
    for step in path:
        try:
            data = data[step]
        except (TypeError, KeyError, IndexError):
            return None
    return data


def query_root(agents: Agents, sees: str | None) -> Json:
    async def available(_info: Any) -> Json:
        cards = await agents.cards()
        listed = [
            {"id": card.name, "name": card.name, "description": card.description} for card in cards
        ]
        return {"agents": listed}

    async def load(_info: Any, data: Json) -> Json:
        agent = await agents.find(data["agentName"])
        thread_id = data["threadId"]
        thread = agents.threads.find(thread_id, sees)
        kept = ThreadState(thread.state or {}, messages_of(thread)) if thread else None
        found = await agent.recall(thread_id) or kept
        messages = [
            sent for kept in (found.messages if found else ()) for sent in _write_message(kept)
        ]
        return {
            "threadId": thread_id,
            "threadExists": found is not None,
            "state": json.dumps(found.state if found else {}, ensure_ascii=False),
            "messages": json.dumps(messages, ensure_ascii=False),
        }

    return {"hello": "Hello World", "availableAgents": available, "loadAgentState": load}


def _write_message(kept: ThreadMessage) -> list[Json]:
    """Writes a message as pages store it: the text and each call are messages of their own."""
    message = kept.message
    if message.role == "tool":
        return [
            {
                "id": kept.id,
                "actionExecutionId": message.tool_call_id,
                "actionName": message.name or "",
                "result": message.content,
            }
        ]
    sent: list[Json] = []
    if message.content or not message.tool_calls:
        sent.append({"id": kept.id, "role": message.role, "content": message.content})
    for call in message.tool_calls:
        sent.append(
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.arguments,
                "parentMessageId": kept.id,
            }
        )
    return sent


MAX_TOKENS = 4000
"""The most tokens of a GraphQL document."""
REMEMBERED = 64
"""How many checked documents are cached."""


@dataclass(frozen=True, slots=True)
class Document:
    node: DocumentNode
    is_incremental: bool


class DocumentRefused(Exception):
    """The document cannot be executed. `errors` are GraphQL's own."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__("; ".join(error.message for error in errors))
        self.errors = errors


def _load() -> GraphQLSchema:
    text = files(__package__).joinpath("schema.graphql").read_text("utf-8")
    built = build_schema(text)
    return GraphQLSchema(
        built.query_type,
        built.mutation_type,
        types=tuple(built.type_map.values()),
        directives=(*specified_directives, GraphQLDeferDirective, GraphQLStreamDirective),
    )


SCHEMA = _load()
LONGEST_DOCUMENT = 200_000


@lru_cache(REMEMBERED)
def read(text: str) -> Document:
    """Parses and validates a document. Cached, because clients send the same few over and over."""
    if len(text) > LONGEST_DOCUMENT:
        raise DocumentRefused([GraphQLError("The document is too long.")])
    try:
        node = parse(text, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        raise DocumentRefused([error]) from None
    errors = validate(SCHEMA, node)
    if errors:
        for problem in errors:
            problem.extensions = {"code": "GRAPHQL_VALIDATION_FAILED"}
        raise DocumentRefused(errors)
    directives = _Directives()
    visit(node, directives)
    return Document(node, not directives.names.isdisjoint({"defer", "stream"}))


class _Directives(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: DirectiveNode, *_: object) -> None:
        self.names.add(node.name.value)


GENERATE = "generateCopilotResponse"


def accept(body: Json, facts: Facts, *, reads_only: bool = False) -> Look | Reply:
    wanted = facts.headers.get("accept", "")
    try:
        asked = _Asked.read(body, wanted)
    except DocumentRefused as refused:
        kind = json_type(wanted)
        status = 400 if kind == RESPONSE_JSON else 200
        return Reply({"errors": format_errors(refused.errors)}, status, content_type=kind)
    if asked.operation.operation is not OperationType.MUTATION:
        return Look(partial(_query, asked, facts))
    if reads_only:
        message = "Can only perform a mutation operation from a POST request."
        return Reply({"errors": [{"message": message}]}, 405)
    if asked.document.is_incremental and stream_type(wanted) is None:
        return Reply(status=406, text="")
    return Look(partial(_generate, asked, facts))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request with a valid document and valid variables, ready to be executed."""

    document: Document
    operation: OperationDefinitionNode
    variables: Json
    accept: str
    field: FieldNode | None
    arguments: Json

    @classmethod
    def read(cls, body: Json, accept_header: str) -> "_Asked":
        text, name, variables = (body.get(key) for key in ("query", "operationName", "variables"))
        if not isinstance(text, str) or not isinstance(variables or {}, dict):
            raise DocumentRefused([GraphQLError("Must provide query string.")])
        document = read(text)
        operation = get_operation_ast(document.node, name if isinstance(name, str) else None)
        if operation is None or operation.operation is OperationType.SUBSCRIPTION:
            raise DocumentRefused([GraphQLError("Must name an operation of the document.")])
        found = _find_arguments(operation, variables or {})
        return cls(document, operation, variables or {}, accept_header, *found)

    async def execute(self, root: Json) -> "_Result":
        result = experimental_execute_incrementally(
            SCHEMA,
            self.document.node,
            root,
            variable_values=self.variables,
            operation_name=self.operation.name.value if self.operation.name else None,
        )
        if not isinstance(result, ExecutionResult | ExperimentalIncrementalExecutionResults):
            return await result
        return result


def _find_arguments(
    operation: OperationDefinitionNode, variables: Json
) -> tuple[FieldNode | None, Json]:
    """Returns the field `generateCopilotResponse` and its arguments; empty for a query."""
    definitions = operation.variable_definitions or ()
    values = get_variable_values(SCHEMA, definitions, variables, max_errors=10)
    if isinstance(values, list):
        raise DocumentRefused(values)
    # The field must be at the top of the operation, and only once.
    found = [
        selection
        for selection in operation.selection_set.selections
        if isinstance(selection, FieldNode) and selection.name.value == GENERATE
    ]
    field = found[0] if len(found) == 1 else None
    if operation.operation is not OperationType.MUTATION:
        return field, {}
    if field is None:
        raise DocumentRefused([GraphQLError(f"Ask for {GENERATE}, once.")])
    assert SCHEMA.mutation_type
    definition = SCHEMA.mutation_type.fields[GENERATE]
    return field, get_argument_values(definition, field, values)


_Result = ExecutionResult | ExperimentalIncrementalExecutionResults


async def _query(asked: _Asked, facts: Facts, agents: Agents) -> LookResult:
    result = await asked.execute(query_root(agents, facts.sees))
    assert isinstance(result, ExecutionResult)
    return Reply(_whole(result), content_type=json_type(asked.accept))


async def _generate(asked: _Asked, facts: Facts, agents: Agents) -> LookResult:
    assert asked.field is not None
    data = asked.arguments["data"]
    try:
        wanted = read_request(data, facts)
        agent = await agents.find(wanted.agent)
    except AppError as error:
        body = early(error, asked.field)
        return Reply(body, content_type=json_type(asked.accept))
    run = partial(agents.run, agent, wanted)

    def begin() -> Response:
        tells_state = data.get("agentSession") is not None
        return Response(wanted, tells_state=tells_state, run_id=data.get("runId"))

    if not asked.document.is_incremental:
        return AgentRun(run, collect=partial(_collect, asked, begin), model=wanted.model)
    kind = stream_type(asked.accept) or MULTIPART
    write = multipart if kind == MULTIPART else event_stream
    render = partial(_render, asked, begin, write)
    kept = keep_alive(kind)
    return AgentRun(run, render, content_type=kind, keep_alive=kept, model=wanted.model)


async def _collect(asked: _Asked, begin: Any, events: Events) -> Reply:
    async with aclosing(_payloads(asked, begin(), events)) as payloads:
        body = await anext(payloads)
    return Reply(body, content_type=json_type(asked.accept))


async def _render(asked: _Asked, begin: Any, write: Any, events: Events) -> Frames:
    async with aclosing(_payloads(asked, begin(), events)) as payloads:
        async for frame in write(payloads):
            yield frame


async def _payloads(
    asked: _Asked, response: Response, events: Events
) -> AsyncGenerator[Json, None]:
    feeding = spawn(_feed_response(response, events), "copilot response")
    try:
        result = await asked.execute({GENERATE: response.root})
        if isinstance(result, ExecutionResult):
            yield _whole(result)
            return
        paths = Paths()
        yield paths.initial(result.initial_result.formatted)
        async for following in result.subsequent_results:
            payload = paths.following(following.formatted)
            if payload is not None:
                yield payload
    finally:
        await stop(feeding)


async def _feed_response(response: Response, events: Events) -> None:
    try:
        async for event in events:
            response.see(event.event if isinstance(event, OfChoice) else event)
    finally:
        with suppress(RuntimeError):
            response.fail(AppError("The answer ended before it was complete."))


def _whole(result: ExecutionResult) -> Json:
    failures: Json = {"errors": format_errors(result.errors)} if result.errors else {}
    return failures | {"data": result.data}


def describe_failure(error: Exception) -> Reply:
    """Formats an error that occurs before the dialect is known, mostly a body that is not JSON."""
    status = error.status if isinstance(error, AppError) else 500
    message = "POST body sent invalid JSON." if isinstance(error, BadRequest) else str(error)
    return Reply(bad_body(message), status)
