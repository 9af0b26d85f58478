"""<|tools_prefix|>[{"name": {…}}]<|tools_suffix|>: Apertus."""

from server.engine.formats.json_body import KeyedBody
from server.engine.formats.shape import Shape, native

SHAPE = Shape(
    KeyedBody(), mark="<|tools_prefix|>", opens="[", between=", ", closes="]<|tools_suffix|>"
)
FORMAT = native("apertus", SHAPE, "<|tools_prefix|>")
