"""Functionary: each part of an answer names its recipient, which is everybody or a function."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

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
from server.engine.styles.shape import has, prepare_parts
from server.engine.styles.stream import More, Reader


@dataclass(frozen=True, slots=True)
class Recipients:
    """Parts of the form `everybody between TEXT again NAME between {arguments} again …`."""

    between: str
    again: str
    everybody: str = "all"

    def headers(self, tools: Iterable[str]) -> dict[str, str]:
        """Returns every possible beginning of a part, with the recipient's name."""
        betweens = {self.between, self.between.strip() or self.between}
        return {
            f"{space}{name}{between}": name
            for name in (self.everybody, *tools)
            for space in ("", " ")
            for between in betweens
        }


def prepare(style: Recipients, request: ChatRequest, facts: ModelFacts) -> Prepared:
    names = [tool.name for tool in request.tools] if wants_tools(request) else []
    bound = _constraint(style, request, special_ids(facts)), None
    marks = (style.between, style.again)
    return prepare_parts(request, facts, lambda reader: read(style, reader, names), bound, marks)


def read(style: Recipients, reader: Reader, tools: Iterable[str] = ()) -> More:
    headers = style.headers(tools)
    divider = ""
    while True:
        found = yield from reader.accept(*headers)
        if not found and reader.ended and _is_cut(reader.text, divider, headers):
            return
        name = headers.get(found or "", style.everybody)
        if name == style.everybody:
            # A divider without a recipient after it is part of the text.
            if not found:
                reader.take_back(divider)
                reader.say(divider)
            if (yield from reader.until((style.again,), reader.say)) is None:
                return
            divider = style.again
            continue
        reader.open_call(name)
        yield from reader.json_value(reader.argue)
        reader.close_call()
        yield from reader.skip_space()
        yield from reader.accept(style.again.strip())
        divider = ""


def _is_cut(text: str, divider: str, headers: Iterable[str]) -> bool:
    """Whether the answer was cut off within a header. After a divider of letters, it is text."""
    sure = not divider or "<|" in divider
    return sure and any(header.startswith(text) for header in headers)


def _constraint(
    style: Recipients, request: ChatRequest, specials: Mapping[str, int]
) -> Constraint | None:
    text = lark.literal(style.everybody + style.between, specials)
    answer = lark.constraint_rule(request.constraint) if request.constraint else "/(.|\\n)*/"
    if not wants_tools(request):
        return lark.grammar(f"{text} answer", [f"answer: {answer}"]) if request.constraint else None
    again = lark.literal(style.again, specials)
    tools = callable_tools(request)
    rules = [
        f"call_{at}: {lark.literal(tool.name + style.between, specials)} arguments_{at}\n"
        f"arguments_{at}: {lark.schema(tool.parameters, lenient=not tool.strict)}"
        for at, tool in enumerate(tools)
    ]
    rules.append("call: " + lark.any_call(tools))
    calls = lark.repeat("call", again, most_calls(request))
    if request.tool_choice.mode == "required":
        return lark.grammar(calls, rules)
    rules.append(f"answer: {answer}")
    if request.constraint:
        return lark.grammar(f"{text} answer | {calls}", rules)
    rules.append(lark.text_until("said", style.again, specials))
    return lark.grammar(f"{text} answer | ({text} said)? {calls}", rules)


FUNCTIONARY_V2_PARTS = Recipients(
    between="\n<|content|>", again="\n<|from|>assistant\n<|recipient|>"
)
FUNCTIONARY_V2 = Format(
    "functionary v2",
    has("<|from|>", "<|recipient|>"),
    partial(prepare, FUNCTIONARY_V2_PARTS),
    always=True,
)


FUNCTIONARY_V3_2_PARTS = Recipients(between="\n", again=">>>")
FUNCTIONARY_V3_2 = Format(
    "functionary v3.2", has(">>>all"), partial(prepare, FUNCTIONARY_V3_2_PARTS), always=True
)
