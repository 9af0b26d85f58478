"""The window process: opens the link, the server process, the window and the tray.

There is one window per user. A second start asks the first window to show itself.
"""

import asyncio
import gc
import hashlib
import json
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import SLOT, QLockFile, QObject, QSettings, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import QApplication, QSystemTrayIcon

from app.desktop import autostart
from app.desktop.autostart import Autostart
from app.desktop.loop import Loop
from app.look import icons, theme, translate
from app.look.translate import tr
from app.shell.link import Link, Program, keep_serving
from app.shell.tray import Tray
from server import tasks
from server.errors import AppError
from server.face.core import Face, ServerStatus
from server.settings import Settings
from server.system import paths, processes
from server.system.paths import Paths

if TYPE_CHECKING or sys.platform == "linux":
    from PySide6.QtDBus import QDBusConnection

_SHOW = b"show\n"
_LONGEST_SOCKET_PATH = 100
"""The longest path of a Unix socket that all systems allow."""
_PATIENCE_S = 2.0
"""Seconds to wait for the first window before its lock counts as stale."""
_KNOCK_MS = 250


class FirstWindow(QObject):
    """The right to be the only window. Calls `on_show` when a later start asks for the window."""

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
        """Sets the listener, and calls it if a later start has already asked."""
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
    """Returns the right to be the only window; None if another window has it and was called."""
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
            # No window answers, so the lock's process id now belongs to another program.
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
    # Windows pipes have names instead of paths; socket paths must be short.
    name = f"moat-{hashlib.sha256(os.fsencode(runtime)).hexdigest()[:16]}"
    return name if os.name == "nt" else str(Path(tempfile.gettempdir()) / name)


_SERVICE = "org.freedesktop.login1"
_PATH = "/org/freedesktop/login1"
_INTERFACE = "org.freedesktop.login1.Manager"


class Waking(QObject):
    """Asks the core to check the engine after the machine has slept."""

    def __init__(self, core: Face) -> None:
        super().__init__()
        self._core = core

    def listen(self, bus: "QDBusConnection | None" = None) -> bool:
        """Listens to systemd-logind. Returns whether that works; only Linux has it."""
        if sys.platform != "linux":
            return False
        bus = bus or QDBusConnection.systemBus()
        # The stubs ask for bytes, but the method takes text.
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
            # The server is not running now. What it loads next is fresh anyway.
            return


_TRAY_PATIENCE_S = 4.0
"""Seconds to wait for a tray at login before the window says that there is none."""
_THEME = "window/theme"
_LANGUAGE = "window/language"
_SAID_TRAY = "window/said_tray"
_WELCOMED = "window/welcomed"
NO_TRAY = "This desktop shows no tray icons. Closing this window quits Moat."
STAYS = "Moat keeps running in the tray. To quit, use the menu of its icon."


