"""One window per user: a second start asks the first to show itself."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLockFile, QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_SHOW = b"show\n"
_LONGEST_SOCKET_PATH = 100
_PATIENCE_S = 2.0
_KNOCK_MS = 250


class FirstWindow(QObject):
    """Holds the lock; calls `on_show` when a later start knocks."""

    def __init__(self, lock: QLockFile, name: str) -> None:
        super().__init__()
        self._lock = lock
        self.knocks = 0
        self._on_show: Callable[[], None] | None = None
        QLocalServer.removeServer(name)
        self._door = QLocalServer(self)
        self._door.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._door.newConnection.connect(self._let_in)
        self._door.listen(name)

    def on_show(self, listener: Callable[[], None]) -> None:
        """A knock that came before there was a window counts too."""
        self._on_show = listener
        if self.knocks:
            listener()

    def close(self) -> None:
        self._door.close()
        self._lock.unlock()

    def _let_in(self) -> None:
        visitor = self._door.nextPendingConnection()
        visitor.disconnected.connect(visitor.deleteLater)
        self.knocks += 1
        if self._on_show:
            self._on_show()


def claim(runtime: Path) -> FirstWindow | None:
    """The right to be the only window, or None after the one that has it was told to show."""
    lock = QLockFile(str(runtime / "window.lock"))
    lock.setStaleLockTime(0)
    name = _socket_name(runtime)
    if lock.tryLock(0):
        return FirstWindow(lock, name)
    give_up = time.monotonic() + _PATIENCE_S
    while not _knock(name):
        if lock.tryLock(_KNOCK_MS):
            return FirstWindow(lock, name)
        if time.monotonic() > give_up:
            # Its process number now belongs to another program: nobody is behind this lock.
            lock.removeStaleLockFile()
            (runtime / "window.lock").unlink(missing_ok=True)
            return FirstWindow(lock, name) if lock.tryLock(0) else None
    return None


def _knock(name: str) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(name)
    if not socket.waitForConnected(_KNOCK_MS):
        return False
    socket.write(_SHOW)
    socket.waitForBytesWritten(_KNOCK_MS)
    socket.disconnectFromServer()
    return True


def _socket_name(runtime: Path) -> str:
    path = runtime / "window.sock"
    if os.name != "nt" and len(os.fsencode(path)) <= _LONGEST_SOCKET_PATH:
        return str(path)
    # Pipes of Windows have names, not paths; sockets have short paths.
    name = f"moat-{hashlib.sha256(os.fsencode(runtime)).hexdigest()[:16]}"
    return name if os.name == "nt" else str(Path(tempfile.gettempdir()) / name)
