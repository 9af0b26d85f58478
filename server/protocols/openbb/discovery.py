"""The files that a Workspace reads before it connects: copilots.json (old) and agents.json."""

from base64 import b64encode
from collections import Counter
from functools import cache
from typing import Any

from server.chat import Json
from server.face.core import find_away
from server.face.models import ModelCard
from server.protocols.base import Facts, Reply
from server.system.paths import RESOURCES

OLD_QUERY = "/v1/query"
QUERY = "/v1/agent/query"
FEEDBACK = "/v1/agent/feedback"
LENGTHS = {"short": "Short", "normal": "Normal", "long": "Detailed"}
PRESETS = {"precise": "Precise", "balanced": "Balanced", "creative": "Creative"}


def copilots(_body: Any, facts: Facts) -> Reply:
    """Describes the copilot to older versions of Workspace."""
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
    """Describes the copilot to Workspace: its endpoints, features and models."""
    agent: Json = {
        **_names(facts),
        "endpoints": {"query": facts.address + QUERY, "feedback": facts.address + FEEDBACK},
        "features": _features(),
    }
    if facts.models:
        agent["models"] = _models(facts)
    return Reply({"moat": agent})


def _models(facts: Facts) -> list[Json]:
    """Lists the models, the default first. Models with equal titles are shown by name."""
    cards = sorted(facts.models, key=lambda card: card.name != facts.default_model)
    titles = Counter(card.title for card in cards if card.title and not card.base)
    return [{"id": card.name, "name": _label(card, titles)} for card in cards]


def _label(card: ModelCard, titles: Counter[str]) -> str:
    name = card.title if titles[card.title] == 1 and not card.base else card.name
    away = find_away(card.hosts)
    return f"{name} ({', '.join(away)})" if away else name


def _names(facts: Facts) -> Json:
    return {"name": "Moat", "image": _image(), "description": _description(facts)}


def _description(facts: Facts) -> str:
    """Returns the copilot's description. It names the other machine if prompts are sent there."""
    card = next((card for card in facts.models if card.name == facts.default_model), None)
    title = (card.title if card else "") or facts.default_model
    away = find_away(card.hosts) if card else ()
    if away:
        return f"A model at {', '.join(away)} ({title}). Prompts are sent there."
    return f"A model on your own computer ({title or 'none yet'})."


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
    """Returns our icon as a data URL, so that the page need not fetch it."""
    drawn = (RESOURCES / "icons" / "moat.svg").read_bytes()
    return "data:image/svg+xml;base64," + b64encode(drawn).decode("ascii")
