"""Routes for operators: liveness, readiness and metrics."""

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
    """Reports whether the engine is alive: `ok`, `busy`, or `not answering` with 503. Needs no key.

    A model that works on one step for long is `busy`; one that answers no ping is `not answering`.
    A server that has no model, or still loads it, is `ok` here: `/ready` reports that.
    """
    status = 503 if facts.engine_health == "not answering" else 200
    return Reply({"status": facts.engine_health}, status)


def ready(_body: Any, facts: Facts) -> Reply:
    """Reports whether a request would be answered now, or 503 with the reason. Needs no key.

    A model that was unloaded because nobody used it counts as ready: the next request loads it.
    """
    reason = NOT_READY.get(facts.readiness)
    if reason is None:
        return Reply({"status": facts.readiness})
    return Reply({"status": facts.readiness, "reason": reason}, 503)


def metrics(_body: Any, _facts: Facts) -> Ask:
    """Returns the metrics for Prometheus, by model and key. Loads no model."""
    return Ask("metrics", None, {}, lambda text: Reply(text=text, content_type=PROMETHEUS))


ENDPOINTS = (
    Endpoint("GET", "/health", health),
    Endpoint("GET", "/ready", ready),
    Endpoint("GET", "/metrics", metrics),
)
