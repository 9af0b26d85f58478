"""<｜tool▁call▁begin｜>function<｜tool▁sep｜>name and fenced JSON: DeepSeek R1, V3."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from server.chat import Tool
from server.engine.styles.json_body import JsonBody
from server.engine.styles.named_body import NamedBody
from server.engine.styles.shape import Shape, native
from server.engine.styles.stream import Reader

QWEN_MARKS = ("<tool_call>", "</tool_call>")


@dataclass(frozen=True, slots=True)
class FencedBody(NamedBody):
    """A distilled Qwen has R1's template, but at times calls as Qwen was taught to."""

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if not (yield from reader.accept(QWEN_MARKS[0])):
            return (yield from NamedBody.read(self, reader, tools))
        yield from reader.skip_space()
        made = yield from JsonBody().read(reader, tools)
        yield from reader.skip_space()
        yield from reader.accept(QWEN_MARKS[1])
        return made


SHAPE = Shape(
    FencedBody(before="function<｜tool▁sep｜>", between="\n```json\n", after="\n```"),
    mark="<｜tool▁calls▁begin｜>",
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    between="\n",
    closes="<｜tool▁calls▁end｜>",
    also=(QWEN_MARKS[0],),
)
FORMAT = native("deepseek r1", SHAPE, "<｜tool▁calls▁begin｜>", "```json")
