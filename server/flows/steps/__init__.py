"""The step types of a flow, by call type. Any other call type is a plugin's own tool."""

from collections.abc import Callable, Mapping

from server.flows.base import Signs, Step, Work
from server.flows.steps import call, choice, extract, llm, render, sql

StepRun = Callable[[Step, Work], Signs]

STEPS: Mapping[str, StepRun] = {
    "api": call.run_api,
    "llm": llm.run,
    "choice": choice.run,
    "sql": sql.run,
    "render": render.run,
    "extract": extract.run,
    "none": choice.end,
    "mcp": call.run_mcp,
}
OWN_TOOL: StepRun = call.run_own_tool
TEXT_STEPS = frozenset({"llm"})
