"""Styles where each part of an answer names its reader: everybody, or a function."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.chat import ChatRequest, Constraint
from server.engine.base import ModelFacts
from server.engine.formats import lark, messages
from server.engine.formats.abilities import abilities, special_ids, visible
from server.engine.formats.base import Prepared
from server.engine.formats.choice import callable_tools, most_calls, wants_tools
from server.engine.formats.signatures import declared
from server.engine.formats.stream import SPACE, More, Reader, ScriptParser


@dataclass(frozen=True, slots=True)
class Recipients:
    """everybody between TEXT again NAME between {arguments} again …"""

    between: str
    again: str
    everybody: str = "all"


def prepare(style: Recipients, request: ChatRequest, facts: ModelFacts) -> Prepared:
    wanted = wants_tools(request)
    return Prepared(
        messages=messages.native(request.messages, abilities(facts)),
        tools=tuple(declared(tool) for tool in request.tools) if wanted else (),
        parser=ScriptParser(lambda reader: read(style, reader)),
        constraint=_bound(style, request, special_ids(facts)),
        visible_tokens=visible(facts, (style.between, style.again)),
        stop=request.stop if not wanted and request.constraint is None else (),
    )


def read(style: Recipients, reader: Reader) -> More:
    while True:
        parts: list[str] = []
        yield from reader.until((style.between,), parts.append)
        name = "".join(parts).strip(SPACE)
        if reader.ended and not reader.text:
            return
        if name == style.everybody:
            found = yield from reader.until((style.again,), reader.say)
            if found is None:
                return
            continue
        reader.open_call(name)
        yield from reader.json_value(reader.argue)
        reader.close_call()
        yield from reader.skip_space()
        yield from reader.accept(style.again.strip())


def _bound(
    style: Recipients, request: ChatRequest, specials: Mapping[str, int]
) -> Constraint | None:
    text = lark.literal(style.everybody + style.between, specials)
    answer = lark.constraint_rule(request.constraint) if request.constraint else "/(.|\\n)*/"
    if not wants_tools(request):
        return _lark(f"{text} answer", [f"answer: {answer}"]) if request.constraint else None
    again = lark.literal(style.again, specials)
    tools = callable_tools(request)
    rules = [
        f"call_{at}: {lark.literal(tool.name + style.between, specials)} arguments_{at}\n"
        f"arguments_{at}: {lark.schema(tool.parameters, lenient=True)}"
        for at, tool in enumerate(tools)
    ]
    rules.append("call: " + lark.any_of([f"call_{at}" for at in range(len(tools))]))
    calls = lark.repeated("call", again, most_calls(request))
    if request.tool_choice.mode == "required":
        return _lark(calls, rules)
    rules.append(f"answer: {answer}")
    if request.constraint:
        return _lark(f"{text} answer | {calls}", rules)
    rules.append(lark.text_until("said", style.again, specials))
    return _lark(f"{text} answer | ({text} said)? {calls}", rules)


def _lark(start: str, rules: list[str]) -> Constraint:
    return Constraint("lark", f"start: {start}\n" + "\n".join(rules) + "\n", strict=False)
