"""<|tools_prefix|>[{"name": {…}}]<|tools_suffix|>: Apertus."""

from server.engine.styles.json_body import KeyedBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    KeyedBody(), mark="<|tools_prefix|>", opens="[", between=", ", closes="]<|tools_suffix|>"
)
FORMAT = native("apertus", SHAPE, "<|tools_prefix|>")
