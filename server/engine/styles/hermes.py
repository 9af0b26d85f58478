"""<tool_call>{"name": …, "arguments": {…}}</tool_call>: Hermes 2 Pro and 3, Qwen, Granite 4."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    JsonBody(),
    mark="<tool_call>",
    opens="\n",
    closes="\n</tool_call>",
    between="\n",
    repeats=True,
)
FORMAT = native("hermes", SHAPE, "<tool_call>")
