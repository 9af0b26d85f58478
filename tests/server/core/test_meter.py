from contextlib import aclosing

from server.core.running_requests import Meter
from server.events import Finished, TextDelta, Usage
from server.face.core import About
from tests.kit.engines import ready, replay
from tests.kit.requests import make_requests


async def test_speed_and_memory_are_measured_while_a_request_runs():
    meter = Meter()
    requests = make_requests(lambda: meter.measure(requests))
    answer = replay(TextDelta("a"), TextDelta("b"), Finished("stop", Usage(1, 0, 2)))
    async with aclosing(requests.track(ready(answer), About("/x"))) as events:
        assert len([event async for event in events]) == 3
    meter.measure(requests)
    assert meter.load.get().running == 0
    assert meter.load.get().memory_mb > 10
