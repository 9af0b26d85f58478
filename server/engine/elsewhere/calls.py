"""Tool calls of a model elsewhere: checked against their schemas, and read by us where need be.

A server reads a model's calls by its own parser. Where it has none, or where a call does not fit,
the model is asked in a form of ours: tools are described in the prompt, and a JSON schema, which
nearly every server takes, binds the answer to calls or a response.
"""

import json
import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from server.chat import ChatRequest, Constraint, Json, Message, Tool, ToolCall
from server.engine.styles.base import callable_tools, most_calls
from server.engine.styles.generic import describe_tools, read_answer
from server.engine.styles.messages import envelope
from server.engine.styles.stream import ScriptParser
from server.events import CallArguments, CallOpened, Finished, Piece, ToolCallRequested
from server.schemas import check
from server.schemas.bounded import closed

NO_CALL = "no call"
RESULT = "You called {name}. The result: {text}"
AGAIN = "You gave what does not fit the JSON schema: {fault}. Answer again, with JSON that fits."
ANYTHING: Json = {"type": "object"}
FOLLOWED = frozenset({
    "type", "enum", "const", "required", "pattern", "format", "minLength", "maxLength", "minItems",
    "maxItems", "$ref", "title", "description", "default", "examples", "$schema", "$id", "$comment",
})  # fmt: skip
"""The keywords that the grammars of llama-server, vLLM and SGLang follow, or that bind nothing."""
BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
"""They are followed for integers only."""
NAMED = frozenset({"properties", "$defs", "definitions"})
LISTED = frozenset({"anyOf", "prefixItems"})
NESTED = frozenset({"items", "additionalProperties"})
STEPS = 100


