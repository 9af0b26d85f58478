"""gpt-oss: channel "analysis" is thought, "final" is the answer, "to=functions.name" is a call."""

import re
from collections.abc import Mapping
from dataclasses import replace

from server.chat import ChatRequest, Constraint
from server.engine.base import ModelFacts
from server.engine.styles import lark
from server.engine.styles.base import (
    Format,
    Prepared,
    TemplateMessage,
    callable_tools,
    special_ids,
    wants_tools,
)
from server.engine.styles.shape import has, prepare_parts
from server.engine.styles.stream import More, Reader

MESSAGE, START = "<|message|>", "<|start|>"
ENDS = ("<|end|>", "<|call|>", "<|return|>", START)
MARKS = (MESSAGE, "<|channel|>", "<|constrain|>", *ENDS)
RECIPIENT = re.compile(r"to=([^\s<]+)")
CHANNEL = re.compile(r"<\|channel\|>(\w+)")
TRIGGER = "to=functions."


def prepare(request: ChatRequest, facts: ModelFacts) -> Prepared:
    bound = _constraint(request, special_ids(facts))
    prepared = prepare_parts(request, facts, read, bound, MARKS)
    return replace(prepared, messages=tuple(map(_with_one_text, prepared.messages)))


def _with_one_text(message: TemplateMessage) -> TemplateMessage:
    """Joins thought and text before a call: the template shows only one and refuses both."""
    content, thought = message["content"], message.get("thinking")
    if not (content and thought and "tool_calls" in message):
        return message
    return {**message, "content": "", "thinking": f"{thought}\n\n{content}"}


def read(reader: Reader) -> More:
    yield from reader.read_parts(MESSAGE, lambda header: _body(reader, header))


def _body(reader: Reader, header: str) -> More:
    recipients = [name for name in RECIPIENT.findall(header) if name != "assistant"]
    channels = CHANNEL.findall(header)
    if recipients and recipients[-1].startswith("functions."):
        reader.open_call(recipients[-1].removeprefix("functions."))
        yield from reader.json_value(reader.argue)
        yield from reader.until(ENDS, lambda _text: None)
        reader.close_call()
    elif recipients:
        yield from reader.until(ENDS, lambda _text: None)
    else:
        emit = reader.think if channels[-1:] == ["analysis"] else reader.say
        yield from reader.until(ENDS, emit)


def _constraint(
    request: ChatRequest, specials: Mapping[str, int]
) -> tuple[Constraint | None, str | None]:
    answer = lark.constraint_rule(request.constraint) if request.constraint else None
    thought = "" if dict(request.template_options).get("enable_thinking") is False else "thought?"
    channel, message = (lark.literal(text, specials) for text in ("<|channel|>final", MESSAGE))
    final = f"{channel} shown {message} answer"
    rules = [f"shown: ({lark.literal(' <|constrain|>json', specials)})?"]
    if answer:
        rules.append(f"answer: {answer}")
    if not wants_tools(request):
        return (
            lark.grammar(f"{thought} {final}", [*rules, *_thought_rules(specials)])
            if answer
            else None
        ), None
    rules += _calls(request, specials)
    if request.tool_choice.mode != "required" and not answer:
        return lark.grammar("call", rules), TRIGGER
    heads = ("<|channel|>commentary to=functions.", " to=functions.")
    call = f"({lark.any_of([lark.literal(head, specials) for head in heads])}) call"
    forms = call if request.tool_choice.mode == "required" else f"({call} | {final})"
    return lark.grammar(f"{thought} {forms}", [*rules, *_thought_rules(specials)]), None


def _calls(request: ChatRequest, specials: Mapping[str, int]) -> list[str]:
    tools = callable_tools(request)
    between = f'channel? (shown | " json") {lark.literal(MESSAGE, specials)}'
    rules = [
        f"call_{at}: {lark.quote(tool.name)} {between} arguments_{at}\n"
        f"arguments_{at}: {lark.schema(tool.parameters, lenient=not tool.strict)}"
        for at, tool in enumerate(tools)
    ]
    channel = f'channel: {lark.literal("<|channel|>", specials)} ("commentary" | "analysis")'
    any_call = "call: " + lark.any_call(tools)
    return [*rules, any_call, channel]


def _thought_rules(specials: Mapping[str, int]) -> list[str]:
    begin = lark.literal("<|channel|>analysis<|message|>", specials)
    after = lark.literal("<|start|>assistant", specials)
    return [f"thought: {begin} said {after}", lark.text_until("said", "<|end|>", specials)]


FORMAT = Format("gpt-oss", has("<|channel|>", "<|message|>", "analysis"), prepare, always=True)
