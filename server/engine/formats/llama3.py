"""{"name": …, "parameters": {…}}, built-in tools as <|python_tag|>name.call(…): Llama 3.x."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from server.chat import Tool, ToolCall
from server.engine.formats.json_body import JsonBody
from server.engine.formats.named_body import NamedBody
from server.engine.formats.python_body import PythonBody
from server.engine.formats.shape import Shape, native
from server.engine.formats.stream import Reader

PYTHON_TAG = "<|python_tag|>"
LONG_FORM = '{"type": "function", "name": '


@dataclass(frozen=True, slots=True)
class LlamaBody:
    """After the mark the JSON object is already open; the other forms are read whole."""

    short: NamedBody
    long: JsonBody
    built_in: PythonBody
    texts: tuple[str, ...] = (PYTHON_TAG,)

    def rules(self, at: int, tool: Tool, specials: Mapping[str, int]) -> list[str]:
        return self.short.rules(at, tool, specials)

    def write(self, call: ToolCall) -> str:
        return self.short.write(call)

    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if (yield from reader.accept(PYTHON_TAG)):
            return (yield from self.built_in.read(reader, tools))
        if reader.text.startswith("{"):
            return (yield from self.long.read(reader, tools))
        return (yield from self.short.read(reader, tools))


SHAPE = Shape(
    LlamaBody(
        NamedBody(before='"', between='", "parameters": ', after="}"),
        JsonBody(arguments="parameters"),
        PythonBody(".call("),
    ),
    mark='{"name": ',
    also=(LONG_FORM, PYTHON_TAG),
    single=True,
)
FORMAT = native("llama 3", SHAPE, "<|start_header_id|>ipython<|end_header_id|>")
