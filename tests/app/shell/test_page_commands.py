"""Commands of a page: what fails is said; a timer that fires after the end does no harm."""

import inspect

from app.home import HomePage
from server.errors import AppError
from tests.kit.fake_core import FakeCore


async def _fail() -> None:
    raise AppError("It did not work.")


def test_a_timer_that_fires_when_the_loop_has_ended_runs_nothing(qtbot) -> None:
    page = HomePage(FakeCore())
    qtbot.addWidget(page)
    work = _fail()
    page.run(work)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED
