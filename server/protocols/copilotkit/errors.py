"""Errors in the words and codes that CopilotKit's pages know how to show."""

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
    """The end of an answer that failed on the way."""
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
    """An error before anything was answered."""
    place = field.loc and get_location(field.loc.source, field.loc.start)
    told: Json = {"message": str(error)}
    if place:
        told["locations"] = [{"line": place.line, "column": place.column}]
    told |= {"path": [field.name.value], "extensions": extensions(error)}
    return {"errors": [told], "data": None}


def formatted(errors: Iterable[GraphQLError]) -> list[Json]:
    """GraphQL's own errors; what an exception of ours said stays in the log."""
    told = []
    for error in errors:
        cause = error.original_error
        one = dict(error.formatted)
        if isinstance(cause, AppError):
            one["extensions"] = extensions(cause)
        elif cause is not None and not isinstance(cause, GraphQLError):
            one["message"] = INTERNAL
        told.append(one)
    return told


def bad_body(message: str) -> Json:
    """Sent where the dialect is not known yet: readable to clients of both generations."""
    error = {"message": message, "extensions": {"code": "BAD_REQUEST"}}
    return {"errors": [error], "error": "invalid_request", "message": message}
