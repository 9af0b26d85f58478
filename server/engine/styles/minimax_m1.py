"""<tool_calls> and one {"name": …, "arguments": {…}} a line: MiniMax M1."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<tool_calls>", opens="\n", between="\n", closes="\n</tool_calls>")
FORMAT = native("minimax m1", SHAPE, "<tool_calls>")
