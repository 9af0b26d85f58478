"""<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}: DeepSeek V3.1."""

from server.engine.styles.named_body import NamedBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    NamedBody(between="<｜tool▁sep｜>"),
    mark="<｜tool▁calls▁begin｜>",
    call=("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    closes="<｜tool▁calls▁end｜>",
)
FORMAT = native("deepseek", SHAPE, "<｜tool▁calls▁begin｜>")
