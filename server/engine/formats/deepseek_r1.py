"""<｜tool▁call▁begin｜>function<｜tool▁sep｜>name and fenced JSON: DeepSeek R1, V3."""

from server.engine.formats.named_body import NamedBody
from server.engine.formats.shape import Shape, native

SHAPE = Shape(
    NamedBody(before="function<｜tool▁sep｜>", between="\n```json\n", after="\n```"),
    mark="<｜tool▁calls▁begin｜>",
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    between="\n",
    closes="<｜tool▁calls▁end｜>",
)
FORMAT = native("deepseek r1", SHAPE, "<｜tool▁calls▁begin｜>", "```json")
