"""<tool_calls> and one {"name": …, "arguments": {…}} a line: MiniMax M1."""

from server.engine.formats.json_body import JsonBody
from server.engine.formats.shape import Shape, native

SHAPE = Shape(JsonBody(), mark="<tool_calls>", opens="\n", between="\n", closes="\n</tool_calls>")
FORMAT = native("minimax m1", SHAPE, "<tool_calls>")
