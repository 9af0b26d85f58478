"""What an operator asks: whether the server lives, whether a model answers, and the figures."""

from typing import Any

from server.protocols.base import Ask, Endpoint, Facts, Reply

PROMETHEUS = "text/plain; version=0.0.4"
NOT_READY = {
    "loading": "The model is being loaded.",
    "failed": "The model could not be loaded, or its server does not answer.",
    "no model": "No model is installed.",
    "not answering": "The engine does not answer.",
}


def health(_body: Any, facts: Facts) -> Reply:
    """Tells whether the engine answers: `ok`, `busy`, or `not answering` with 503. Needs no key.

    A model that works long on one step is busy; one that answers no ping cannot serve. A server
    whose model is still loading, or has none, lives as well: `/ready` tells that.
    """
    status = 503 if facts.engine_health == "not answering" else 200
    return Reply({"status": facts.engine_health}, status)


def ready(_body: Any, facts: Facts) -> Reply:
    """Tells whether a request would be answered now; 503 with the reason if not. Needs no key.

    A model that was unloaded because nobody used it is ready: the next request loads it.
    """
    reason = NOT_READY.get(facts.readiness)
    if reason is None:
        return Reply({"status": facts.readiness})
    return Reply({"status": facts.readiness, "reason": reason}, 503)


def metrics(_body: Any, _facts: Facts) -> Ask:
    """Gives the figures for Prometheus, by model and key; loads nothing."""
    return Ask("metrics", None, {}, lambda text: Reply(text=text, content_type=PROMETHEUS))


ENDPOINTS = (
    Endpoint("GET", "/health", health),
    Endpoint("GET", "/ready", ready),
    Endpoint("GET", "/metrics", metrics),
)
