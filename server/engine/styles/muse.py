"""Muse: each part of an answer has a recipient; "to=self" is thought, "to=name" is a call."""

import re
from collections.abc import Mapping

from server.chat import ChatRequest, Constraint
from server.engine.base import ModelFacts
from server.engine.styles import lark
from server.engine.styles.base import (
    Format,
    Prepared,
    callable_tools,
    most_calls,
    special_ids,
    wants_tools,
)
from server.engine.styles.shape import Tools, has, prepare_parts
from server.engine.styles.stream import More, Reader
from server.engine.styles.tagged_body import TaggedBody

MESSAGE, NEXT = "<|message|>", "<|eom|><|start|>assistant"
ENDS = ("<|eom|>", "<|eot|>")
RECIPIENT = re.compile(r"to=([^\s<]+)")
CALLS, CALLS_END = "<atem:function_calls>\n", "\n</atem:function_calls>"
BODY = TaggedBody(
    name=('<atem:invoke name="', '">\n'),
    key=('<atem:parameter name="', '">'),
    value=("", ""),
    end="</atem:parameter>\n",
    closes="</atem:invoke>",
)


def prepare(request: ChatRequest, facts: ModelFacts) -> Prepared:
    tools = {tool.name: tool for tool in request.tools}
    bound = _constraint(request, special_ids(facts))
    marks = (MESSAGE, NEXT, *ENDS, *BODY.texts, CALLS, CALLS_END)
    return prepare_parts(request, facts, lambda reader: read(reader, tools), bound, marks)


def read(reader: Reader, tools: Tools) -> More:
    yield from reader.read_parts(MESSAGE, lambda header: _body(reader, header, tools))


def _body(reader: Reader, header: str, tools: Tools) -> More:
    recipient = RECIPIENT.findall(header)[-1:]
    if recipient in ([], ["user"]):
        yield from reader.until(ENDS, reader.say)
    elif recipient == ["self"]:
        yield from reader.until(ENDS, reader.think)
    else:
        yield from _calls(reader, tools)


def _calls(reader: Reader, tools: Tools) -> More:
    yield from reader.skip_space()
    yield from reader.accept(CALLS.strip())
    while True:
        yield from reader.skip_space()
        if not (yield from BODY.read(reader, tools)):
            break
        reader.close_call()
    yield from reader.until(ENDS, lambda _text: None)


def _constraint(
    request: ChatRequest, specials: Mapping[str, int]
) -> tuple[Constraint | None, str | None]:
    answer = lark.constraint_rule(request.constraint) if request.constraint else None
    final = f"{lark.literal(f' to=user{MESSAGE}', specials)} answer"
    rules = [f"answer: {answer}"] if answer else []
    off = dict(request.template_options).get("enable_thinking") is False
    thought = "" if off else "thought?"
    if not wants_tools(request):
        start = f"{thought} {final}"
        return (lark.grammar(start, [*rules, *_thought_rules(specials)]) if answer else None), None
    rules += _call_rules(request, specials)
    if request.tool_choice.mode != "required" and not answer:
        return lark.grammar("calls", rules), CALLS
    forms = "addressed" if request.tool_choice.mode == "required" else f"(addressed | {final})"
    return lark.grammar(f"{thought} {forms}", [*rules, *_thought_rules(specials)]), None


def _call_rules(request: ChatRequest, specials: Mapping[str, int]) -> list[str]:
    """Returns rules of calls: `calls` begins inside the first call, `addressed` before it."""
    tools = callable_tools(request)
    closing, again = (lark.literal(text, specials) for text in (CALLS_END, NEXT))
    heads = [lark.literal(f" to={tool.name}{MESSAGE}{CALLS}", specials) for tool in tools]
    rules = [rule for at, tool in enumerate(tools) for rule in BODY.rules(at, tool, specials)]
    addressed = lark.any_of([f"{head} call_{at}" for at, head in enumerate(heads)])
    unaddressed = lark.any_call(tools)
    more = most_calls(request) - 1
    rest = f"({again} whole_call){{0,{more}}}" if more else ""
    return [
        *rules,
        f"whole_call: ({addressed}) {closing}",
        f"addressed: whole_call {rest}",
        f"calls: ({unaddressed}) {closing} {rest}",
    ]


def _thought_rules(specials: Mapping[str, int]) -> list[str]:
    begin = lark.literal(f" to=self{MESSAGE}", specials)
    after = lark.literal("<|start|>assistant", specials)
    return [f"thought: {begin} said {after}", lark.text_until("said", "<|eom|>", specials)]


FORMAT = Format("muse", has("<atem:function_calls>", "to=self"), prepare, always=True)
