"""Errors with the words and codes that CopilotKit's pages can show."""

from collections.abc import Iterable
from dataclasses import dataclass

from graphql import FieldNode, GraphQLError, get_location

from server.chat import Json
from server.conversation.agents.base import AgentNotFound
from server.conversation.guardrails import TopicRefused
from server.errors import AppError

INTERNAL = "Something went wrong inside Moat; the log says what."


@dataclass(frozen=True, slots=True)
class Kind:
    code: str
    status: int
    visibility: str = "banner"
    severity: str = "critical"


NETWORK = Kind("NETWORK_ERROR", 503)
AGENT_NOT_FOUND = Kind("AGENT_NOT_FOUND", 500)
AUTHENTICATION = Kind("AUTHENTICATION_ERROR", 401)
CONFIGURATION = Kind("CONFIGURATION_ERROR", 400, severity="warning")
UNKNOWN = Kind("UNKNOWN", 500, visibility="toast")


def kind_of(error: AppError) -> Kind:
    if isinstance(error, AgentNotFound):
        return AGENT_NOT_FOUND
    if error.status == 401:
        return AUTHENTICATION
    if error.status < 500:
        return CONFIGURATION
    return UNKNOWN if error.code == AppError.code else NETWORK


def extensions(error: AppError) -> Json:
    kind = kind_of(error)
    return {
        "name": "CopilotError",
        "statusCode": kind.status,
        "code": kind.code,
        "visibility": kind.visibility,
        "severity": kind.severity,
        "troubleshootingUrl": None,
        "originalError": {"message": str(error)},
    }


def failed_status(error: AppError) -> Json:
    """Returns the end of an answer that failed halfway."""
    status: Json = {"__typename": "FailedResponseStatus", "code": "Failed"}
    if isinstance(error, TopicRefused):
        details: Json = {"guardrailsReason": str(error)}
        return status | {"reason": "GUARDRAILS_VALIDATION_FAILED", "details": details}
    kind = kind_of(error)
    original = {
        "code": kind.code,
        "statusCode": error.status,
        "severity": kind.severity,
        "visibility": kind.visibility,
        "originalErrorType": type(error).__name__,
        "extensions": extensions(error),
    }
    details = {"description": str(error), "originalError": original}
    return status | {"reason": "UNKNOWN_ERROR", "details": details}


def early(error: AppError, field: FieldNode) -> Json:
    """Returns an error from before the answer began."""
    place = field.loc and get_location(field.loc.source, field.loc.start)
    failure: Json = {"message": str(error)}
    if place:
        failure["locations"] = [{"line": place.line, "column": place.column}]
    failure |= {"path": [field.name.value], "extensions": extensions(error)}
    return {"errors": [failure], "data": None}


def format_errors(errors: Iterable[GraphQLError]) -> list[Json]:
    """Formats GraphQL's own errors. The text of an unexpected exception stays in the log."""
    listed = []
    for error in errors:
        cause = error.original_error
        entry = dict(error.formatted)
        if isinstance(cause, AppError):
            entry["extensions"] = extensions(cause)
        elif cause is not None and not isinstance(cause, GraphQLError):
            entry["message"] = INTERNAL
        listed.append(entry)
    return listed


def bad_body(message: str) -> Json:
    """Returns an error while the dialect is unknown: clients of both generations can read it."""
    error = {"message": message, "extensions": {"code": "BAD_REQUEST"}}
    return {"errors": [error], "error": "invalid_request", "message": message}
