"""<tool_calls>[{"name": …, "arguments": {…}}]</tool_calls>: Apriel."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<tool_calls>", opens="[", between=", ", closes="]</tool_calls>")
FORMAT = native("apriel", SHAPE, "<tool_calls>[")
