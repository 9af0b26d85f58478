"""Asks the server to look after its engine when the desktop says that it woke up.

The server finds out by itself, too, some seconds later; where there is no such desktop only so.
"""

import sys
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import SLOT, QObject, Slot

from server import tasks
from server.errors import AppError
from server.face.core import Face

if TYPE_CHECKING or sys.platform == "linux":
    from PySide6.QtDBus import QDBusConnection

_SERVICE = "org.freedesktop.login1"
_PATH = "/org/freedesktop/login1"
_INTERFACE = "org.freedesktop.login1.Manager"


class Waking(QObject):
    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core

    def listen(self, bus: "QDBusConnection | None" = None) -> bool:
        """Whether somebody will say it."""
        if sys.platform != "linux":
            return False
        bus = bus or QDBusConnection.systemBus()
        # Its stubs want bytes, and what it takes is text.
        slot: Any = SLOT("_sleep_changed(bool)")
        return bus.isConnected() and bus.connect(
            _SERVICE, _PATH, _INTERFACE, "PrepareForSleep", self, slot
        )

    @Slot(bool)
    def _sleep_changed(self, begins: bool) -> None:
        if not begins:
            tasks.spawn(self._check(), "check the engine after sleep")

    async def _check(self) -> None:
        try:
            await self._core.check_engine()
        except AppError:
            # The server is not there just now: whatever it loads next is fresh.
            return
