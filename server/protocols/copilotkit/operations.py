"""GraphQL requests of clients up to 1.10.6: checked, run, and answered in one piece or in parts."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from functools import partial
from typing import Any

from graphql import (
    ExecutionResult,
    FieldNode,
    GraphQLError,
    OperationDefinitionNode,
    OperationType,
)
from graphql.execution import (
    ExperimentalIncrementalExecutionResults,
    experimental_execute_incrementally,
)
from graphql.execution.values import get_argument_values, get_variable_values

from server.chat import Json
from server.conversation.agents.base import Agents
from server.errors import AppError, BadRequest
from server.events import Events, OfChoice
from server.protocols.base import AgentRun, Facts, Frames, Look, Reply, Told
from server.protocols.copilotkit import delivery, errors, queries, request, schema
from server.protocols.copilotkit.incremental import Paths
from server.protocols.copilotkit.response import Response
from server.protocols.copilotkit.schema import SCHEMA, Document, Refused
from server.tasks import spawn, stop

GENERATE = "generateCopilotResponse"


def accept(body: Json, facts: Facts, *, reads_only: bool = False) -> Look | Reply:
    wanted = facts.headers.get("accept", "")
    try:
        asked = _Asked.read(body, wanted)
    except Refused as refused:
        return _refusal(errors.formatted(refused.errors), wanted)
    if asked.operation.operation is not OperationType.MUTATION:
        return Look(partial(_query, asked, facts))
    if reads_only:
        message = "Can only perform a mutation operation from a POST request."
        return Reply({"errors": [{"message": message}]}, 405)
    if asked.document.is_incremental and delivery.stream_type(wanted) is None:
        return Reply(status=406, text="")
    return Look(partial(_generate, asked, facts))


class _Asked:
    """A request whose document and variables are right."""

    def __init__(
        self,
        document: Document,
        operation: OperationDefinitionNode,
        variables: Json,
        accept_header: str,
    ) -> None:
        self.document = document
        self.operation = operation
        self.variables = variables
        self.accept = accept_header
        self.field, self.arguments = self._arguments()

    @classmethod
    def read(cls, body: Json, accept_header: str) -> "_Asked":
        text, name, variables = (body.get(key) for key in ("query", "operationName", "variables"))
        if not isinstance(text, str) or not isinstance(variables or {}, dict):
            raise Refused([GraphQLError("Must provide query string.")])
        document = schema.read(text)
        operation = document.operation(name if isinstance(name, str) else None)
        if operation is None or operation.operation is OperationType.SUBSCRIPTION:
            raise Refused([GraphQLError("Must name an operation of the document.")])
        return cls(document, operation, variables or {}, accept_header)

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

    def _arguments(self) -> tuple[FieldNode | None, Json]:
        values = get_variable_values(
            SCHEMA, self.operation.variable_definitions or (), self.variables, max_errors=10
        )
        if isinstance(values, list):
            raise Refused(values)
        field = schema.field_of(self.operation, GENERATE)
        if self.operation.operation is not OperationType.MUTATION:
            return field, {}
        if field is None:
            raise Refused([GraphQLError(f"Ask for {GENERATE}, once.")])
        assert SCHEMA.mutation_type
        definition = SCHEMA.mutation_type.fields[GENERATE]
        return field, get_argument_values(definition, field, values)


_Result = ExecutionResult | ExperimentalIncrementalExecutionResults


async def _query(asked: _Asked, facts: Facts, agents: Agents) -> Told:
    result = await asked.execute(queries.root(agents, facts.sees))
    assert isinstance(result, ExecutionResult)
    return Reply(_whole(result), content_type=delivery.json_type(asked.accept))


async def _generate(asked: _Asked, facts: Facts, agents: Agents) -> Told:
    assert asked.field is not None
    data = asked.arguments["data"]
    try:
        wanted = request.read(data, facts)
        agent = await agents.find(wanted.agent)
    except AppError as error:
        body = errors.early(error, asked.field)
        return Reply(body, content_type=delivery.json_type(asked.accept))
    run = partial(agents.run, agent, wanted)

    def begin() -> Response:
        tells_state = data.get("agentSession") is not None
        return Response(wanted, tells_state=tells_state, run_id=data.get("runId"))

    if not asked.document.is_incremental:
        return AgentRun(run, collect=partial(_collect, asked, begin), model=wanted.model)
    kind = delivery.stream_type(asked.accept) or delivery.MULTIPART
    write = delivery.multipart if kind == delivery.MULTIPART else delivery.event_stream
    render = partial(_render, asked, begin, write)
    kept = delivery.keep_alive(kind)
    return AgentRun(run, render, content_type=kind, keep_alive=kept, model=wanted.model)


async def _collect(asked: _Asked, begin: Any, events: Events) -> Reply:
    async with aclosing(_payloads(asked, begin(), events)) as payloads:
        body = await anext(payloads)
    return Reply(body, content_type=delivery.json_type(asked.accept))


async def _render(asked: _Asked, begin: Any, write: Any, events: Events) -> Frames:
    async with aclosing(_payloads(asked, begin(), events)) as payloads:
        async for frame in write(payloads):
            yield frame


async def _payloads(
    asked: _Asked, response: Response, events: Events
) -> AsyncGenerator[Json, None]:
    feeding = spawn(_feed(response, events), "copilot response")
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


async def _feed(response: Response, events: Events) -> None:
    try:
        async for event in events:
            response.see(event.event if isinstance(event, OfChoice) else event)
    finally:
        with suppress(RuntimeError):
            response.fail(AppError("The answer ended before it was complete."))


def _whole(result: ExecutionResult) -> Json:
    told: Json = {"errors": errors.formatted(result.errors)} if result.errors else {}
    return told | {"data": result.data}


def _refusal(told: list[Json], accept_header: str) -> Reply:
    kind = delivery.json_type(accept_header)
    return Reply(
        {"errors": told}, 400 if kind == delivery.RESPONSE_JSON else 200, content_type=kind
    )


def failed(error: Exception) -> Reply:
    """Before the dialect is known: most of all a body that is no JSON."""
    status = error.status if isinstance(error, AppError) else 500
    message = "POST body sent invalid JSON." if isinstance(error, BadRequest) else str(error)
    return Reply(errors.bad_body(message), status)
