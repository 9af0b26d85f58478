"""Anthropic's Messages API."""

from server.protocols.anthropic import answer, ask
from server.protocols.anthropic.answer import failed
from server.protocols.base import Endpoint
from server.protocols.fields import streams

__all__ = ["ENDPOINTS", "failed"]

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/messages",
        ask.accept,
        answer.render,
        answer.collect,
        streams,
        failed=failed,
    ),
    Endpoint("POST", "/v1/messages/count_tokens", ask.count_tokens, failed=failed),
)
