"""A call as Python writes it: name(key=value, …)."""

import ast
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Tool, ToolCall
from server.engine.formats import lark
from server.engine.formats.parameters import Parameters, enforced_parameters
from server.engine.formats.stream import SPACE, More, Reader

QUOTES = "\"'"
CODE_TOOLS = ("code_interpreter", "python", "ipython")
IDENTIFIER = "[A-Za-z_][A-Za-z0-9_]{0,63}"
WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class PythonBody:
    after_name: str = "("

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        del specials
        given = enforced_parameters(tool)
        keys = {key: f"argument_{at}_{place}" for place, key in enumerate(given.properties)}
        rules = [
            f"{rule}: {lark.quoted(f'{key}=')} {rule}_value\n"
            f"{rule}_value: {_value(given.properties[key], given, strict=tool.strict)}"
            for key, rule in keys.items()
        ]
        required = [rule for key, rule in keys.items() if key in given.required]
        optional = [rule for key, rule in keys.items() if key not in given.required]
        if given.other is not None:
            more = f"argument_{at}_more"
            rules.append(
                f'{more}: /{IDENTIFIER}/ "=" {more}_value\n'
                f"{more}_value: {_value(given.other, given, strict=tool.strict)}"
            )
            optional.append(lark.repeated(more, '", "', lark.MOST_MEMBERS))
        head = lark.quoted(tool.name + self.after_name)
        listed = lark.listed(required, optional, '", "')
        return [f'call_{at}: {head} {listed} ")"', *rules]

    def read(self, reader: Reader, _tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        parts: list[str] = []
        found = yield from reader.until((self.after_name, "]", "<"), parts.append)
        said = "".join(parts)
        name = said.strip(SPACE)
        if found != self.after_name or not name.replace("_", "").replace(".", "").isalnum():
            reader.text = said + (found or "") + reader.text
            return False
        reader.open_call(name)
        yield from self._arguments(reader)
        return True

    def write(self, call: ToolCall) -> str:
        given = ", ".join(f"{key}={value!r}" for key, value in call.arguments.items())
        return f"{call.name}{self.after_name}{given})"

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


def raw_code(reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
    """All the rest is a program, for the tool that runs programs; False where there is none."""
    name = next((name for name in CODE_TOOLS if name in tools), None)
    if name is None:
        return False
    key = next(iter(tools[name].parameters.get("properties", {})), "code")
    reader.open_call(name)
    reader.argue(f'{{{json.dumps(key)}: "')
    yield from reader.until(
        (), lambda text: reader.argue(json.dumps(text, ensure_ascii=False)[1:-1])
    )
    reader.argue('"}')
    return True


def literal(reader: Reader) -> Generator[None, None, tuple[str, str]]:
    """One Python value as JSON and the sign behind it: a comma, a closing bracket, or nothing."""
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
    """What JSON has no word for, as a set, stays text."""
    try:
        return json.dumps(evaluated(text), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(text.strip(SPACE), ensure_ascii=False)


def evaluated(text: str) -> Any:
    text = text.strip(SPACE)
    if text in WORDS:
        return WORDS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        # Some templates put quotes around text and escape nothing in it.
        quoted = len(text) > 1 and text[0] in QUOTES and text[0] == text[-1]
        return text[1:-1] if quoted else text


def _in_quotes(char: str, quote: str, *, escaped: bool) -> tuple[str, bool]:
    if escaped:
        return quote, False
    if char == "\\":
        return quote, True
    return ("" if char == quote else quote), False


def _value(schema: Any, given: Parameters, *, strict: bool) -> str:
    shape = schema if isinstance(schema, dict) else {}
    if shape.get("type") == "boolean":
        return '"True" | "False"'
    return lark.part(shape, given.root, lenient=not strict)
