"""[TOOL_CALLS]name[ARGS]{…}: Devstral, Magistral, Ministral 3."""

from server.engine.styles.named_body import NamedBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(NamedBody(between="[ARGS]"), mark="[TOOL_CALLS]", repeats=True, short_ids=True)
FORMAT = native("devstral", SHAPE, "[TOOL_CALLS]", "[ARGS]")
