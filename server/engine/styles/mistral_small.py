"""[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}: Mistral Small 3.2."""

from server.engine.styles.named_body import NamedBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    NamedBody(between="[ARGS]", id_after="[CALL_ID]", id_rule="/[a-zA-Z0-9]{9}/"),
    mark="[TOOL_CALLS]",
    repeats=True,
    short_ids=True,
)
FORMAT = native("mistral small", SHAPE, "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]")
