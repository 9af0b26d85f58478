"""A model that only rolls dice, under each style's grammar: 200 answers, every call valid."""

import random

import jsonschema
import numpy as np
import pytest
from llguidance import LLMatcher, LLTokenizer

from server.chat import ChatRequest, Message, Tool, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import FORMATS
from server.engine.styles.base import Format
from server.events import Finished, ToolCallRequested
from tests.server.engine.styles.samples import pieces

ROLLS = 200
TOOLS = (
    Tool(
        "switch_lamp",
        "",
        {
            "type": "object",
            "properties": {
                "lamp": {"type": "integer", "minimum": 1, "maximum": 40},
                "mode": {"type": "string", "enum": ["low", "high"]},
                "on": {"type": "boolean"},
            },
            "required": ["lamp", "on"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "say",
        "",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 2, "maxLength": 6},
                "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]$"},
                "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
                "at": {
                    "type": "object",
                    "properties": {"x": {"type": "integer", "minimum": 0, "maximum": 5}},
                    "required": ["x"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "code", "tags"],
            "additionalProperties": False,
        },
    ),
    Tool(
        "order",
        "",
        {
            "type": "object",
            "$defs": {
                "Item": {
                    "type": "object",
                    "properties": {
                        "count": {"type": "integer", "minimum": 1, "maximum": 9},
                        "size": {"$ref": "#/definitions/Size"},
                        "same": {"$ref": "#/properties/pace"},
                    },
                    "required": ["count", "size"],
                    "additionalProperties": False,
                }
            },
            "definitions": {"Size": {"type": "string", "enum": ["S", "M"]}},
            "properties": {
                "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "maxItems": 2},
                "spare": {"anyOf": [{"$ref": "#/$defs/Item"}, {"type": "null"}]},
                "size": {"$ref": "#/definitions/Size"},
                "pace": {"type": "boolean"},
            },
            "additionalProperties": False,
        },
    ),
)
SCHEMAS = {tool.name: jsonschema.Draft202012Validator(tool.parameters) for tool in TOOLS}
FACTS = ModelFacts(template="")
TOKENIZER = LLTokenizer("byte")


@pytest.mark.parametrize("style", FORMATS, ids=lambda style: style.name)
def test_every_call_is_valid(style: Format) -> None:
    request = ChatRequest(
        (Message("user", "Go."),),
        tools=TOOLS,
        tool_choice=ToolChoice("required"),
        template_options=(("enable_thinking", False),),  # dice never end a thought
    )
    prepared = style.prepare(request, FACTS)
    assert prepared.constraint
    grammar = LLMatcher.grammar_from_lark(prepared.constraint.source)
    compiled = LLMatcher(TOKENIZER, grammar, log_level=0)
    assert not compiled.is_error(), compiled.get_error()
    wrong = [
        text
        for seed in range(ROLLS)
        if not _is_valid(style, request, text := _rolled(compiled.deep_copy(), seed))
    ]
    assert wrong == []


def _rolled(matcher: LLMatcher, seed: int) -> str:
    rng = random.Random(seed)
    said = bytearray()
    while not matcher.is_stopped():
        allowed = np.flatnonzero(
            np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little")
        )
        token = int(rng.choice(allowed))
        matcher.consume_token(token)
        if token < 256:
            said.append(token)
    return said.decode()


def _is_valid(style: Format, request: ChatRequest, text: str) -> bool:
    made = pieces(style.prepare(request, FACTS).parser, text, 3)
    calls = [piece for piece in made if isinstance(piece, ToolCallRequested)]
    ended = isinstance(made[-1], Finished) and made[-1].reason == "tool_calls"
    return ended and all(
        call.valid and SCHEMAS[call.call.name].is_valid(call.call.arguments) for call in calls
    )
