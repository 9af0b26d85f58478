"""CopilotKit's routes. Both generations share one address; the body shows which one asks."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from server.chat import Json
from server.conversation.agents.base import AgentNotFound
from server.errors import BadRequest
from server.protocols.agui import routes as agui
from server.protocols.base import Accept, Accepted, Endpoint, Facts, Reply
from server.protocols.fields import Fields
from server.system.lazy import Late

operations = Late("server.protocols.copilotkit.operations")
BASES = ("/api/copilotkit", "/copilotkit")


def accept(body: Any, facts: Facts) -> Accepted:
    """Accepts GraphQL (clients up to 1.10.6), or a method of AG-UI in an envelope (since 1.50)."""
    if isinstance(body, dict) and "query" in body:
        return _graphql(body, facts)
    if not isinstance(body, dict) or not isinstance(body.get("method"), str):
        return _invalid("Missing method field")
    try:
        return _accept_method(body["method"], body, facts)
    except BadRequest as error:
        return agui.failed(error)


def ask_by_get(_body: Any, facts: Facts) -> Accepted:
    """Answers a GraphQL query given in the URL. Mutations need POST."""
    if "query" not in facts.query:
        error = {"message": "Must provide query string.", "extensions": {"code": "BAD_REQUEST"}}
        return Reply({"errors": [error]})
    return _graphql({"query": facts.query["query"]}, facts, reads_only=True)


def _graphql(body: Json, facts: Facts, *, reads_only: bool = False) -> Accepted:
    accepted: Accepted = operations.accept(body, facts, reads_only=reads_only)
    return accepted


def _describe_failure(error: Exception) -> Reply:
    if isinstance(error, AgentNotFound):  # GraphQL formats this error itself
        return agui.failed(error)
    reply: Reply = operations.describe_failure(error)
    return reply


def _accept_method(method: str, body: Any, facts: Facts) -> Accepted:  # noqa: PLR0911
    params, sent = Fields(body.get("params") or {}, "params"), body.get("body")
    agent = params.some_text("agentId") if method.startswith("agent/") else ""
    match method:
        case "info":
            return agui.info(facts)
        case "transcribe":
            return agui.transcribe()
        case "resource/request":
            return _resource(params, facts)
        case "agent/run":
            return agui.run(sent, agent, facts)
        case "agent/connect":
            return agui.connect(sent, agent, facts)
        case "agent/suggest":
            return agui.run(sent, agent, facts, is_kept=False)
        case "agent/stop":
            return agui.stop(agent, params.some_text("threadId"), facts)
        case _:
            return _invalid(f"Unsupported method '{method[:100]}'")


def _resource(params: Fields, facts: Facts) -> Accepted:
    url = urlsplit(params.some_text("path"))
    parts = url.path.strip("/").split("/")
    is_get = (params.text("httpMethod") or "GET").upper() == "GET"
    if parts == ["threads"] and is_get:
        return agui.threads(parse_qs(url.query).get("agentId", [""])[0], facts)
    if parts == ["threads", "clear"] and not is_get:
        return agui.clear(facts)
    if len(parts) == 3 and parts[0] == "threads" and is_get:
        return agui.thread(parts[1], parts[2], facts)
    return Reply({"error": "Not found"}, 404)


def _invalid(message: str) -> Reply:
    return Reply({"error": "invalid_request", "message": message}, 400)


def _info(_body: Any, facts: Facts) -> Accepted:
    """Lists the agents and the features of this runtime."""
    return agui.info(facts)


def _run(body: Any, facts: Facts) -> Accepted:
    """Runs an agent and streams its events."""
    return agui.run(body, facts.path["agent"], facts)


def _connect(body: Any, facts: Facts) -> Accepted:
    """Replays a thread that is kept, and follows its current run, if there is one."""
    return agui.connect(body, facts.path["agent"], facts)


def _suggest(body: Any, facts: Facts) -> Accepted:
    """Runs an agent for suggestions. The run is not kept in the thread."""
    return agui.run(body, facts.path["agent"], facts, is_kept=False)


def _stop(_body: Any, facts: Facts) -> Accepted:
    """Stops the current run of a thread."""
    return agui.stop(facts.path["agent"], facts.path["thread"], facts)


def _threads(_body: Any, facts: Facts) -> Accepted:
    """Lists the threads of an agent that the client may see."""
    return agui.threads(facts.query.get("agentId", ""), facts)


def _thread(_body: Any, facts: Facts) -> Accepted:
    """Returns the `messages`, the `events` or the `state` of a thread."""
    return agui.thread(facts.path["thread"], facts.path["what"], facts)


def _clear(_body: Any, facts: Facts) -> Accepted:
    """Deletes the threads that the client may see, except those with a current run."""
    return agui.clear(facts)


def _transcribe(_body: Any, _facts: Facts) -> Accepted:
    """Refuses: there is no model for speech."""
    return agui.transcribe()


REST: tuple[tuple[str, str, Accept], ...] = (
    ("GET", "/info", _info),
    ("POST", "/agent/{agent}/run", _run),
    ("POST", "/agent/{agent}/connect", _connect),
    ("POST", "/agent/{agent}/suggest", _suggest),
    ("POST", "/agent/{agent}/stop/{thread}", _stop),
    ("GET", "/threads", _threads),
    ("GET", "/threads/{thread}/{what}", _thread),
    ("POST", "/threads/clear", _clear),
    ("POST", "/transcribe", _transcribe),
)


def _endpoints(base: str) -> tuple[Endpoint, ...]:
    return (
        Endpoint("POST", base, accept, failed=_describe_failure, takes_credentials=True),
        Endpoint("GET", base, ask_by_get, failed=_describe_failure),
        *(
            Endpoint(method, base + path, take, failed=agui.failed, needs_body=False)
            for method, path, take in REST
        ),
    )


ENDPOINTS = tuple(endpoint for base in BASES for endpoint in _endpoints(base))
