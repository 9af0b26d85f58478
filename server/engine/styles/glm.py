"""<tool_call>name with <arg_key> and <arg_value> pairs: GLM 4.5 and 4.6, Laguna."""

from server.engine.styles.shape import Shape, native
from server.engine.styles.tagged_body import TaggedBody

SHAPE = Shape(
    TaggedBody(
        name=("", "\n"),
        key=("<arg_key>", "</arg_key>"),
        value=("\n<arg_value>", ""),
        end="</arg_value>\n",
        closes="",
    ),
    mark="<tool_call>",
    closes="</tool_call>",
    between="\n",
    repeats=True,
)
FORMAT = native("glm", SHAPE, "<tool_call>", "<arg_key>")
