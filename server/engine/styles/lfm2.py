"""<|tool_call_start|>[name(key=value)]<|tool_call_end|>: LFM2."""

from functools import partial

from server.engine.base import ModelFacts
from server.engine.styles.base import Format
from server.engine.styles.python_body import PythonBody
from server.engine.styles.shape import Shape, prepare

SHAPE = Shape(
    PythonBody(),
    mark="<|tool_call_start|>",
    opens="[",
    between=", ",
    closes="]<|tool_call_end|>",
)


def fits(facts: ModelFacts) -> bool:
    return any(sign in facts.template for sign in ("<|tool_call_start|>", "<|tool_list_start|>"))


FORMAT = Format("lfm2", fits, partial(prepare, SHAPE), shape=SHAPE)
