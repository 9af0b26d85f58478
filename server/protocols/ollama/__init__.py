"""Ollama's API, for the clients that know only that one."""

from server.protocols.base import Endpoint
from server.protocols.ollama import answer, ask, catalogue
from server.protocols.ollama.words import failed

LINES = "application/x-ndjson"

ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/chat",
        ask.accept_chat,
        answer.render_chat,
        answer.collect_chat,
        ask.streams,
        LINES,
        failed,
    ),
    Endpoint(
        "POST",
        "/api/generate",
        ask.accept_generate,
        answer.render_generate,
        answer.collect_generate,
        ask.streams,
        LINES,
        failed,
    ),
    Endpoint("GET", "/api/tags", catalogue.tags, failed=failed),
    Endpoint("GET", "/api/ps", catalogue.running, failed=failed),
    Endpoint("POST", "/api/show", catalogue.show, failed=failed),
    Endpoint("GET", "/api/version", catalogue.version, failed=failed),
    Endpoint("POST", "/api/embed", catalogue.embed, failed=failed),
)
