"""The step types of a flow, by call type. Any other call type is a plugin's own tool."""

from collections.abc import Callable, Mapping

from server.flows.base import Signs, Step, Work
from server.flows.steps import api, choice, extract, lib, llm, mcp, none, render, sql

StepRun = Callable[[Step, Work], Signs]

STEPS: Mapping[str, StepRun] = {
    "api": api.run,
    "llm": llm.run,
    "choice": choice.run,
    "sql": sql.run,
    "render": render.run,
    "extract": extract.run,
    "none": none.run,
    "mcp": mcp.run,
}
OWN_TOOL: StepRun = lib.run
TEXT_STEPS = frozenset({"llm"})
