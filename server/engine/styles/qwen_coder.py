"""<function=name> with one <parameter=key> per argument: Qwen3 Coder."""

from server.engine.styles.shape import Shape, native
from server.engine.styles.tagged_body import TaggedBody

SHAPE = Shape(
    TaggedBody(
        name=("<function=", ">\n"),
        key=("<parameter=", ">"),
        value=("\n", "\n"),
        end="</parameter>\n",
        closes="</function>",
    ),
    mark="<tool_call>",
    opens="\n",
    closes="\n</tool_call>",
    between="\n",
    repeats=True,
    also=("<function=",),
)
FORMAT = native("qwen coder", SHAPE, "<tool_call>", "<function=", "<parameter=")