@dataclass(slots=True)
class CheckedCalls:
    """Passes on what fits. A call is held back until all of it is known.

    Where the server binds calls to their schemas, they are passed on as they come.
    """

    request: ChatRequest
    is_bound: bool = False
    is_final: bool = False
    """A call that does not fit was passed on: it is too late to ask again."""
    wrong: list[tuple[ToolCall, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What is wrong with the answer, known once it has ended."""
    end: Finished | None = None
    _begun: list[Piece] = field(default_factory=list)
    _cut: list[Piece] = field(default_factory=list)
    _made: int = 0
    _is_live: bool = False

    def see(self, piece: Piece) -> list[Piece]:
        match piece:
            case CallOpened():
                self._begun, self._is_live = [], self._can_pass(piece.name)
                return self._pass_or_hold(piece)
            case CallArguments():
                return self._pass_or_hold(piece)
            case ToolCallRequested():
                return self._check(piece)
            case Finished():
                return self._finish(piece)
            case _:
                return [piece]

    def ask_again(self) -> ChatRequest:
        """The same question with what was wrong; the answer has to be a call."""
        return check.ask_again(self.request, self.wrong) if self.wrong else self.request

    def _can_pass(self, name: str) -> bool:
        tools = {tool.name: tool for tool in callable_tools(self.request)}
        return self.is_bound and name in tools and _is_followed(tools[name].parameters or ANYTHING)

    def _pass_or_hold(self, piece: Piece) -> list[Piece]:
        if self._is_live:
            return [piece]
        self._begun.append(piece)
        return []

    def _check(self, piece: ToolCallRequested) -> list[Piece]:
        held, self._begun = [*self._begun, piece], []
        fault = self._find_fault(piece)
        if not fault:
            self._made += 1
            return held
        self.is_final |= self._is_live
        self.wrong.append((piece.call, fault))
        self._cut += [] if piece.valid else held
        return []

    def _find_fault(self, piece: ToolCallRequested) -> str:
        tools = {tool.name: tool for tool in callable_tools(self.request)}
        tool = tools.get(piece.call.name)
        if tool is None:
            return f"there is no tool '{piece.call.name}', only {', '.join(tools)}"
        if not piece.valid:
            return "its arguments are no JSON object"
        return check.misfit(piece.call.arguments, tool.parameters)

    def _finish(self, end: Finished) -> list[Piece]:
        self.end = end
        lacks_call = self.request.tool_choice.mode == "required" and not self._made
        if end.reason == "length" and (self._cut or not self.wrong):
            # It was cut, in a call or before one: nothing is wrong but its length.
            self.wrong = []
            return self._cut
        self.faults = [fault for _, fault in self.wrong]
        if lacks_call and not self.wrong:
            self.faults = [NO_CALL]
        self._name_tools()
        return []

    def _name_tools(self) -> None:
        """A call of a tool that is not there cannot be asked for again by that name."""
        tools = callable_tools(self.request)
        known = {tool.name for tool in tools}
        self.wrong = [
            (call if call.name in known else replace(call, name=tools[0].name), fault)
            for call, fault in self.wrong
        ]


def bind(request: ChatRequest) -> ChatRequest:
    """The request in our own form: without tools, but with a schema for calls and a response."""
    note = describe_tools(request, as_json=False)
    messages = [_tell(message) for message in request.messages]
    if messages and messages[0].role == "system":
        head = messages.pop(0)
        note = f"{head.content}\n\n{note}"
    return replace(
        request,
        messages=(Message("system", note), *messages),
        tools=(),
        continues=False,
        stop=(),
        constraint=Constraint("json_schema", json.dumps(_schema(request)), strict=False),
    )


def parser_of(request: ChatRequest) -> ScriptParser:
    return ScriptParser(partial(read_answer, text=request.constraint is None), request.stop)


def find_fault(text: str, request: ChatRequest) -> str:
    """What keeps an answer from fitting the schema that it was asked by."""
    assert request.constraint
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "it is no JSON"
    return check.misfit(found, json.loads(request.constraint.source))


def can_be_bound(request: ChatRequest) -> bool:
    """Whether the grammar of a server elsewhere is known to follow all of the schema.

    They pass over other keywords in silence: such an answer is checked before anyone sees it.
    """
    assert request.constraint
    try:
        return _is_followed(json.loads(request.constraint.source))
    except RecursionError:
        return False


def _is_followed(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return isinstance(schema, bool)
    known = FOLLOWED | NAMED | LISTED | NESTED
    known |= BOUNDS if schema.get("type") == "integer" else frozenset()
    held = [
        *(part for key in NAMED & schema.keys() for part in _values(schema[key])),
        *(part for key in LISTED & schema.keys() for part in _values(schema[key])),
        *(schema[key] for key in NESTED & schema.keys()),
    ]
    return schema.keys() <= known and all(map(_is_followed, held))


def _values(held: Any) -> list[Any]:
    """The schemas of a keyword that has several; what is not one is not followed."""
    match held:
        case dict():
            return list(held.values())
        case list():
            return held
        case _:
            return [None]


def narrow(request: ChatRequest) -> ChatRequest:
    """The request with lists of numbers in place of limits that grammars pass over.

    What fits it fits the request as well. A list is coarse, so this is for a last attempt.
    """
    tools, constraint = request.tools, request.constraint
    try:
        tools = tuple(replace(tool, parameters=_narrow(tool.parameters)) for tool in tools)
        if constraint is not None and constraint.kind == "json_schema":
            schema = _narrow(json.loads(constraint.source))
            constraint = replace(constraint, source=json.dumps(schema))
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        return request  # no schema that a number could be found for
    return replace(request, tools=tools, constraint=constraint)


def _narrow(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_narrow(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _narrow(part) for name, part in schema.items()}
    is_number = schema.get("type") in ("number", "integer")
    if not is_number or _is_followed(schema) or not (found := _examples(schema)):
        return made
    return {"enum": found}


def _examples(schema: Json) -> list[float]:
    """Numbers that fit: evenly between the limits, or from the one that there is."""
    lowest = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    highest = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    low, high = max(lowest, default=None), min(highest, default=None)
    step = schema.get("multipleOf") or (1 if low is None or high is None else (high - low) / STEPS)
    if low is None:
        low = 0 if high is None else high - step * STEPS
    if "multipleOf" in schema:
        low = math.ceil(low / step) * step
    numbers = [round(float(low + step * turn), 9) for turn in range(STEPS + 1)]
    whole: list[Any] = [int(found) if found.is_integer() else found for found in numbers]
    return [number for number in dict.fromkeys(whole) if not check.misfit(number, schema)]


def ask_for_json(request: ChatRequest, text: str, fault: str) -> ChatRequest:
    more = (Message("assistant", text), Message("user", AGAIN.format(fault=fault)))
    return replace(request, messages=(*request.messages, *more))


def _tell(message: Message) -> Message:
    """Calls and results as ordinary turns: what parses no calls may not know their roles."""
    if message.role == "tool":
        text = RESULT.format(name=message.name or "the call", text=message.content)
        return Message("user", text, images=message.images)
    if message.tool_calls:
        said = "\n".join(filter(None, (message.content, envelope(message.tool_calls))))
        return replace(message, content=said, tool_calls=())
    return message


def _schema(request: ChatRequest) -> Json:
    definitions: Json = {}
    forms = []
    for number, tool in enumerate(callable_tools(request)):
        arguments = _hoist(tool, f"tool{number}_", definitions)
        forms.append(closed({"name": {"const": tool.name}, "arguments": arguments}))
    items = forms[0] if len(forms) == 1 else {"anyOf": forms}
    listed = {"type": "array", "items": items, "minItems": 1, "maxItems": most_calls(request)}
    schema = closed({"tool_calls": listed})
    if request.tool_choice.mode != "required":
        schema = {"anyOf": [schema, closed({"response": _response(request.constraint)})]}
    return {**schema, "$defs": definitions} if definitions else schema


def _response(constraint: Constraint | None) -> Json:
    if constraint is None or constraint.kind != "json_schema":
        return {"type": "string"}
    found: Json = json.loads(constraint.source)
    return found


def _hoist(tool: Tool, prefix: str, definitions: Json) -> Json:
    """The tool's schema, its definitions moved to the root under names of their own."""
    schema = dict(tool.parameters or ANYTHING)
    for word in ("$defs", "definitions"):
        for name, held in (schema.pop(word, None) or {}).items():
            definitions[prefix + name] = _renamed(held, prefix)
    found: Json = _renamed(schema, prefix)
    return found


def _renamed(node: Any, prefix: str) -> Any:
    if isinstance(node, list):
        return [_renamed(held, prefix) for held in node]
    if not isinstance(node, dict):
        return node
    made = {name: _renamed(held, prefix) for name, held in node.items()}
    place = made.get("$ref")
    for root in ("#/$defs/", "#/definitions/"):
        if isinstance(place, str) and place.startswith(root):
            made["$ref"] = f"#/$defs/{prefix}{place.removeprefix(root)}"
    return made
