"""GET /health: the server is up. Says nothing else, and needs no key."""

from typing import Any

from server.protocols.base import Endpoint, Facts, Reply


def accept(_body: Any, _facts: Facts) -> Reply:
    return Reply({"status": "ok"})


ENDPOINTS = (Endpoint("GET", "/health", accept),)
