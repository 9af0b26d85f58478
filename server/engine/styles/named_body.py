"""A call as its name, a mark, and the arguments as JSON."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from server.chat import Tool, ToolCall
from server.engine.styles import lark
from server.engine.styles.json_body import write_arguments
from server.engine.styles.stream import SPACE, Reader

LONGEST_NAME = 256


@dataclass(frozen=True, slots=True)
class NamedBody:
    """before NAME [id_after ID] between {arguments} after"""

    between: str
    before: str = ""
    after: str = ""
    id_after: str = ""
    id_rule: str = ""
    whole_is_id: bool = False
    """The id is everything from `before` on, not only what follows `id_after`."""
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