def run(*, hidden: bool = False) -> int:
    """Shows the window until the person quits. Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    places = paths.find()
    places.make()
    app = QApplication([sys.argv[0]])
    app.setApplicationName("moat")
    app.setApplicationDisplayName("Moat")
    app.setDesktopFileName("moat")
    app.setQuitOnLastWindowClosed(False)
    first = claim(places.runtime)
    if first is None:
        return 0
    theme.prepare(app)
    app.setWindowIcon(icons.app_icon())
    try:
        with asyncio.Runner(loop_factory=lambda: Loop(app)) as runner:
            runner.run(_live(app, first, places, hidden=hidden))
    finally:
        first.close()
    return 0


async def _live(app: QApplication, first: FirstWindow, places: Paths, *, hidden: bool) -> None:
    link = Link()
    link.show(ServerStatus("starting"))
    program = Program(processes.command("serve", "--child"), processes.environment("serve"))
    server = tasks.spawn(keep_serving(program, link), "keep serving")
    memory = QSettings(str(places.config / "window.ini"), QSettings.Format.IniFormat)
    wanted = wanted_at_start(places.settings, memory)
    language = wanted.window.language
    is_readable = not translate.lacks_font(language)
    translator = translate.install(language if is_readable else translate.ENGLISH)
    tray = Tray(link.face, memory)
    tray.menu.aboutToShow.connect(link.look)
    app.applicationStateChanged.connect(link.look)
    tray.show()
    # Let the server process and the icon start now, before the window is built.
    await asyncio.sleep(0)
    link.face.settings.set(wanted)
    session = Session(app, link.face, tray, memory)
    first.on_show(session.window.raise_to_front)
    _quit_on_signals(session.quit)
    waking = Waking(link.face)
    waking.listen()
    session.welcome(autostart.find(), places.models)
    session.open(hidden=hidden)
    try:
        await session.quit.wait()
    finally:
        session.close()
        await tasks.stop(server)
        if translator:
            app.removeTranslator(translator)


def wanted_at_start(saved: Path, memory: QSettings) -> Settings:
    """Returns the theme and language to start with, as the server is not running yet.

    As in the server, an environment variable has precedence over the file. Without a readable file
    the last values that the server sent are used.
    """
    held = _window_group(saved)
    if held is None:
        held = _window_group(saved.with_suffix(".backup.json"))
    wanted = Settings()
    for name, key in (("theme", _THEME), ("language", _LANGUAGE)):
        otherwise = memory.value(key, "system") if held is None else held.get(name, "system")
        for value in (otherwise, os.environ.get(f"MOAT_WINDOW__{name.upper()}")):
            with suppress(ValueError):
                wanted = wanted.changed(f"window.{name}", value) if value else wanted
    return wanted


def _window_group(saved: Path) -> dict[str, Any] | None:
    try:
        held = json.loads(saved.read_text("utf-8"))
        return dict(held.get("window", {}))
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return None


class Session:
    """The window and the tray on the screen. `quit` is set when the person quits."""

    def __init__(self, app: QApplication, core: Face, tray: Tray, memory: QSettings) -> None:
        self.quit = asyncio.Event()
        self._app = app
        self._core = core
        self._memory = memory
        self._theme = core.settings.get().window.theme
        self._language = core.settings.get().window.language
        self._repaint()
        # Import the pages only now, when the icon is already shown.
        from app.shell.window import Window  # noqa: PLC0415

        self.window = Window(core, memory)
        # Modules and widgets stay. Looking for garbage among them stopped the window for 75 ms.
        gc.freeze()
        self.tray = tray
        self.tray.wants_window.connect(self.window.raise_to_front)
        self.tray.wants_logs.connect(self._show_logs)
        self.tray.wants_quit.connect(self.quit.set)
        self.window.wants_quit.connect(self.quit.set)
        self.window.closed.connect(self._window_closed)
        app.styleHints().colorSchemeChanged.connect(self._repaint)
        self._end = core.settings.connect(self._show_settings)
        self._unhear = core.asked_to_quit.connect(lambda _why: self.quit.set())
        self._patience: asyncio.Task[None] | None = None
        if translate.lacks_font(self._language):
            self.window.show_notice(translate.NO_FONT)

    def open(self, *, hidden: bool) -> None:
        if not hidden:
            self.window.show()
        self._patience = tasks.spawn(self._wait_for_tray(), "wait for a tray")

    def welcome(self, autostart: Autostart, models: Path) -> None:
        """Shows the welcome page before anything else, at the first start only."""
        if self._memory.value(_WELCOMED):
            return
        from app.welcome import WelcomePage  # noqa: PLC0415

        page = WelcomePage(self._core, autostart, models)
        self.window.welcome(page)

        def leave() -> None:
            self._memory.setValue(_WELCOMED, "yes")
            self.window.farewell(page)

        page.done.connect(leave)

    def close(self) -> None:
        self._end()
        self._unhear()
        if self._patience:
            self._patience.cancel()
        self._app.styleHints().colorSchemeChanged.disconnect(self._repaint)
        self.tray.close()
        self.window.hide()

    async def _wait_for_tray(self) -> None:
        """Shows a notice if there is no tray, so that the window does not disappear for good."""
        if _has_tray():
            return
        await asyncio.sleep(_TRAY_PATIENCE_S)
        if not _has_tray():
            self.window.show_notice(tr(NO_TRAY))
            self.window.raise_to_front()

    def _window_closed(self) -> None:
        if not (_has_tray() and self._core.settings.get().window.close_to_tray):
            self.quit.set()
        elif not self._memory.value(_SAID_TRAY):
            self._memory.setValue(_SAID_TRAY, "yes")
            self.tray.tell("Moat", tr(STAYS))

    def _show_logs(self) -> None:
        self.window.turn_to("Logs")
        self.window.raise_to_front()

    def _show_settings(self, settings: Settings) -> None:
        if settings.window.theme != self._theme:
            self._theme = settings.window.theme
            self._memory.setValue(_THEME, self._theme)
            self._repaint()

        if settings.window.language != self._language:
            self._language = settings.window.language
            self._memory.setValue(_LANGUAGE, self._language)
            self.window.show_notice(tr("The language changes the next time Moat starts."))

    def _repaint(self) -> None:
        theme.apply(self._app, self._theme)


def _has_tray() -> bool:
    return QSystemTrayIcon.isSystemTrayAvailable()


def _quit_on_signals(ending: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    names = ["SIGINT", "SIGTERM"] if os.name == "nt" else ["SIGINT", "SIGTERM", "SIGHUP"]
    for name in names:
        # The event loop on Windows has no signal handlers. There the tray and the window quit.
        with suppress(NotImplementedError):
            loop.add_signal_handler(getattr(signal, name), ending.set)
