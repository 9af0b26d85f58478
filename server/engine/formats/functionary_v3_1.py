"""<function=name>{…}</function>: Functionary v3.1 on Llama 3.1."""

from server.engine.formats.named_body import NamedBody
from server.engine.formats.shape import Shape, native

SHAPE = Shape(NamedBody(between=">"), mark="<function=", closes="</function>", repeats=True)
FORMAT = native("functionary v3.1", SHAPE, "<function=", "<|start_header_id|>")
