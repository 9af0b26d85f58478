"""Once a day: kept over starts, by the clock on the wall, and soon after it is turned on."""

import asyncio
import os
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from server.core import updates
from server.core.updates import AGAIN_S, EVERY_S, UpdateFailed, Updates
from server.errors import EgressRefused
from server.settings import UpdateSettings
from server.tasks import spawn, stop
from tests.server.core.test_updates import KEY, OTHER, announced

MORNING = 1_790_000_000.0
ON = UpdateSettings(look=True, address="https://moat.example/a", key=KEY)
HOUR = 3600.0


class Lost(Exception):
    """No network."""


class Door:
    """Answers with a body, or fails as it is told to."""

    failures = (Lost,)

    def __init__(self, body: bytes = announced()) -> None:
        self.body = body
        self.failing: Exception | None = None
        self.asked = 0

    def allow(self, address: str, reason: str) -> None:
        pass

    def forget(self, reason: str) -> None:
        pass

    @asynccontextmanager
    async def request(self, *_asked: str, stall_s: float) -> Any:
        self.asked += 1
        if self.failing:
            raise self.failing
        parts = [self.body, b""]

        async def read(_size: int) -> bytes:
            return parts.pop(0)

        yield SimpleNamespace(status=200, content=SimpleNamespace(read=read))


class Desk:
    """A Moat that may be started again, at a time that is set."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.door = Door()
        self.chosen = ON
        self.now = MORNING
        self.start()

    def start(self) -> None:
        door: Any = self.door
        self.updates = Updates(door, lambda: self.chosen, self.folder, lambda: self.now)

    async def asks_at(self, moment: float) -> bool:
        before, self.now = self.door.asked, moment
        await self.updates.look_if_due()
        return self.door.asked > before


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_it_is_once_a_day_however_often_moat_is_started(desk: Desk) -> None:
    assert await desk.asks_at(MORNING)
    for hours in (0.1, 8, 23.9):
        desk.start()
        assert not await desk.asks_at(MORNING + hours * HOUR)
    assert await desk.asks_at(MORNING + EVERY_S)


async def test_turned_on_later_it_is_looked_for_at_the_next_tick(desk: Desk) -> None:
    desk.chosen = UpdateSettings(look=False, address=ON.address, key=KEY)
    assert not await desk.asks_at(MORNING)
    desk.chosen = ON
    assert await desk.asks_at(MORNING + updates.TICK_S)


async def test_another_address_does_not_wait_for_tomorrow(desk: Desk) -> None:
    desk.chosen = UpdateSettings(look=True)
    assert not await desk.asks_at(MORNING)
    desk.chosen = ON
    assert await desk.asks_at(MORNING + updates.TICK_S)


async def test_a_clock_set_back_does_not_stop_it(desk: Desk) -> None:
    assert await desk.asks_at(MORNING + 400 * EVERY_S)
    assert await desk.asks_at(MORNING)
    assert not await desk.asks_at(MORNING + HOUR)


@pytest.mark.parametrize("failure", [Lost(), EgressRefused("offline")])
async def test_when_nobody_was_reached_it_is_tried_again_that_day(
    desk: Desk, failure: Exception
) -> None:
    desk.door.failing = failure
    assert await desk.asks_at(MORNING)
    assert not await desk.asks_at(MORNING + AGAIN_S / 2)
    assert await desk.asks_at(MORNING + AGAIN_S)


async def test_a_forged_answer_is_an_answer(desk: Desk) -> None:
    desk.door.body = announced(by=OTHER)
    assert await desk.asks_at(MORNING)
    assert not await desk.asks_at(MORNING + 2 * AGAIN_S)
    assert desk.updates.found.get().checked_at == 0


async def test_the_user_may_look_at_any_time(desk: Desk) -> None:
    assert await desk.asks_at(MORNING)
    await desk.updates.check()
    assert desk.door.asked == 2
    desk.chosen = UpdateSettings()
    with pytest.raises(UpdateFailed, match="turned off"):
        await desk.updates.check()


async def test_what_was_found_is_still_known_after_a_start(desk: Desk) -> None:
    await desk.asks_at(MORNING)
    desk.start()
    desk.updates.recall()
    found = desk.updates.found.get()
    assert (found.version, found.checked_at) == ("9.1.0", MORNING)


async def test_what_was_changed_on_the_disk_is_not_believed(desk: Desk) -> None:
    await desk.asks_at(MORNING)
    file = desk.folder / updates.NAME
    file.write_text(file.read_text("utf-8").replace("9.1.0", "9.2.0"), "utf-8")
    desk.start()
    desk.updates.recall()
    assert desk.updates.found.get().version == ""


@pytest.mark.parametrize("content", ["", "{", '{"due_at": "soon"}', '{"due_at": NaN}'])
async def test_a_file_that_cannot_be_read_means_looking(desk: Desk, content: str) -> None:
    (desk.folder / updates.NAME).write_text(content, "utf-8")
    desk.start()
    assert await desk.asks_at(MORNING)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
async def test_only_the_user_can_read_it(desk: Desk) -> None:
    await desk.asks_at(MORNING)
    assert (desk.folder / updates.NAME).stat().st_mode & 0o777 == 0o600


async def test_watching_looks_when_the_time_has_come(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(updates, "AFTER_START_S", 0.0)
    monkeypatch.setattr(updates, "TICK_S", 0.0)
    watching = spawn(desk.updates.watch(), "watch")
    async with asyncio.timeout(30):
        while not desk.door.asked:
            await asyncio.sleep(0)
    for _ in range(100):  # each is a tick of the watch
        await asyncio.sleep(0)
    await stop(watching)
    assert desk.door.asked == 1
