"""The style for any model: a grammar enforces JSON that holds either calls or a response."""

from server.chat import ChatRequest, Constraint, Tool
from server.engine.base import ModelFacts
from server.engine.styles import lark, messages, plain
from server.engine.styles.base import (
    Format,
    Prepared,
    abilities,
    callable_tools,
    most_calls,
    starts_in_thought,
    thought_marks,
    wants_tools,
)
from server.engine.styles.json_body import JsonBody
from server.engine.styles.parameters import json_schemas, typescript
from server.engine.styles.stream import More, Reader, Script, ScriptParser
from server.errors import BadRequest

NOTE = """You can call functions. Functions:
{functions}
Reply in JSON: {forms}"""
ANSWER_NOTE = "Reply in JSON: {forms}"
CALLS = '{"tool_calls": [{"name": ..., "arguments": {...}}]} to call functions'
NOT_WITH_TOOLS = "With tools, this model cannot continue a message."
CALL = JsonBody()
ANSWER = '{"response": ...} to answer'


def prepare(request: ChatRequest, facts: ModelFacts) -> Prepared:
    if not (wants_tools(request) or _would_imitate_calls(request)):
        return plain.prepare(request, facts)
    if request.continues:
        if wants_tools(request):
            raise BadRequest(NOT_WITH_TOOLS, "messages")
        return plain.prepare(request, facts)
    able = abilities(facts)
    marks = thought_marks(facts)
    opened = starts_in_thought(request, facts)
    note = describe_tools(request, as_json=facts.extra.get("tool_signatures") == "json")
    return Prepared(
        messages=messages.in_plain_turns(request.messages, able, note),
        parser=ScriptParser(
            script(marks if opened else None, text=request.constraint is None), request.stop
        ),
        constraint=Constraint("lark", grammar(request), strict=False),
        trigger=marks[1] if marks and opened else None,
        visible_tokens=marks or (),
    )


def grammar(request: ChatRequest) -> str:
    tools = callable_tools(request) if wants_tools(request) else ()
    rules = [_call(at, tool) for at, tool in enumerate(tools)]
    forms = []
    if tools:
        rules.append(f"call: {lark.any_call(tools)}")
        calls = lark.repeat("call", '", "', most_calls(request))
        forms.append(f'"\\"tool_calls\\": [" {calls} "]"')
    if request.tool_choice.mode != "required":
        forms.append('"\\"response\\": " answer')
        rules.append(f"answer: {_answer(request.constraint)}")
    return f'start: "{{" ({lark.any_of(forms)}) "}}"\n' + "\n".join(rules) + "\n"


def script(marks: tuple[str, str] | None, *, text: bool) -> Script:
    """Makes the script. With `text`, the response is a JSON string, emitted decoded; else raw."""

    def read(reader: Reader) -> More:
        if marks:
            yield from plain.read_thought(reader, marks, plain.trim(reader.think), opened=True)
        yield from read_answer(reader, text=text)

    return read


def read_answer(reader: Reader, *, text: bool) -> More:
    """Reads an object with calls or a response. Anything else is emitted as text."""
    yield from reader.skip_space()
    if not (yield from reader.accept("{")):
        yield from reader.until((), reader.say)
        return
    key = yield from reader.json_whole()
    yield from reader.skip_space()
    yield from reader.accept(":")
    yield from reader.skip_space()
    if key == "tool_calls":
        yield from _read_calls(reader)
    elif text and reader.text.startswith('"'):
        yield from reader.json_text(reader.say)
    else:
        yield from reader.json_value(reader.say)
    yield from reader.until((), reader.skip)


def _read_calls(reader: Reader) -> More:
    yield from reader.accept("[")
    while True:
        yield from reader.skip_space()
        if not (yield from CALL.read(reader, {})):
            return
        reader.close_call()
        yield from reader.skip_space()
        yield from reader.accept(",")


def _would_imitate_calls(request: ChatRequest) -> bool:
    """Whether earlier calls are shown as text: the model would imitate them, unwanted."""
    return request.constraint is None and any(message.tool_calls for message in request.messages)


def describe_tools(request: ChatRequest, *, as_json: bool) -> str:
    if not wants_tools(request):
        return ANSWER_NOTE.format(forms=ANSWER)
    tools = callable_tools(request)
    functions = json_schemas(tools) if as_json else typescript(tools)
    forms = CALLS if request.tool_choice.mode == "required" else f"{CALLS}, or {ANSWER}"
    return NOTE.format(functions=functions, forms=forms)


def _call(at: int, tool: Tool) -> str:
    head = lark.quote(f'{{"name": {lark.quote(tool.name)}, "arguments": ')
    arguments = lark.schema(tool.parameters, lenient=not tool.strict)
    return f'call_{at}: {head} arguments_{at} "}}"\narguments_{at}: {arguments}'


def _answer(constraint: Constraint | None) -> str:
    rule = lark.constraint_rule(constraint) if constraint else None
    return rule or lark.json_rule({"type": "string", "minLength": 1}, lenient=True)


FORMAT = Format("generic", lambda _facts: True, prepare, always=True)
