"""<｜DSML｜invoke name="…"> with one <｜DSML｜parameter> per argument: DeepSeek V4."""

from server.engine.styles.shape import Shape, native
from server.engine.styles.tagged_body import TaggedBody

SHAPE = Shape(
    TaggedBody(
        name=('<｜DSML｜invoke name="', '">\n'),
        key=('<｜DSML｜parameter name="', '" string="false">'),
        kinds=(("string", '" string="true">'),),
        value=("", ""),
        end="</｜DSML｜parameter>\n",
        closes="</｜DSML｜invoke>",
    ),
    mark="<｜DSML｜tool_calls>",
    opens="\n",
    between="\n",
    closes="\n</｜DSML｜tool_calls>",
    cuts_thought=True,
)
FORMAT = native("deepseek v4", SHAPE, "｜DSML｜", "tool_calls")
