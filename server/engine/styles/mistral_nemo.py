"""[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}]: Mistral Nemo."""

from server.engine.styles.json_body import JsonBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    JsonBody(after='", \\"id\\": \\"" /[a-zA-Z0-9]{9}/ "\\""'),
    mark="[TOOL_CALLS]",
    opens="[",
    between=", ",
    closes="]",
    short_ids=True,
)
FORMAT = native("mistral nemo", SHAPE, "[TOOL_CALLS]")
