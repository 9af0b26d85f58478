"""<function=name>{…}</function>, programs after <|python_tag|>: Functionary v3.1 on Llama 3.1."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass

from server.chat import Tool
from server.engine.styles.named_body import NamedBody
from server.engine.styles.python_body import raw_code
from server.engine.styles.shape import Shape, native
from server.engine.styles.stream import Reader

PYTHON_TAG = "<|python_tag|>"


@dataclass(frozen=True, slots=True)
class FunctionBody(NamedBody):
    def read(self, reader: Reader, tools: Mapping[str, Tool]) -> Generator[None, None, bool]:
        if (yield from reader.accept(PYTHON_TAG)):
            return (yield from raw_code(reader, tools))
        return (yield from NamedBody.read(self, reader, tools))


SHAPE = Shape(
    FunctionBody(between=">"),
    mark="<function=",
    closes="</function>",
    repeats=True,
    also=(PYTHON_TAG,),
)
FORMAT = native("functionary v3.1", SHAPE, "<function=", "<|start_header_id|>")
