"""Calls as in Python: name(key=value, …)."""

import ast
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.parameters import (
    Parameters,
    beyond,
    enforced_parameters,
    is_plain,
    parameters_of,
)
from server.engine.styles.stream import SPACE, More, Reader
from server.system.limits import try_json

QUOTES = "\"'"
PYTHON_TEXT = r"/'([^'\\\n]|\\['\\nrt\"]){0,4096}'/"
"""Grammar text for a string in Python's single quotes."""
CODE_TOOLS = ("code_interpreter", "python", "ipython")
IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,63}"
WORDS = {"true": True, "false": False, "null": None}
VALUES = ("python", "quoted", "json")
"""Ways to write values: as in Python, as in Python with double quotes, or as JSON."""


@dataclass(frozen=True, slots=True)
class PythonBody:
    after_name: str = "("
    values: str = "python"
    known_only: bool = False
    """Whether only an offered tool's name makes a call, as the mark may begin ordinary text."""

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        del specials
        given = enforced_parameters(tool)
        keys = {key: f"argument_{at}_{place}" for place, key in enumerate(given.properties)}
        rules = [
            line
            for key, rule in keys.items()
            for line in (
                f"{rule}: {lark.quote(f'{key}=')} {rule}_value",
                *self._value(f"{rule}_value", given.properties[key], given, tool),
            )
        ]
        members = [(rule, key in given.required) for key, rule in keys.items()]
        members.sort(key=lambda member: not member[1])
        if given.other is not None:
            more = f"argument_{at}_more"
            rules.append(f'{more}: /{IDENTIFIER}/ "=" {more}_value')
            rules += self._value(f"{more}_value", given.other, given, tool)
            members.append((lark.repeat(more, '", "', lark.MOST_MEMBERS), False))
        head = lark.quote(tool.name + self.after_name)
        listed = lark.in_order(members, '", "')
        return [f'call_{at}: {head} {listed} ")"', *rules]

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        parts: list[str] = []
        found = yield from reader.until((self.after_name, "]", "<"), parts.append)
        head = "".join(parts)
        name = head.strip(SPACE)
        named = (
            name in tools if self.known_only else name.replace("_", "").replace(".", "").isalnum()
        )
        if found != self.after_name or not named:
            reader.text = head + (found or "") + reader.text
            return False
        reader.open_call(name)
        yield from self._arguments(reader)
        return True

    def write(self, call: ToolCall) -> str:
        given = ", ".join(f"{key}={self._write(value)}" for key, value in call.arguments.items())
        return f"{call.name}{self.after_name}{given})"

    def _write(self, value: Any) -> str:
        if self.values == "json" or (self.values == "quoted" and isinstance(value, str)):
            return json.dumps(value, ensure_ascii=False)
        return repr(value)

    def _value(self, rule: str, schema: Any, given: Parameters, tool: Tool) -> list[str]:
        if self.values == "json":
            return [f"{rule}: {lark.part(schema, given.root, lenient=not tool.strict)}"]
        return value_rules(rule, schema, given, tool)

    def _arguments(self, reader: Reader) -> More:
        comma = "{"
        while True:
            parts: list[str] = []
            found = yield from reader.until(("=", ")"), parts.append)
            if found is None:
                return
            if found == ")":
                break
            key = "".join(parts).strip(SPACE + ",")
            value, last = yield from literal(reader)
            reader.argue(f"{comma}{json.dumps(key)}: {value}")
            comma = ", "
            if not last:
                return
            if last != ",":
                break
        reader.argue("{}" if comma == "{" else "}")


def value_rules(rule: str, schema: Any, given: Parameters, tool: Tool) -> list[str]:
    """Returns rules for a value as in Python. Strings may also stand in JSON's quotes."""
    shape = schema if isinstance(schema, dict) else {}
    made = lark.part(shape, given.root, lenient=not tool.strict)
    if shape.get("type") == "boolean" and "enum" not in shape:
        return [f'{rule}: "True" | "False"']
    if shape.get("type") == "string" and not beyond(shape, ("type", "maxLength")):
        return [f"{rule}: {made} | {PYTHON_TEXT}"]
    if shape.get("items") and is_plain(shape, "array", tool):
        least, most = lark.count(shape)
        again = f'(", " {rule}_item){{{max(least - 1, 0)},{max(most - 1, 0)}}}'
        listed = f"({rule}_item {again}){'' if least else '?'}"
        return [
            f'{rule}: "[" {listed} "]"',
            *value_rules(f"{rule}_item", shape["items"], given, tool),
        ]
    if shape.get("properties") and is_plain(shape, "object", tool):
        inner = parameters_of(shape, given.root)
        rules: list[str] = []
        members = []
        for at, (key, part) in enumerate(inner.properties.items()):
            quoted = lark.any_of([lark.quote(f"{key!r}: "), lark.quote(f"{lark.quote(key)}: ")])
            members.append((f"({quoted}) {rule}_{at}", key in inner.required))
            rules += value_rules(f"{rule}_{at}", part, given, tool)
        listed = lark.in_order(members, '", "')
        return [f'{rule}: "{{" {listed} "}}"', *rules]
    return [f"{rule}: {made}"]


def raw_code(reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
    """Passes the rest of the text to the tool that runs programs; False if none is offered."""
    name = next((name for name in CODE_TOOLS if name in tools), None)
    if name is None:
        return False
    key = next(iter(tools[name].parameters.get("properties", {})), "code")
    reader.open_call(name)
    reader.argue(f'{{{json.dumps(key)}: "')
    yield from reader.until((), reader.argue_text)
    reader.argue('"}')
    return True


def literal(reader: Reader) -> Generator[None, None, tuple[str, str]]:
    """Reads a Python value. Returns it as JSON, and the sign after it ("" at the text's end)."""
    text, depth, quote, escaped = "", 0, "", False
    while True:
        for at, char in enumerate(reader.text):
            if quote:
                quote, escaped = _in_quotes(char, quote, escaped=escaped)
            elif char in QUOTES:
                quote = char
            elif char in "([{":
                depth += 1
            elif depth == 0 and char in ",)]}":
                text += reader.text[:at]
                reader.text = reader.text[at + 1 :]
                return _as_json(text), char
            elif char in ")]}":
                depth -= 1
        text += reader.text
        reader.text = ""
        if reader.ended:
            return _as_json(text), ""
        yield


def _as_json(text: str) -> str:
    """Converts a Python value to JSON. One that JSON lacks, such as a set, becomes text."""
    try:
        return json.dumps(evaluate(text), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(text.strip(SPACE), ensure_ascii=False)


def evaluate(text: str) -> Any:
    text = text.strip(SPACE)
    if text in WORDS:
        return WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    # Some templates put quotes around text without escaping quotes within it.
    quoted = len(text) > 1 and text[0] in QUOTES and text[0] == text[-1]
    return try_json(text, text[1:-1] if quoted else text)


def _in_quotes(char: str, quote: str, *, escaped: bool) -> tuple[str, bool]:
    if escaped:
        return quote, False
    if char == "\\":
        return quote, True
    return ("" if char == quote else quote), False
