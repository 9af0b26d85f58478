"""What clients of llama-server know besides: tokens, templates, properties."""

from functools import partial
from typing import Any

from server.chat import ChatRequest, Json
from server.protocols.base import Ask, Endpoint, Facts, Reply
from server.protocols.fields import Fields, model_name, template_options
from server.protocols.frames import failed
from server.protocols.messages import messages_of, tools_of

MOST_TOKENS = 1_000_000
REPORTED = ("chat_template", "bos_token", "eos_token")


def tokenize(body: Any, facts: Facts) -> Ask:
    """Turns a text into token numbers."""
    fields = Fields(body)
    text = fields.text("content")
    if text is None:
        raise fields.wrong("content", "is missing")
    special = fields.flag("parse_special") is not False
    asked = {"text": text, "special": special}
    return Ask("tokenize", model_name(fields, facts), asked, lambda found: Reply({"tokens": found}))


def detokenize(body: Any, facts: Facts) -> Ask:
    """Turns token numbers into a text."""
    fields = Fields(body)
    tokens = fields.list("tokens")
    if len(tokens) > MOST_TOKENS or not all(
        type(token) is int and 0 <= token < 2**31 for token in tokens
    ):
        raise fields.wrong("tokens", "must be an array of token numbers")
    asked = {"tokens": tokens}
    return Ask(
        "detokenize", model_name(fields, facts), asked, lambda text: Reply({"content": text})
    )


def apply_template(body: Any, facts: Facts) -> Ask:
    """Renders a conversation as the prompt that the model would read."""
    fields = Fields(body)
    request = ChatRequest(
        messages=messages_of(fields),
        model=model_name(fields, facts),
        tools=tools_of(fields),
        template_options=template_options(fields),
    )
    asked = {"request": request}
    return Ask("apply_template", request.model, asked, lambda text: Reply({"prompt": text}))


def properties(_body: Any, facts: Facts) -> Ask:
    """Describes the loaded model in llama-server's words; loads nothing."""
    return Ask("stats", None, {}, partial(_properties, facts))


def _properties(facts: Facts, stats: Json) -> Reply:
    """Uses llama-server's names, and leaves out what the engine does not report."""
    stats = dict(stats)
    properties_told = {name: stats.pop(name) for name in REPORTED if name in stats}
    if "slots" in stats:
        properties_told["total_slots"] = stats.pop("slots")
    if "context_tokens" in stats:
        properties_told["default_generation_settings"] = {"n_ctx": stats.pop("context_tokens")}
    default = next((card for card in facts.models if card.name == facts.default_model), None)
    return Reply(
        {
            "model_alias": facts.default_model,
            "model_path": default.path if default else "",
            "build_info": f"moat-{facts.version}",
            "is_sleeping": not (default and default.loaded),
            "modalities": {"vision": bool(default and default.has_eyes), "audio": False},
            **properties_told,
            "stats": stats,
        }
    )


ENDPOINTS = (
    Endpoint("POST", "/tokenize", tokenize, failed=failed),
    Endpoint("POST", "/detokenize", detokenize, failed=failed),
    Endpoint("POST", "/apply-template", apply_template, failed=failed),
    Endpoint("GET", "/props", properties, failed=failed),
)
