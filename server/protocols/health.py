"""GET /health: whether the server is up and its engine answers. It needs no key."""

from typing import Any

from server.protocols.base import Endpoint, Facts, Reply


def accept(_body: Any, facts: Facts) -> Reply:
    """Tells whether the engine answers: `ok`, `busy`, or `not answering` with 503.

    A model that works long on one step is busy; one that answers no ping cannot serve.
    """
    status = 503 if facts.engine_health == "not answering" else 200
    return Reply({"status": facts.engine_health}, status)


ENDPOINTS = (Endpoint("GET", "/health", accept),)
