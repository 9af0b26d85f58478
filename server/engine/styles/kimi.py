"""<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}: Kimi K2."""

from server.engine.styles.named_body import NamedBody
from server.engine.styles.shape import Shape, native

SHAPE = Shape(
    NamedBody(
        between="<|tool_call_argument_begin|>",
        before="functions.",
        id_after=":",
        id_rule="/[0-9]{1,2}/",
        whole_is_id=True,
    ),
    mark="<|tool_calls_section_begin|>",
    call=("<|tool_call_begin|>", "<|tool_call_end|>"),
    closes="<|tool_calls_section_end|>",
    also=("<|tool_call_begin|>",),
    cuts_thought=True,
)
FORMAT = native("kimi", SHAPE, "<|tool_calls_section_begin|>")
