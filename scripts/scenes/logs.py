"""Logs: empty, full, paused while lines arrive, only errors."""

import asyncio
import time

from app.logs import LogsPage
from app.shell.window import Window
from scripts.scenes.base import LAID_OUT_S, Scene, opened
from server.face.core import LogLine
from tests.kit.fake_core import FakeCore


async def full(core: FakeCore, window: Window) -> str:
    window.turn_to("Logs")
    began = time.mktime((2026, 1, 15, 9, 30, 0, 0, 0, -1))
    sources = (
        ("server.web.listener", "info"),
        ("engine.worker", "info"),
        ("server.core.core", "warning"),
    )
    for number in range(60):
        source, level = sources[number % 3]
        text = f"Request {number} answered in {number * 7 % 90 + 10} ms, 200 OK, 127.0.0.1"
        core.logged.emit(LogLine(began + number * 0.731, level, source, text))
    crash = "The engine stopped (SIGSEGV) while answering request 17; it is started again."
    core.logged.emit(LogLine(began + 45, "error", "engine.process", crash))
    return "Logs"


async def empty(_core: FakeCore, _window: Window) -> str:
    return "Logs"


async def failed(core: FakeCore, window: Window) -> str:
    await full(core, window)
    page = opened(window, LogsPage)
    page.level.setCurrentIndex(page.level.count() - 1)
    page.view.setCurrentIndex(page.lines.index(0))
    return "Logs"


async def busy(core: FakeCore, window: Window) -> str:
    """Shows a paused page while more lines arrive."""
    await full(core, window)
    page = opened(window, LogsPage)
    await asyncio.sleep(LAID_OUT_S)
    page.pause.click()
    for number in range(900):
        core.logged.emit(LogLine(time.time(), "info", "engine.worker", f"step {number}"))
    return "Logs"


SCENES: dict[str, Scene] = {
    "logs": full,
    "logs-busy": busy,
    "logs-empty": empty,
    "logs-failed": failed,
}
