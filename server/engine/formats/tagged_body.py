"""A call as its name and one tagged piece of text per argument."""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Tool, ToolCall
from server.engine.formats import lark
from server.engine.formats.parameters import (
    Parameters,
    call_parameters,
    enforced_parameters,
    resolved,
)
from server.engine.formats.stream import SPACE, More, Reader
from server.engine.formats.text_value import (
    OTHER_KEY,
    check_text,
    is_text,
    json_kind,
    kinds_beside_text,
    text_rules,
)

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
        given = enforced_parameters(tool)
        rules: list[str] = []
        parts: list[str] = []
        for place, (key, schema) in enumerate(given.properties.items()):
            rule = f"argument_{at}_{place}"
            rules += self._argument(rule, lark.quoted(key), schema, given, tool, specials)
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
        given = call_parameters(tool) if tool else Parameters()
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
            if not (yield from self._value(reader, _schema_of(key, given))):
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
        kinds = kinds_beside_text(schema)
        if is_text(schema) and not kinds:
            reader.argue('"')
            if not (yield from reader.until((self.value[1] + end, end), _escaping(reader))):
                return False
            reader.argue('"')
            return True
        parts: list[str] = []
        if not (yield from reader.until((end,), parts.append)):
            return False
        if kinds:
            text = "".join(parts).removesuffix(self.value[1])
            reader.argue(text if json_kind(text) in kinds else json.dumps(text, ensure_ascii=False))
            return True
        text = "".join(parts).strip(SPACE)
        text = PYTHON_WORDS.get(text, text)
        reader.argue(text if _is_json(text) else json.dumps(text, ensure_ascii=False))
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
        """`key` is grammar text. What stands before it is apart: it may begin another key, too."""
        schema = resolved(schema, given.root)
        text = is_text(schema)
        middle = self.string_key if text and self.string_key else self.key[1]
        opening, following = (
            lark.literal(part, specials) for part in (self.key[0], f"{middle}{self.value[0]}")
        )
        before = f"{opening} {key} {following}"
        after = lark.literal(f"{self.value[1]}{self.end}", specials)
        if text:
            check_text(schema, tool)
            return text_rules(rule, before, f"{self.value[1]}{self.end}", schema, specials)
        return [
            f"{rule}: {before} {rule}_value {after}",
            f"{rule}_value: {lark.part(schema, given.root, lenient=not tool.strict)}",
        ]


def _escaping(reader: Reader) -> Any:
    return lambda text: reader.argue(json.dumps(text, ensure_ascii=False)[1:-1])


def _schema_of(key: str, given: Parameters) -> Any:
    return resolved(given.properties.get(key, given.other), given.root)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
