"""MiniMax M3: <invoke name="…"> with nested tags, each behind a namespace mark."""

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Json, Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.parameters import (
    Parameters,
    call_parameters,
    enforced_parameters,
    is_plain,
    parameters_of,
    resolve,
)
from server.engine.styles.shape import Shape, native
from server.engine.styles.stream import SPACE, More, Reader
from server.engine.styles.text_value import (
    OTHER_KEY,
    check_text,
    is_text,
    json_kind,
    kinds_beside_text,
    text_rules,
)
from server.system.limits import try_json

SPACE_MARK = "]<]minimax[>["
EMPTY: dict[str, Any] = {"array": [], "object": {}}
TAG = re.compile(re.escape(SPACE_MARK) + r"<(/?)([^<>]+)>")
INVOKE, END = f'{SPACE_MARK}<invoke name="', f"{SPACE_MARK}</invoke>"


@dataclass(frozen=True, slots=True)
class NestedBody:
    texts: tuple[str, ...] = (SPACE_MARK,)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        rules: list[str] = []
        given = enforced_parameters(tool)
        inner = _Rules(specials, rules, tool, given.root).members(f"arguments_{at}", given)
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
        given = call_parameters(tools[name]) if name in tools else Parameters()
        yield from _arguments(reader, given)
        return True

    def write(self, call: ToolCall) -> str:
        return f'{INVOKE}{call.name}">{_write(call.arguments)}{END}'


def _write(value: Any) -> str:
    if isinstance(value, dict):
        parts = list(value.items())
    elif isinstance(value, list):
        parts = [("item", item) for item in value]
    else:
        return value if isinstance(value, str) else json.dumps(value)
    return "".join(f"{SPACE_MARK}<{tag}>{_write(part)}{SPACE_MARK}</{tag}>" for tag, part in parts)


def _arguments(reader: Reader, given: Parameters) -> More:
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
        schema = given.properties.get(name, given.other)
        value = _read_value("".join(raw), schema, given.root)
        reader.argue(f"{comma}{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}")
        comma = ", "
    reader.argue("{}" if comma == "{" else "}")


def _read_value(text: str, schema: Any, root: Json) -> Any:
    """Reads a value as its schema defines it: text, a list of items, an object of tags, or JSON."""
    schema = resolve(schema, root)
    if is_text(schema):
        return json.loads(text) if json_kind(text) in kinds_beside_text(schema) else text
    parts = list(_parts(text))
    if parts and all(tag == "item" for tag, _ in parts):
        items = _part_of(schema, "items")
        return [_read_value(inner, items, root) for _, inner in parts]
    if parts:
        known = _part_of(schema, "properties") or {}
        return {tag: _read_value(inner, known.get(tag), root) for tag, inner in parts}
    if not text and _part_of(schema, "type") in EMPTY:
        return EMPTY[_part_of(schema, "type")]
    return try_json(text, text.strip(SPACE))


def _part_of(schema: Any, key: str) -> Any:
    if not isinstance(schema, dict):
        return None
    if key in schema:
        return schema[key]
    unions = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    return next((part[key] for part in unions if isinstance(part, dict) and key in part), None)


def _parts(text: str) -> Generator[tuple[str, str], None, None]:
    """Yields the outermost tags with their content."""
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
    """Builds grammar rules for values as nested tags. They are appended to `rules`."""

    specials: Mapping[str, int]
    rules: list[str]
    tool: Tool
    root: Json

    def members(self, name: str, given: Parameters) -> str:
        parts = []
        for place, (key, part) in enumerate(given.properties.items()):
            rule = f"{name}_{place}"
            self.value(rule, key, part)
            parts.append(rule if key in given.required else f"{rule}?")
        if given.other is not None:
            self.value(f"{name}_more", None, given.other)
            parts.append(f"{name}_more{{0,{lark.MOST_MEMBERS}}}")
        return " ".join(parts)

    def value(self, name: str, key: str | None, schema: Any) -> None:
        """Adds the rule of one tag. If `key` is None, any name is allowed."""
        opens = lark.literal(f"{SPACE_MARK}<", self.specials)
        before = f"{opens} {OTHER_KEY if key is None else lark.quote(key)} {lark.quote('>')}"
        ending = f"{SPACE_MARK}</" if key is None else f"{SPACE_MARK}</{key}>"
        rest = f'{OTHER_KEY} ">"' if key is None else ""
        shape = schema if isinstance(schema, dict) else {}
        meant = resolve(shape, self.root)
        if is_text(meant):
            shape = meant
            check_text(shape, self.tool)
            inner = f"{name}_text" if rest else name
            self.rules.extend(text_rules(inner, before, ending, shape, self.specials))
            self.rules.extend([f"{name}: {inner} {rest}"] if rest else [])
            return
        after = f"{lark.literal(ending, self.specials)} {rest}"
        self.rules.append(f"{name}: {before} {self._inner(name, shape)} {after}")

    def _inner(self, name: str, shape: Json) -> str:
        if shape.get("properties") and is_plain(shape, "object", self.tool):
            return self.members(name, parameters_of(shape, self.root))
        if shape.get("items") and is_plain(shape, "array", self.tool):
            self.value(f"{name}_item", "item", shape["items"])
            least, most = lark.count(shape)
            return f"{name}_item{{{least},{most}}}" if most else ""
        value = lark.part(shape, self.root, lenient=not self.tool.strict)
        self.rules.append(f"{name}_value: {value}")
        return f"{name}_value"


SHAPE = Shape(
    NestedBody(),
    mark=f"{SPACE_MARK}<tool_call>",
    opens="\n",
    between="\n",
    closes=f"\n{SPACE_MARK}</tool_call>",
)
FORMAT = native("minimax m3", SHAPE, SPACE_MARK)
