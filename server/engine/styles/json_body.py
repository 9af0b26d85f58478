"""Calls as JSON: an object that has the name as a member, or the name, a mark and the arguments."""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from server.chat import Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.stream import SPACE, More, Reader


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A call as one JSON object. `before` and `after` are grammar text for other members.

    The model's own id is ignored: it may come after the arguments, or be reused in the next turn.
    """

    name: str = "name"
    arguments: str = "arguments"
    before: str = ""
    after: str = ""
    spelling: tuple[str, ...] = ()
    """The exact text before the name, between name and arguments, and after; empty if unknown."""
    nest: str = ""
    """The key of the inner object that holds name and arguments; empty if there is none."""
    spacing: tuple[str, ...] = lark.SPACING

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        given = lark.schema(tool.parameters, lenient=not tool.strict, spacing=self.spacing)
        arguments = f"arguments_{at}: {given}"
        if self.spelling:
            begin, middle, end = self.spelling
            head = lark.literal(f"{begin}{tool.name}{middle}", specials)
            return [f"call_{at}: {head} arguments_{at} {lark.literal(end, specials)}", arguments]
        head = lark.quote(f'"{self.name}": {lark.quote(tool.name)}, "{self.arguments}": ')
        return [
            f'call_{at}: "{{" {self.before} {head} arguments_{at} {self.after} "}}"',
            arguments,
        ]

    def read(self, reader: Reader, _tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept("{")):
            return False
        calls = reader.calls
        yield from self._members(reader)
        return reader.calls > calls

    def write(self, call: ToolCall) -> str:
        if self.spelling:
            begin, middle, end = (text.replace(lark.ID, call.id) for text in self.spelling)
            return f"{begin}{call.name}{middle}{write_arguments(call.arguments, self.spacing)}{end}"
        made = {self.name: call.name, self.arguments: call.arguments}
        return json.dumps(made, ensure_ascii=False)

    def _members(self, reader: Reader) -> More:
        early, calls = "", reader.calls
        while True:
            key = yield from member_key(reader)
            if key is None:
                return
            if key == self.arguments and reader.calls > calls:
                yield from arguments_value(reader)
            elif key == self.arguments:
                early = yield from raw_value(reader)
            elif key == self.nest:
                yield from reader.skip_space()
                yield from reader.accept("{")
                yield from self._members(reader)
            else:
                value = yield from reader.json_whole()
                if key == self.name and isinstance(value, str):
                    reader.open_call(value)
                    reader.argue(early)


@dataclass(frozen=True, slots=True)
class KeyedBody:
    """A call of the form {"the_name": {arguments}}."""

    def rules(self, at: int, tool: Tool, _specials: Mapping[str, int]) -> list[str]:
        head = lark.quote(f"{{{lark.quote(tool.name)}: ")
        return [
            f'call_{at}: {head} arguments_{at} "}}"',
            f"arguments_{at}: {lark.schema(tool.parameters, lenient=not tool.strict)}",
        ]

    def read(self, reader: Reader, _tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept("{")):
            return False
        name = yield from member_key(reader)
        if not isinstance(name, str):
            return False
        reader.open_call(name)
        yield from reader.json_value(reader.argue)
        yield from reader.skip_space()
        yield from reader.accept("}")
        return True

    def write(self, call: ToolCall) -> str:
        return json.dumps({call.name: call.arguments}, ensure_ascii=False)


def write_arguments(arguments: Any, spacing: tuple[str, ...]) -> str:
    item, key = spacing or lark.SPACING
    return json.dumps(arguments, ensure_ascii=False, separators=(item, key))


def arguments_value(reader: Reader) -> More:
    """Reads the arguments: an object, or a string that contains the object."""
    yield from reader.skip_space()
    if reader.text.startswith('"'):
        yield from reader.json_text(reader.argue)
    else:
        yield from reader.json_value(reader.argue)


def member_key(reader: Reader) -> Generator[None, None, str | None]:
    """Reads the next key of an object and its colon; None at its end or at invalid text."""
    yield from reader.skip_space()
    yield from reader.accept(",")
    yield from reader.skip_space()
    if (yield from reader.accept("}")) or not reader.text.startswith('"'):
        return None
    key = yield from reader.json_whole()
    yield from reader.skip_space()
    colon = yield from reader.accept(":")
    return key if colon and isinstance(key, str) else None


def raw_value(reader: Reader) -> Generator[None, None, str]:
    parts: list[str] = []
    yield from reader.json_value(parts.append)
    return "".join(parts)


LONGEST_NAME = 256
"""A longer text before the mark is not a tool's name."""


@dataclass(frozen=True, slots=True)
class NamedBody:
    """A call of the form `before NAME [id_after ID] between {arguments} after`."""

    between: str
    before: str = ""
    after: str = ""
    id_after: str = ""
    id_rule: str = ""
    whole_is_id: bool = False
    """Whether the id is everything from `before` on, instead of the part after `id_after`."""
    spacing: tuple[str, ...] = lark.SPACING

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.before, self.between, self.after, self.id_after)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        named = f"{self.before}{tool.name}"
        head = lark.literal(f"{named}{self.between}", specials)
        if self.id_rule:
            begin, end = (
                lark.literal(text, specials) for text in (named + self.id_after, self.between)
            )
            head = f"{begin} {self.id_rule} {end}"
        after = lark.literal(self.after, specials)
        given = lark.schema(tool.parameters, lenient=not tool.strict, spacing=self.spacing)
        return [f"call_{at}: {head} arguments_{at} {after}", f"arguments_{at}: {given}"]

    def read(self, reader: Reader, _tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (reader.text or (yield from _more(reader))):
            return False
        yield from reader.accept(self.before)
        parts: list[str] = []
        yield from reader.until((self.between,), parts.append)
        whole = "".join(parts).strip(SPACE)
        if reader.ended and not reader.text:
            return False
        name, _, rest = whole.partition(self.id_after) if self.id_after else (whole, "", "")
        if not name or len(name) > LONGEST_NAME:
            return False
        call_id = f"{self.before}{whole}" if self.whole_is_id else rest
        reader.open_call(name, call_id)
        yield from reader.json_value(reader.argue)
        yield from reader.skip_space()
        if self.after.strip():
            yield from reader.accept(self.after.strip())
        return True

    def write(self, call: ToolCall) -> str:
        arguments = write_arguments(call.arguments, self.spacing)
        call_id = f"{self.id_after}{call.id}" if self.id_rule and not self.whole_is_id else ""
        if self.whole_is_id:
            call_id = f"{self.id_after}0"
        return f"{self.before}{call.name}{call_id}{self.between}{arguments}{self.after}"


def _more(reader: Reader) -> Generator[None, None, bool]:
    yield from reader.skip_space()
    return bool(reader.text)
