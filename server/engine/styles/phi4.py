"""<|tool_call|>[{"name": …, "arguments": {…}}]<|/tool_call|>: Phi 4 mini."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<|tool_call|>", opens="[", between=", ", closes="]<|/tool_call|>")
FORMAT = native("phi 4", SHAPE, "<|tool_call|>", "<|/tool_call|>")
