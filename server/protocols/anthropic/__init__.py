"""Anthropic's Messages API."""

from server.protocols.anthropic import answer, ask
from server.protocols.base import Endpoint

ENDPOINTS = (
    Endpoint(
        "POST",
        "/v1/messages",
        ask.accept,
        answer.render,
        answer.collect,
        ask.streams,
        failed=answer.failed,
    ),
    Endpoint("POST", "/v1/messages/count_tokens", ask.count_tokens, failed=answer.failed),
)
