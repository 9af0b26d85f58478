"""<|tool_call|>[{"name": …, "arguments": {…}}]: Granite 3."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<|tool_call|>", opens="[", between=", ", closes="]")
FORMAT = native("granite 3", SHAPE, "<|tool_call|>")
