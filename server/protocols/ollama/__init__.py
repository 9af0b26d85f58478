"""Ollama's API, for clients that speak no other."""

from server.protocols.base import Endpoint
from server.protocols.ollama import catalogue, chat, manage
from server.protocols.ollama.words import failed

__all__ = ["ENDPOINTS", "failed"]

LINES = "application/x-ndjson"

ENDPOINTS = (
    Endpoint("GET", "/", catalogue.root),
    Endpoint("HEAD", "/", catalogue.root),
    Endpoint(
        "POST",
        "/api/chat",
        chat.accept_chat,
        chat.render_chat,
        chat.collect_chat,
        chat.streams,
        LINES,
        failed,
    ),
    Endpoint(
        "POST",
        "/api/generate",
        chat.accept_generate,
        chat.render_generate,
        chat.collect_generate,
        chat.streams,
        LINES,
        failed,
    ),
    Endpoint("GET", "/api/tags", catalogue.tags, failed=failed),
    Endpoint("HEAD", "/api/tags", catalogue.tags, failed=failed),
    Endpoint("GET", "/api/ps", catalogue.running, failed=failed),
    Endpoint("POST", "/api/show", catalogue.show, failed=failed),
    Endpoint("GET", "/api/version", catalogue.version, failed=failed),
    Endpoint("HEAD", "/api/version", catalogue.version, failed=failed),
    Endpoint("GET", "/api/status", catalogue.status, failed=failed),
    Endpoint("POST", "/api/embed", catalogue.embed, failed=failed),
    Endpoint("POST", "/api/embeddings", catalogue.embed_one, failed=failed),
    Endpoint("POST", "/api/pull", manage.pull, content_type=LINES, failed=failed),
    Endpoint("DELETE", "/api/delete", manage.delete, failed=failed),
    Endpoint("POST", "/api/copy", manage.copy, failed=failed),
    Endpoint("POST", "/api/create", manage.create, content_type=LINES, failed=failed),
    Endpoint("POST", "/api/push", manage.push, failed=failed, reads_body=False),
    Endpoint("POST", "/api/blobs/{digest}", manage.blob, failed=failed, reads_body=False),
    Endpoint("HEAD", "/api/blobs/{digest}", manage.blob, failed=failed, reads_body=False),
)
