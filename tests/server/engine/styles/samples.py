"""Tools, calls and readers that the tests of the styles share."""

from collections.abc import Iterable

from llguidance import LLMatcher, LLTokenizer

from server.chat import ChatRequest, Message, Tool, ToolCall
from server.engine.base import ModelFacts
from server.engine.styles.base import Format, Parser
from server.events import (
    CallArguments,
    CallOpened,
    Piece,
    ReasoningDelta,
    StopReason,
    TextDelta,
    ToolCallRequested,
    Usage,
)

WEATHER = Tool(
    "get_weather",
    "The weather.",
    {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where."},
            "days": {"type": "integer", "description": "How long."},
        },
        "required": ["city", "days"],
        "additionalProperties": False,
    },
)
SWITCH = Tool(
    "switch",
    "A switch.",
    {
        "type": "object",
        "properties": {
            "lamp": {"type": "integer", "minimum": 0, "maximum": 9, "description": "Which."},
            "mode": {"enum": ["low", "high"], "type": "string", "description": "How."},
        },
        "required": ["lamp"],
        "additionalProperties": False,
    },
)
CALLS = (
    ToolCall("call00001", "get_weather", {"city": 'Pa"r<is 🌍\n', "days": 4}),
    ToolCall("call00002", "switch", {"lamp": 3, "mode": "low"}),
)
ASK = ChatRequest((Message("user", "Hi"),), tools=(WEATHER, SWITCH))


def parser_of(style: Format, facts: ModelFacts, request: ChatRequest = ASK) -> Parser:
    return style.prepare(request, facts).parser


def pieces(parser: Parser, text: str, size: int, reason: StopReason = "stop") -> list[Piece]:
    made: list[Piece] = []
    for at in range(0, len(text), size):
        made += parser.feed(text[at : at + size])
    return made + parser.end(reason, Usage())


def calls_in(made: Iterable[Piece]) -> list[tuple[str, object]]:
    return [
        (piece.call.name, piece.call.arguments)
        for piece in made
        if isinstance(piece, ToolCallRequested)
    ]


def streamed(made: Iterable[Piece]) -> tuple[str, str, list[tuple[str, str, str]]]:
    """What a client puts together: text, thoughts, and each call's name, arguments and id."""
    text, thoughts = "", ""
    calls: list[tuple[str, str, str]] = []
    for piece in made:
        match piece:
            case TextDelta(said):
                text += said
            case ReasoningDelta(thought):
                thoughts += thought
            case CallOpened(_, call_id, name):
                calls.append((name, "", call_id))
            case CallArguments(index, part):
                name, before, call_id = calls[index]
                calls[index] = (name, before + part, call_id)
            case _:
                continue
    return text, thoughts, calls


def matches(grammar: str, text: str) -> bool:
    tokenizer = LLTokenizer("byte")
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(grammar), log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    tokens = tokenizer.tokenize_bytes(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and bool(matcher.is_accepting())


def with_template(source: str, **found: bool) -> ModelFacts:
    return ModelFacts(template=source, extra={"template": found})
