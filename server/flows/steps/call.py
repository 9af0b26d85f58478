"""Calls: an endpoint of the plugin's API, a tool of an MCP server, or of the plugin's own code."""

from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from server.flows.base import Reach, Signs, Step, Work
from server.flows.calling import call


def run_api(step: Step, work: Work) -> Signs:
    """api: calls one endpoint of the plugin's openapi.yaml."""
    endpoint = " ".join(str(step.params["endpoint"]).split())
    return _call(step, work, ("api", endpoint), step.params.get("arguments") or {})


def run_mcp(step: Step, work: Work) -> Signs:
    """mcp: calls one tool of an MCP server that the plugin names."""
    tool = f"{step.params['server']}/{step.params['tool']}"
    return _call(step, work, ("mcp", tool), step.params.get("arguments") or {})


def run_own_tool(step: Step, work: Work) -> Signs:
    """Calls a tool of the plugin's own code, named by the call type."""
    name = step.call_type.removeprefix(f"{work.flow.plugin}.")
    known = {key: value for key, value in step.params.items() if key != "timeout"}
    return _call(step, work, ("lib", name), known)


async def _call(
    step: Step, work: Work, named: tuple[Reach, str], known: Mapping[str, Any]
) -> Signs:
    action = await work.kit.action(*named)
    async with aclosing(call(step, work, action, dict(known))) as signs:
        async for sign in signs:
            yield sign
