"""Calls as a name and one tagged text per argument."""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.parameters import (
    Parameters,
    call_parameters,
    enforced_parameters,
    resolve,
)
from server.engine.styles.python_body import evaluate, value_rules
from server.engine.styles.stream import SPACE, More, Reader, shared_end, shared_start
from server.engine.styles.text_value import (
    OTHER_KEY,
    check_text,
    is_text,
    json_kind,
    kinds_beside_text,
    text_rules,
)

TEXT = {"type": "string"}
KINDS = ("array", "boolean", "null", "number", "object")
"""The types of values that are written as JSON."""
WRAPPED_SIGNS = ("<", "&", "\n")
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}


@dataclass(frozen=True, slots=True)
class TaggedBody:
    """A call: name[0] NAME name[1] (key[0] KEY key[1] value[0] VALUE value[1] end)* closes"""

    name: tuple[str, str]
    key: tuple[str, str]
    value: tuple[str, str]
    end: str
    closes: str
    kinds: tuple[tuple[str, str], ...] = ()
    """Replacements of key[1] for values of some types, if the style marks types."""
    wraps: tuple[str, str] = ("", "")
    """The marks around text that contains special characters or several lines."""
    python_words: bool = False
    """Whether values are written with Python's True, False and None."""

    @property
    def texts(self) -> tuple[str, ...]:
        kinds = (text for _, text in self.kinds)
        return (*self.name, *self.key, *self.value, self.end, self.closes, *kinds)

    def _middle(self, kind: str) -> str:
        return dict(self.kinds).get(kind, self.key[1])

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        before, after, closes = (lark.literal(text, specials) for text in (*self.name, self.closes))
        given = enforced_parameters(tool)
        rules: list[str] = []
        parts: list[str] = []
        for place, (key, schema) in enumerate(given.properties.items()):
            rule = f"argument_{at}_{place}"
            rules += self._argument(rule, lark.quote(key), schema, given, tool, specials)
            parts.append(rule if key in given.required else f"{rule}?")
        if given.other is not None:
            rule = f"argument_{at}_more"
            rules += self._argument(rule, OTHER_KEY, given.other, given, tool, specials)
            parts.append(f"{rule}{{0,{lark.MOST_MEMBERS}}}")
        name = lark.literal(tool.name, specials)
        return [f"call_{at}: {before} {name} {after} {' '.join(parts)} {closes}", *rules]

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if self.name[0] and not (yield from reader.accept(self.name[0])):
            return False
        ending, counts, rest = self.name[1].partition(lark.COUNT)
        stops = (ending.strip(),) if ending.strip() else ("\n", "<")
        parts: list[str] = []
        found = yield from reader.until(stops, parts.append)
        name = "".join(parts).strip(SPACE)
        if not name or found is None or len(name.split()) > 1:
            reader.text = self.name[0] + "".join(parts) + (found or "") + reader.text
            return False
        if found == "<":
            reader.text = found + reader.text
        if counts:
            yield from reader.until((rest.strip(),), reader.skip)
        reader.open_call(name)
        tool = tools.get(name)
        yield from self._arguments(reader, tool)
        return True

    def write(self, call: ToolCall) -> str:
        parts = []
        for key, value in call.arguments.items():
            middle = self._middle(kind_of(value))
            text = self._write(value)
            parts.append(
                f"{self.key[0]}{key}{middle}{self.value[0]}{text}{self.value[1]}{self.end}"
            )
        return f"{self.name[0]}{call.name}{self.name[1]}{''.join(parts)}{self.closes}"

    def _write(self, value: Any) -> str:
        if isinstance(value, str):
            wrapped = any(sign in value for sign in WRAPPED_SIGNS)
            return value.join(self.wraps) if wrapped else value
        if self.python_words:
            return str(value)
        return json.dumps(value, ensure_ascii=False)

    def _arguments(self, reader: Reader, tool: Tool | None) -> More:
        given = call_parameters(tool) if tool else Parameters()
        comma = "{"
        while True:
            yield from reader.skip_space()
            if not (yield from reader.accept(self.key[0].lstrip())):
                break
            key, is_marked_text = yield from self._key(reader)
            reader.argue(f"{comma}{json.dumps(key, ensure_ascii=False)}: ")
            comma = ", "
            schema = resolve(given.properties.get(key, given.other), given.root)
            free = not isinstance(schema, dict) or not schema or kinds_beside_text(schema)
            if not (yield from self._value(reader, TEXT if free and is_marked_text else schema)):
                return
        closed = bool(reader.text) and not self.key[0].lstrip().startswith(reader.text)
        if self.closes:
            closed = bool((yield from reader.accept(self.closes.strip())))
        if closed or not reader.ended:
            reader.argue("{}" if comma == "{" else "}")

    def _key(self, reader: Reader) -> Generator[None, None, tuple[str, bool]]:
        """Reads a key. Returns it, and whether the style marks its value as text."""
        parts: list[str] = []
        middles = [self.key[1], *(text for _, text in self.kinds)]
        begin = shared_start(*middles)
        yield from reader.until((begin,), parts.append)
        key = "".join(parts).strip(SPACE)
        if len(set(middles)) == 1:
            return key, False
        end = shared_end(*middles)
        middle: list[str] = []
        yield from reader.until((end,), middle.append)
        text = dict(self.kinds).get("string")
        return key, f"{begin}{''.join(middle)}{end}" == text

    def _value(self, reader: Reader, schema: Any) -> Generator[None, None, bool]:
        """Reads a value and returns whether it was complete."""
        end = self.end.strip()
        if self.value[0]:
            yield from reader.accept(*{self.value[0], self.value[0].strip()})
        kinds = kinds_beside_text(schema)
        if self.wraps[0] and (yield from reader.accept(self.wraps[0])):
            return (yield from _text_until(reader, self.wraps[1] + self.value[1] + end))
        if is_text(schema) and not kinds:
            return (yield from _text_until(reader, self.value[1] + end, end))
        parts: list[str] = []
        if not (yield from reader.until((end,), parts.append)):
            return False
        if kinds:
            text = "".join(parts).removesuffix(self.value[1])
            reader.argue(text if json_kind(text) in kinds else json.dumps(text, ensure_ascii=False))
            return True
        text = "".join(parts).strip(SPACE)
        text = PYTHON_WORDS.get(text, text)
        reader.argue(text if _is_json(text) else _python_as_json(text))
        return True

    def _argument(
        self,
        rule: str,
        key: str,
        schema: Any,
        given: Parameters,
        tool: Tool,
        specials: Mapping[str, int],
    ) -> list[str]:
        """Returns the rules of an argument. `key` is grammar text, apart from the text before
        it, which may also begin another key."""
        schema = resolve(schema, given.root)
        text = is_text(schema)
        opening = lark.literal(self.key[0], specials)
        middles = {self._middle(kind) for kind in (("string",) if text else _kinds_of(schema))}
        followed = [lark.literal(f"{part}{self.value[0]}", specials) for part in sorted(middles)]
        following = f"({lark.any_of(followed)})" if len(followed) > 1 else followed[0]
        before = f"{opening} {key} {following}"
        after = lark.literal(f"{self.value[1]}{self.end}", specials)
        if text:
            check_text(schema, tool)
            return text_rules(rule, before, f"{self.value[1]}{self.end}", schema, specials)
        value = lark.part(schema, given.root, lenient=not tool.strict)
        rules = [f"{rule}: {before} {rule}_value {after}"]
        if not self.python_words:
            return [*rules, f"{rule}_value: {value}"]
        python = value_rules(f"{rule}_python", schema, given, tool)
        return [
            *rules,
            f"{rule}_value: {rule}_json | {rule}_python",
            f"{rule}_json: {value}",
            *python,
        ]


def _text_until(reader: Reader, *marks: str) -> Generator[None, None, bool]:
    """Reads text up to one of the marks and returns whether a mark was found."""
    reader.argue('"')
    if not (yield from reader.until(marks, reader.argue_text)):
        return False
    reader.argue('"')
    return True


def kind_of(value: Any) -> str:
    """Returns a value's type, by the name that styles use for it."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _kinds_of(schema: Any) -> tuple[str, ...]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    found = {"integer": "number"}.get(str(kind), str(kind))
    return (found,) if found in KINDS else KINDS


def _python_as_json(text: str) -> str:
    """Converts Python's lists and dicts to JSON. Anything else becomes a string."""
    value = evaluate(text) if text[:1] in ("[", "{") else text
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(text, ensure_ascii=False)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
