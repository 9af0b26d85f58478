"""A call as its name and one tagged piece of text per argument."""

import json
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Json, Tool, ToolCall
from server.engine.formats import lark
from server.engine.formats.stream import SPACE, More, Reader

SLASH = re.compile(r"\\.|/", re.DOTALL)
"""One, or whatever has a backslash before it: there it may be escaped already."""
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True)
class TaggedBody:
    """name[0] NAME name[1] (key[0] KEY key[1] value[0] VALUE value[1] end)* closes"""

    name: tuple[str, str]
    key: tuple[str, str]
    value: tuple[str, str]
    end: str
    closes: str
    string_key: str = ""
    """Stands in place of key[1] before plain text, where the style tells the two apart."""

    @property
    def texts(self) -> tuple[str, ...]:
        return (*self.name, *self.key, *self.value, self.end, self.closes, self.string_key)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        before, after, closes = (lark.literal(text, specials) for text in (*self.name, self.closes))
        rules: list[str] = []
        parts: list[str] = []
        required = tool.parameters.get("required") or []
        for place, (key, schema) in enumerate(properties(tool).items()):
            rule = f"argument_{at}_{place}"
            rules += self._argument(rule, key, schema, tool.parameters, specials)
            parts.append(rule if key in required else f"{rule}?")
        name = lark.literal(tool.name, specials)
        return [f"call_{at}: {before} {name} {after} {' '.join(parts)} {closes}", *rules]

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if self.name[0] and not (yield from reader.accept(self.name[0])):
            return False
        stops = (self.name[1].strip(),) if self.name[1].strip() else ("\n", "<")
        parts: list[str] = []
        found = yield from reader.until(stops, parts.append)
        name = "".join(parts).strip(SPACE)
        if not name or found is None or len(name.split()) > 1:
            reader.text = self.name[0] + "".join(parts) + (found or "") + reader.text
            return False
        if found == "<":
            reader.text = found + reader.text
        reader.open_call(name)
        tool = tools.get(name)
        yield from self._arguments(reader, tool)
        return True

    def write(self, call: ToolCall) -> str:
        parts = []
        for key, value in call.arguments.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            middle = self.string_key if self.string_key and isinstance(value, str) else self.key[1]
            parts.append(
                f"{self.key[0]}{key}{middle}{self.value[0]}{text}{self.value[1]}{self.end}"
            )
        return f"{self.name[0]}{call.name}{self.name[1]}{''.join(parts)}{self.closes}"

    def _arguments(self, reader: Reader, tool: Tool | None) -> More:
        known = properties(tool) if tool else {}
        root = tool.parameters if tool else {}
        comma = "{"
        while True:
            yield from reader.skip_space()
            if not (yield from reader.accept(self.key[0])):
                break
            parts: list[str] = []
            ends = tuple(filter(None, (self.string_key, self.key[1])))
            yield from reader.until(ends, parts.append)
            key = "".join(parts).strip(SPACE)
            reader.argue(f"{comma}{json.dumps(key, ensure_ascii=False)}: ")
            comma = ", "
            if not (yield from self._value(reader, _resolved(known.get(key), root))):
                return
        closed = bool(reader.text) and not self.key[0].startswith(reader.text)
        if self.closes:
            closed = bool((yield from reader.accept(self.closes.strip())))
        if closed or not reader.ended:
            reader.argue("{}" if comma == "{" else "}")

    def _value(self, reader: Reader, schema: Any) -> Generator[None, None, bool]:
        """Whether the value came to its end."""
        end = self.end.strip()
        if self.value[0]:
            yield from reader.accept(*{self.value[0], self.value[0].strip()})
        if is_text(schema):
            reader.argue('"')
            if not (yield from reader.until((self.value[1] + end, end), _escaping(reader))):
                return False
            reader.argue('"')
            return True
        parts: list[str] = []
        if not (yield from reader.until((end,), parts.append)):
            return False
        text = "".join(parts).strip(SPACE)
        text = PYTHON_WORDS.get(text, text)
        reader.argue(text if _is_json(text) else json.dumps(text, ensure_ascii=False))
        return True

    def _argument(
        self, rule: str, key: str, schema: Any, root: Json, specials: Mapping[str, int]
    ) -> list[str]:
        schema = _resolved(schema, root)
        text = is_text(schema)
        middle = self.string_key if text and self.string_key else self.key[1]
        before = lark.literal(f"{self.key[0]}{key}{middle}{self.value[0]}", specials)
        after = lark.literal(f"{self.value[1]}{self.end}", specials)
        if text:
            return text_rules(rule, before, f"{self.value[1]}{self.end}", schema, specials)
        return [
            f"{rule}: {before} {rule}_value {after}",
            f"{rule}_value: {lark.part(schema, root)}",
        ]


def properties(tool: Tool) -> dict[str, Any]:
    found = tool.parameters.get("properties", {})
    return found if isinstance(found, dict) else {}


def is_text(schema: Any) -> bool:
    """Whether a value of this schema is written as it is, not as JSON."""
    if not isinstance(schema, dict):
        return False
    if "const" in schema or isinstance(schema.get("enum"), list):
        values = schema.get("enum", [schema.get("const")])
        return all(isinstance(value, str) for value in values)
    for union in ("anyOf", "oneOf"):
        if isinstance(schema.get(union), list):
            return any(is_text(part) for part in schema[union])
    kind = schema.get("type")
    return "string" in kind if isinstance(kind, list) else kind == "string"


def text_rules(
    rule: str, before: str, after: str, schema: Json, specials: Mapping[str, int]
) -> list[str]:
    """Text that keeps the schema's words, length and pattern, and ends at its mark `after`."""
    closing = lark.literal(after, specials)
    words = [schema["const"]] if "const" in schema else schema.get("enum")
    if words:
        return [
            f"{rule}: {before} ({lark.any_of([lark.quoted(word) for word in words])}) {closing}"
        ]
    least, most = schema.get("minLength", 0), schema.get("maxLength", "")
    parts = [f"/(?s:.){{{least},{most}}}/"]
    if isinstance(schema.get("pattern"), str):
        pattern = f"(?s:{_contained(schema['pattern'])})".replace("\n", "\\n")
        parts += [f"/{pattern}/"] if lark.is_expression(pattern) else []
    parts.append(f"~/(?s:.)*{_escaped(after.strip())}(?s:.)*/")
    text = f"{rule.upper()}: {' & '.join(parts)}"
    if any(after.startswith(mark) for mark in specials):
        return [f"{rule}: {before} {rule.upper()} {closing}", text]
    # A lexeme is greedy; only as a suffix does the mark end it.
    ending = f"{rule}_text[suffix={lark.quoted(after)}]: {rule.upper()}"
    return [f"{rule}: {before} {rule}_text", ending, text]


def _contained(pattern: str) -> str:
    begin = "" if pattern.startswith("^") else ".*"
    end = "" if pattern.endswith("$") else ".*"
    inner = pattern.removeprefix("^").removesuffix("$")
    return SLASH.sub(_escaped_slash, begin + inner + end)


def _escaped_slash(found: re.Match[str]) -> str:
    return r"\/" if found[0].endswith("/") else found[0]


def _escaped(text: str) -> str:
    return re.sub(r"([\\.+*?()|\[\]{}^$/\"])", r"\\\1", text)


def _escaping(reader: Reader) -> Any:
    return lambda text: reader.argue(json.dumps(text, ensure_ascii=False)[1:-1])


def _resolved(schema: Any, root: Json) -> Any:
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    if not isinstance(reference, str):
        return schema
    node: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
