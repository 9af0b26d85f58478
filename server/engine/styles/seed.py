"""<seed:tool_call> with one <parameter=key> per argument: Seed OSS."""

from server.engine.styles.shape import Shape, native
from server.engine.styles.tagged_body import TaggedBody

SHAPE = Shape(
    TaggedBody(
        name=("<function=", ">\n"),
        key=("<parameter=", ">"),
        value=("", ""),
        end="</parameter>\n",
        closes="</function>",
    ),
    mark="<seed:tool_call>",
    opens="\n",
    closes="\n</seed:tool_call>",
    between="\n",
    repeats=True,
)
FORMAT = native("seed", SHAPE, "<seed:tool_call>")
