"""<|tool_call>call:name{key:<|"|>text<|"|>}<tool_call|>: Gemma 4, FunctionGemma."""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Json, Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.parameters import Parameters, enforced_parameters, is_plain, parameters_of
from server.engine.styles.shape import Shape, native
from server.engine.styles.stream import SPACE, More, Reader
from server.engine.styles.text_value import OTHER_KEY, check_text, text_rules


@dataclass(frozen=True, slots=True)
class GemmaBody:
    quote: str
    """Stands before and after a text."""

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.quote,)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        rules: list[str] = []
        given = enforced_parameters(tool)
        _Rules(self.quote, specials, rules, tool, given.root).object(f"arguments_{at}", given)
        return [f"call_{at}: {lark.quote(f'call:{tool.name}')} arguments_{at}", *rules]

    def read(self, reader: Reader, _tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept("call:")):
            return False
        parts: list[str] = []
        if not (yield from reader.until(("{",), parts.append)):
            return False
        reader.open_call("".join(parts).strip(SPACE))
        reader.text = "{" + reader.text
        yield from _value(reader, self.quote)
        return True

    def write(self, call: ToolCall) -> str:
        return f"call:{call.name}{_write(call.arguments, self.quote)}"


def _write(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return f"{quote}{value}{quote}"
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].lower())
        return "{" + ",".join(f"{key}:{_write(part, quote)}" for key, part in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_write(part, quote) for part in value) + "]"
    return json.dumps(value)


def _value(reader: Reader, quote: str) -> More:
    """Reads a value in Gemma's spelling and emits it as JSON."""
    yield from reader.skip_space()
    found = yield from reader.accept(quote, "{", "[")
    if found == quote:
        reader.argue('"')
        yield from reader.until((quote,), reader.argue_text)
        reader.argue('"')
    elif found:
        yield from _parts(reader, quote, found)
    else:
        yield from reader.json_value(reader.argue)


def _parts(reader: Reader, quote: str, opened: str) -> More:
    """Reads the members of an object or the entries of a list, including the closing bracket."""
    closes = "}" if opened == "{" else "]"
    comma = ""
    reader.argue(opened)
    while True:
        yield from reader.skip_space()
        if (yield from reader.accept(closes)):
            break
        if reader.ended and not reader.text:
            return
        key = ""
        if opened == "{":
            parts: list[str] = []
            if not (yield from reader.until((":",), parts.append)):
                return
            name = "".join(parts).replace(quote, "").strip(SPACE + '",')
            key = f"{json.dumps(name, ensure_ascii=False)}: "
        reader.argue(f"{comma}{key}")
        comma = ", "
        yield from _value(reader, quote)
        yield from reader.skip_space()
        yield from reader.accept(",")
    reader.argue(closes)


@dataclass(frozen=True, slots=True)
class _Rules:
    """Builds grammar rules for values in Gemma's notation. They are appended to `rules`."""

    quote: str
    specials: Mapping[str, int]
    rules: list[str]
    tool: Tool
    root: Json

    def value(self, name: str, schema: Any) -> None:
        shape = schema if isinstance(schema, dict) else {}
        if shape.get("properties") and is_plain(shape, "object", self.tool):
            self.object(name, parameters_of(shape, self.root))
        elif shape.get("items") and is_plain(shape, "array", self.tool):
            self.array(name, shape)
        elif shape.get("type") == "string":
            check_text(shape, self.tool)
            quote = lark.literal(self.quote, self.specials)
            self.rules.extend(text_rules(name, quote, self.quote, shape, self.specials))
        else:
            lenient = not self.tool.strict
            self.rules.append(f"{name}: {lark.part(shape, self.root, lenient=lenient)}")

    def object(self, name: str, given: Parameters) -> None:
        """Adds the rule of an object. Its members are in alphabetical order, as in the template."""
        order = sorted(given.properties, key=str.lower)
        members = []
        for place, key in enumerate(order):
            self.value(f"{name}_{place}", given.properties[key])
            member = f"{lark.quote(f'{key}:')} {name}_{place}"
            members.append((member, key in given.required))
        if given.other is not None:
            self.value(f"{name}_more", given.other)
            other = f'{OTHER_KEY} ":" {name}_more'
            members.append((lark.repeat(other, '","', lark.MOST_MEMBERS), False))
        listed = lark.in_order(members, '","')
        self.rules.append(f'{name}: "{{" {listed} "}}"')

    def array(self, name: str, schema: Mapping[str, Any]) -> None:
        self.value(f"{name}_item", schema["items"])
        least, most = lark.count(schema)
        again = f'("," {name}_item){{{max(least - 1, 0)},{most - 1}}}'
        filled = f"{name}_item {again}" if most > 1 else f"{name}_item"
        items = f"({filled}){'' if least else '?'}" if most else ""
        self.rules.append(f'{name}: "[" {items} "]"')


SHAPE = Shape(GemmaBody('<|"|>'), mark="<|tool_call>", closes="<tool_call|>", repeats=True)
FORMAT = native("gemma 4", SHAPE, "<|tool_call>", "<tool_call|>")
FUNCTION_SHAPE = Shape(
    GemmaBody("<escape>"),
    mark="<start_function_call>",
    closes="<end_function_call>",
    repeats=True,
)
FUNCTION_GEMMA = native(
    "functiongemma", FUNCTION_SHAPE, "<start_function_call>", "<end_function_call>"
)
