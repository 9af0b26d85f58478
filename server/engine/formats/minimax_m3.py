"""<invoke name="…"> with nested tags behind a namespace mark: MiniMax M3."""

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Json, Tool, ToolCall
from server.engine.formats import lark
from server.engine.formats.shape import Shape, native
from server.engine.formats.stream import SPACE, More, Reader
from server.engine.formats.tagged_body import is_text, properties, text_rules

SPACE_MARK = "]<]minimax[>["
EMPTY: dict[str, Any] = {"array": [], "object": {}}
TAG = re.compile(re.escape(SPACE_MARK) + r"<(/?)([^<>]+)>")
INVOKE, END = f'{SPACE_MARK}<invoke name="', f"{SPACE_MARK}</invoke>"


@dataclass(frozen=True, slots=True)
class NestedBody:
    texts: tuple[str, ...] = (SPACE_MARK,)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        rules: list[str] = []
        made = _Rules(specials, rules, tool.parameters)
        inner = made.members(f"arguments_{at}", tool.parameters)
        head = lark.literal(f'{INVOKE}{tool.name}">', specials)
        return [f"call_{at}: {head} {inner} {lark.literal(END, specials)}", *rules]

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept(INVOKE)):
            return False
        parts: list[str] = []
        if not (yield from reader.until(('">',), parts.append)):
            return False
        name = "".join(parts)
        reader.open_call(name)
        known = properties(tools[name]) if name in tools else {}
        yield from _arguments(reader, known)
        return True

    def write(self, call: ToolCall) -> str:
        return f'{INVOKE}{call.name}">{_written(call.arguments)}{END}'


def _written(value: Any) -> str:
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = [("item", item) for item in value]
    else:
        return value if isinstance(value, str) else json.dumps(value)
    return "".join(
        f"{SPACE_MARK}<{tag}>{_written(part)}{SPACE_MARK}</{tag}>" for tag, part in parts
    )


def _arguments(reader: Reader, known: Mapping[str, Any]) -> More:
    comma = "{"
    while True:
        yield from reader.skip_space()
        found = yield from reader.accept(END, f"{SPACE_MARK}<")
        if found is None:
            return
        if found == END:
            break
        key: list[str] = []
        yield from reader.until((">",), key.append)
        name = "".join(key)
        raw: list[str] = []
        if not (yield from reader.until((f"{SPACE_MARK}</{name}>",), raw.append)):
            return
        value = _read_value("".join(raw), known.get(name))
        reader.argue(f"{comma}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
        comma = ", "
    reader.argue("{}" if comma == "{" else "}")


def _read_value(text: str, schema: Any) -> Any:
    """Text as the schema means it: itself, a list of items, an object of tags, or JSON."""
    if is_text(schema):
        return text
    parts = list(_parts(text))
    if parts and all(tag == "item" for tag, _ in parts):
        items = _part_of(schema, "items")
        return [_read_value(inner, items) for _, inner in parts]
    if parts:
        known = _part_of(schema, "properties") or {}
        return {tag: _read_value(inner, known.get(tag)) for tag, inner in parts}
    if not text and _part_of(schema, "type") in EMPTY:
        return EMPTY[_part_of(schema, "type")]
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip(SPACE)


def _part_of(schema: Any, key: str) -> Any:
    if not isinstance(schema, dict):
        return None
    if key in schema:
        return schema[key]
    unions = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    return next((part[key] for part in unions if isinstance(part, dict) and key in part), None)


def _parts(text: str) -> Generator[tuple[str, str], None, None]:
    """The outermost tags and what is in them."""
    depth, begin, name = 0, 0, ""
    for tag in TAG.finditer(text):
        if tag[1]:
            depth -= 1
            if depth == 0:
                yield name, text[begin : tag.start()]
        else:
            if depth == 0:
                begin, name = tag.end(), tag[2]
            depth += 1


@dataclass(frozen=True, slots=True)
class _Rules:
    """Grammar rules for values as nested tags, added to `rules` as they are met."""

    specials: Mapping[str, int]
    rules: list[str]
    root: Json

    def members(self, name: str, schema: Json) -> str:
        parts = []
        required = schema.get("required") or []
        for place, (key, part) in enumerate(schema.get("properties", {}).items()):
            rule = f"{name}_{place}"
            self.value(rule, key, part)
            parts.append(rule if key in required else f"{rule}?")
        return " ".join(parts)

    def value(self, name: str, key: str, schema: Any) -> None:
        before, after = (
            lark.literal(f"{SPACE_MARK}<{mark}{key}>", self.specials) for mark in ("", "/")
        )
        shape = schema if isinstance(schema, dict) else {}
        if is_text(shape):
            ending = f"{SPACE_MARK}</{key}>"
            self.rules.extend(text_rules(name, before, ending, shape, self.specials))
            return
        if shape.get("type") == "object" and shape.get("properties"):
            inner = self.members(name, shape)
        elif shape.get("type") == "array" and shape.get("items"):
            self.value(f"{name}_item", "item", shape["items"])
            inner = f"{name}_item{{{shape.get('minItems', 0)},{shape.get('maxItems', 64)}}}"
        else:
            self.rules.append(f"{name}_value: {lark.part(shape, self.root)}")
            inner = f"{name}_value"
        self.rules.append(f"{name}: {before} {inner} {after}")


SHAPE = Shape(
    NestedBody(),
    mark=f"{SPACE_MARK}<tool_call>",
    opens="\n",
    between="\n",
    closes=f"\n{SPACE_MARK}</tool_call>",
)
FORMAT = native("minimax m3", SHAPE, SPACE_MARK)
