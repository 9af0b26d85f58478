"""none: does nothing; the flow ends here."""

from server.flows.base import Jump, Signs, Step, Work


async def run(_step: Step, _work: Work) -> Signs:
    yield Jump("")
