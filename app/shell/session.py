"""The window role: opens link, server process, window and tray; closes them in order.

There is one window per user: a second start asks the first to show itself.
"""

import asyncio
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


_TRAY_PATIENCE_S = 4.0
_THEME = "window/theme"
_LANGUAGE = "window/language"
_SAID_TRAY = "window/said_tray"
_WELCOMED = "window/welcomed"
NO_TRAY = "This desktop shows no tray icons. Closing this window quits Moat."
STAYS = "Moat keeps running in the tray. To quit, use the menu of its icon."


def run(*, hidden: bool = False) -> int:
    """Show the window until the person quits; returns the exit code."""
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
    # The server process and the icon come now, while the window is being built.
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
    """Theme and language, before the server can tell them: its first word comes after the window.

    As for the server, a variable stands before the file. What the server said last counts where
    there is no file that can be read.
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
    """What is on the screen. `quit` is set when the person wants to leave."""

    def __init__(self, app: QApplication, core: Face, tray: Tray, memory: QSettings) -> None:
        self.quit = asyncio.Event()
        self._app = app
        self._core = core
        self._memory = memory
        self._theme = core.settings.get().window.theme
        self._language = core.settings.get().window.language
        self._repaint()
        # All pages come in with the window; the icon is there before.
        from app.shell.window import Window  # noqa: PLC0415

        self.window = Window(core, memory)
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
        """Once, before anything else is shown."""
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
        """Never hide into nothing: without a tray host the window stays and says so."""
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
        # The loop of Windows has no signal handlers; there the tray and the window quit.
        with suppress(NotImplementedError):
            loop.add_signal_handler(getattr(signal, name), ending.set)
