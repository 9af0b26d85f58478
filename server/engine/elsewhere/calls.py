"""Checks the tool calls of a model on another machine and, if its server cannot, parses them.

A server parses a model's calls itself. If it cannot, or if a call does not fit its schema, the
request is sent in our own form: the prompt describes the tools, and a JSON schema, which nearly
every server supports, restricts the answer to calls or a response.
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
"""Keywords that the grammars of llama-server, vLLM and SGLang enforce, or that restrict nothing."""
BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
"""Keywords that those grammars enforce for integers only."""
NAMED = frozenset({"properties", "$defs", "definitions"})
LISTED = frozenset({"anyOf", "prefixItems"})
NESTED = frozenset({"items", "additionalProperties"})
STEPS = 100
"""How many steps divide a range of numbers into the list that replaces its limits."""


@dataclass(slots=True)
class CheckedCalls:
    """Passes on the pieces of an answer, but holds a call back until it is complete and fits.

    If the server enforces the schemas of calls, they are passed on while they arrive.
    """

    request: ChatRequest
    is_bound: bool = False
    is_final: bool = False
    """Whether a call that does not fit was already passed on, so that it is too late to retry."""
    wrong: list[tuple[ToolCall, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    """What is wrong with the answer. It is complete when the answer has ended."""
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
        """Returns the request with the faults added. The next answer must be a call."""
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
            # The answer was cut off, in a call or before one. Only its length is wrong.
            self.wrong = []
            return self._cut
        self.faults = [fault for _, fault in self.wrong]
        if lacks_call and not self.wrong:
            self.faults = [NO_CALL]
        self._name_tools()
        return []

    def _name_tools(self) -> None:
        """Renames calls of unknown tools to the first tool, as only that can be requested again."""
        tools = callable_tools(self.request)
        known = {tool.name for tool in tools}
        self.wrong = [
            (call if call.name in known else replace(call, name=tools[0].name), fault)
            for call, fault in self.wrong
        ]


def bind(request: ChatRequest) -> ChatRequest:
    """Returns the request in our own form: no tools, but a schema for calls and a response."""
    note = describe_tools(request, as_json=False)
    messages = [_as_plain_turn(message) for message in request.messages]
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
    """Returns why a text does not fit the request's JSON schema; empty if it fits."""
    assert request.constraint
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "it is no JSON"
    return check.misfit(found, json.loads(request.constraint.source))


def can_be_bound(request: ChatRequest) -> bool:
    """Whether servers' grammars are known to enforce the whole schema.

    They ignore other keywords silently, so such an answer is checked before it is passed on.
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
    """Returns the schemas in a keyword that holds several; `[None]` if it has another type."""
    match held:
        case dict():
            return list(held.values())
        case list():
            return held
        case _:
            return [None]


def narrow(request: ChatRequest) -> ChatRequest:
    """Returns the request with lists of numbers instead of limits that grammars ignore.

    What fits it also fits the original request. A list is coarse, so this is for a last attempt.
    """
    tools, constraint = request.tools, request.constraint
    try:
        tools = tuple(replace(tool, parameters=_narrow(tool.parameters)) for tool in tools)
        if constraint is not None and constraint.kind == "json_schema":
            schema = _narrow(json.loads(constraint.source))
            constraint = replace(constraint, source=json.dumps(schema))
    except (ArithmeticError, TypeError, ValueError, RecursionError):
        return request  # The schema is invalid, or no number fits it.
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
    """Returns numbers that fit: evenly between the limits, or beginning at the only one."""
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


def _as_plain_turn(message: Message) -> Message:
    """Writes calls and results as ordinary turns: some servers do not know those roles."""
    if message.role == "tool":
        text = RESULT.format(name=message.name or "the call", text=message.content)
        return Message("user", text, images=message.images)
    if message.tool_calls:
        text = "\n".join(filter(None, (message.content, envelope(message.tool_calls))))
        return replace(message, content=text, tool_calls=())
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
    """Returns the tool's schema. Its definitions move to `definitions`, under prefixed names."""
    schema = dict(tool.parameters or ANYTHING)
    for word in ("$defs", "definitions"):
        for name, held in (schema.pop(word, None) or {}).items():
            definitions[prefix + name] = _rename(held, prefix)
    found: Json = _rename(schema, prefix)
    return found


def _rename(node: Any, prefix: str) -> Any:
    if isinstance(node, list):
        return [_rename(held, prefix) for held in node]
    if not isinstance(node, dict):
        return node
    made = {name: _rename(held, prefix) for name, held in node.items()}
    place = made.get("$ref")
    for root in ("#/$defs/", "#/definitions/"):
        if isinstance(place, str) and place.startswith(root):
            made["$ref"] = f"#/$defs/{prefix}{place.removeprefix(root)}"
    return made
