"""Llama 3.x: {"name": …, "parameters": {…}}; built-in tools as <|python_tag|>name.call(…)."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace

from server.chat import ChatRequest, Tool, ToolCall
from server.engine.base import ModelFacts
from server.engine.styles.base import Format, Prepared
from server.engine.styles.json_body import JsonBody, NamedBody
from server.engine.styles.python_body import CODE_TOOLS, PythonBody, raw_code
from server.engine.styles.shape import Shape, has, prepare
from server.engine.styles.stream import Reader

PYTHON_TAG = "<|python_tag|>"
BUILT_IN = frozenset({"brave_search", "wolfram_alpha", *CODE_TOOLS})
LONG_FORM = '{"type": "function", "name": '


@dataclass(frozen=True, slots=True)
class LlamaBody:
    """The three forms of a call. In the short form, the mark has already opened the JSON object."""

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
            made = yield from self.built_in.read(reader, tools)
            return made or (yield from raw_code(reader, tools))
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
    lead="",
    anywhere=(PYTHON_TAG,),
    single=True,
)


def prepare_llama(request: ChatRequest, facts: ModelFacts) -> Prepared:
    """Gives the template the names of built-in tools, which it knows, instead of their schemas."""
    prepared = prepare(SHAPE, request, facts)
    built_in = [tool.name for tool in request.tools if tool.name in BUILT_IN]
    if not built_in or "builtin_tools" not in facts.template:
        return prepared
    described = tuple(tool for tool in prepared.tools if tool["function"]["name"] not in BUILT_IN)
    return replace(prepared, tools=described, options=(("builtin_tools", built_in),))


FORMAT = Format(
    "llama 3", has("<|start_header_id|>ipython<|end_header_id|>"), prepare_llama, shape=SHAPE
)
