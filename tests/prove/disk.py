"""Fills a small separate filesystem to the last byte before each write."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.core.configuration import SettingsStore
from server.core.core import Core
from server.errors import AppError
from server.plugins.folder import load
from server.system.paths import Paths
from tests.faults.test_download_faults import fill
from tests.prove.by_test import shown_by
from tests.prove.rows import Figure, Row
from tests.prove.stage import ROOT, Stage

PLUGIN = ROOT / "plugins" / "portfolio"
LEFT = (0, 1, 100, 500, 1000, 2000, 4096, 5000, 9000, 20_000, 60_000)
SIZE = "size=2m"


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", SIZE, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def places(root: Path) -> Paths:
    return Paths(root / "config", root / "data", root / "cache", root / "logs", root / "run")


async def use(core: Core, slots: int) -> None:
    """Makes Moat write: settings, a plugin, the log."""
    await core.change_setting("model.slots", slots)
    with suppress(AppError, OSError):
        await core.plugins.install(str(PLUGIN))
    await core.recent_logs(1)


async def filled(disk: Path) -> tuple[int, int, int]:
    """Returns the number of tries, and how often settings and plugin were whole afterwards."""
    home = disk / "home"
    core = Core(places(home))
    await core.open()
    await use(core, 2)
    tried = settings = plugins = 0
    try:
        for number, left in enumerate(LEFT):
            ballast = fill(disk, left)
            slots = 3 + number % 2
            await use(core, slots)
            ballast.unlink()
            store = SettingsStore(home / "config" / "settings.json")
            settings += store.load().model.slots in (2, 3, 4) and not store.notices
            plugins += _whole(home)
            tried += 1
    finally:
        await core.close()
    return tried, settings, plugins


def _whole(home: Path) -> bool:
    found = [path for path in home.rglob("plugin.json") if ".previous" not in path.parts]
    return bool(found) and all(load(path.parent).manifest is not None for path in found)


async def starts(disk: Path) -> bool:
    fill(disk, 0)
    core = Core(places(disk / "home"))
    await core.open()
    await core.change_settings({"model.load_at_start": False})
    await core.start_on(0)
    ready = core.server.get().phase == "ready"
    await core.close()
    return ready


def full_disk(stage: Stage) -> Figure:
    with small_disk(stage.scratch("disk")) as disk:
        tried, settings, plugins = asyncio.run(filled(disk))
        started = asyncio.run(starts(disk))
    text = f"with {LEFT[0]} to {LEFT[-1]} bytes free: settings whole {settings} of {tried}, "
    text += f"plugin whole {plugins} of {tried}; starts and serves with none free: {started}"
    return Figure(text, settings == plugins == tried > 0 and started)


ROWS = (
    Row(
        "F10",
        "A full disk corrupts nothing, and Moat starts with no byte free",
        "whole every time",
        full_disk,
        beside="apart",
    ),
    Row(
        "F10a",
        "A download waits for room on a full disk and goes on",
        "all go on",
        shown_by(
            "tests/server/models/downloads/test_queue_disk.py::test_too_little_disk_waits_for_room_and_then_goes_on",
            "tests/faults/test_download_faults.py::test_the_program_starts_with_no_byte_free",
        ),
    ),
)
