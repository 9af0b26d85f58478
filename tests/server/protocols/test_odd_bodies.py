"""Odd and broken bodies are read or refused in words, never stumbled over."""

import json
from collections import Counter

from scripts.fuzz_api import made
from server.chat import ChatRequest
from server.engine.base import ModelFacts
from server.engine.formats import FORMATS
from server.errors import AppError
from server.face import ModelCard
from server.protocols import ENDPOINTS
from server.protocols.base import Endpoint, Facts

BODIES = 1000
FACTS = Facts("", (ModelCard("small", "/s", 1),), "small")
POSTED = {endpoint.path: endpoint for endpoint in ENDPOINTS if endpoint.method == "POST"}


def test_most_are_read_and_the_rest_refused() -> None:
    outcomes = Counter(
        _outcome(POSTED[route], body, at)
        for at, (route, body) in enumerate(made(seed=3, count=BODIES, seconds=600))
    )
    assert outcomes.total() == BODIES
    assert outcomes["read"] > BODIES / 2
    assert outcomes["refused"]


def _outcome(endpoint: Endpoint, body: bytes, at: int) -> str:
    try:
        value = json.loads(body)
    except ValueError:
        return "no JSON"
    try:
        read = endpoint.accept(value, FACTS)
    except AppError:
        return "refused"
    if isinstance(read, ChatRequest) and read.prompt is None:
        FORMATS[at % len(FORMATS)].prepare(read, ModelFacts())
    return "read"
