"""mcp: calls one tool of an MCP server that the plugin names."""

from contextlib import aclosing

from server.flows.base import Signs, Step, Work
from server.flows.calling import call


async def run(step: Step, work: Work) -> Signs:
    action = await work.kit.action("mcp", f"{step.params['server']}/{step.params['tool']}")
    known = step.params.get("arguments")
    async with aclosing(call(step, work, action, dict(known or {}))) as signs:
        async for sign in signs:
            yield sign
