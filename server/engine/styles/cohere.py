"""<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]: Command R7B, A."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    JsonBody(
        "tool_name",
        "parameters",
        before='"\\"tool_call_id\\": \\"" /[0-9]{1,2}/ "\\", "',
    ),
    mark="<|START_ACTION|>",
    opens="[\n    ",
    between=",\n    ",
    closes="\n]<|END_ACTION|>",
)
FORMAT = native("cohere", SHAPE, "<|START_ACTION|>")
