"""Calls a tool of the plugin's own code, named by the call type."""

from contextlib import aclosing

from server.flows.base import Signs, Step, Work
from server.flows.calling import call


async def run(step: Step, work: Work) -> Signs:
    name = step.call_type.removeprefix(f"{work.flow.plugin}.")
    action = await work.kit.action("lib", name)
    known = {key: value for key, value in step.params.items() if key != "timeout"}
    async with aclosing(call(step, work, action, known)) as signs:
        async for sign in signs:
            yield sign
