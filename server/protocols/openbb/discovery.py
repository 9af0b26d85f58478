"""What a client reads before it connects: the old file and the new one, side by side."""

from base64 import b64encode
from functools import cache
from typing import Any

from server.chat import Json
from server.paths import RESOURCES
from server.protocols.base import Facts, Reply

OLD_QUERY = "/v1/query"
QUERY = "/v1/agent/query"
FEEDBACK = "/v1/agent/feedback"
LENGTHS = {"short": "Short", "normal": "Normal", "long": "Detailed"}
PRESETS = {"precise": "Precise", "balanced": "Balanced", "creative": "Creative"}


def copilots(_body: Any, facts: Facts) -> Reply:
    copilot = {
        **_names(facts),
        "hasStreaming": True,
        "hasFunctionCalling": True,
        "hasDocuments": False,
        "endpoints": {"query": facts.address + OLD_QUERY},
        "features": _features(),
    }
    return Reply({"moat": copilot})


def agents(_body: Any, facts: Facts) -> Reply:
    agent: Json = {
        **_names(facts),
        "endpoints": {"query": facts.address + QUERY, "feedback": facts.address + FEEDBACK},
        "features": _features(),
    }
    if facts.models:
        cards = sorted(facts.models, key=lambda card: card.name != facts.default_model)
        agent["models"] = [{"id": card.name, "name": card.label or card.name} for card in cards]
    return Reply({"moat": agent})


def _names(facts: Facts) -> Json:
    return {
        "name": "Moat",
        "image": _image(),
        "description": f"A model on your own computer ({facts.default_model or 'none yet'}).",
    }


def _features() -> Json:
    return {
        "streaming": True,
        "widget-dashboard-select": True,
        "widget-dashboard-search": True,
        "widget-global-search": True,
        "file-upload": True,
        "generative-ui": True,
        "mcp-tools": True,
        "feedback": True,
        "answer-length": _select("Answer length", "normal", LENGTHS),
        "answer-style": _select("Answer style", "balanced", PRESETS),
        "answer-language": {
            "label": "Answer language",
            "type": "text",
            "default": "",
            "placeholder": "the question's",
        },
    }


def _select(label: str, default: str, options: dict[str, str]) -> Json:
    listed = [{"label": text, "value": value} for value, text in options.items()]
    return {"label": label, "type": "select", "default": default, "options": listed}


@cache
def _image() -> str:
    """Our icon, inside the answer: a page asks for nothing more."""
    drawn = (RESOURCES / "icons" / "moat.svg").read_bytes()
    return "data:image/svg+xml;base64," + b64encode(drawn).decode("ascii")
