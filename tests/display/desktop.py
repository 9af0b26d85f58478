"""Starts a desktop for a test: X server, session bus, window manager, panel with a tray."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

T = TypeVar("T")
PROGRAMS = ("Xvfb", "dbus-daemon", "openbox", "xfce4-panel", "dunst", "xdotool", "scrot")
PATIENCE_S = 180.0
_WATCHER = DBusAddress(
    "/StatusNotifierWatcher", "org.kde.StatusNotifierWatcher", "org.kde.StatusNotifierWatcher"
)
_PANEL = """<?xml version="1.0" encoding="UTF-8"?>
<channel name="xfce4-panel" version="1.0">
  <property name="configver" type="int" value="2"/>
  <property name="panels" type="array">
    <value type="int" value="1"/>
    <property name="panel-1" type="empty">
      <property name="position" type="string" value="p=6;x=0;y=0"/>
      <property name="length" type="uint" value="100"/>
      <property name="position-locked" type="bool" value="true"/>
      <property name="size" type="uint" value="30"/>
      <property name="plugin-ids" type="array">
        <value type="int" value="1"/><value type="int" value="2"/><value type="int" value="3"/>
      </property>
    </property>
  </property>
  <property name="plugins" type="empty">
    <property name="plugin-1" type="string" value="tasklist"/>
    <property name="plugin-2" type="string" value="separator">
      <property name="expand" type="bool" value="true"/>
    </property>
    <property name="plugin-3" type="string" value="systray"/>
  </property>
</channel>
"""


@dataclass(frozen=True)
class MenuItem:
    id: int
    label: str
    enabled: bool
    checked: bool
    children: "tuple[MenuItem, ...]"


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name) is None]


def wait_for(what: str, look: Callable[[], T], patience_s: float = PATIENCE_S) -> T:
    """Calls `look` until it returns something true. Other programs' processes can only be
    polled."""
    end = time.monotonic() + patience_s
    while not (found := look()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within {patience_s:.0f} s")
        time.sleep(0.02)
    return found


class Desktop:
    """A desktop, used as a context manager. It ends everything that it has started."""

    def __init__(self, folder: Path, *, tray: bool = True) -> None:
        self._folder = folder
        self._tray = tray
        self._open = ExitStack()
        self.environment = {
            **{name: text for name, text in os.environ.items() if name != "QT_QPA_PLATFORM"},
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "NO_AT_BRIDGE": "1",
        }
        self.environment.pop("WAYLAND_DISPLAY", None)

    def __enter__(self) -> "Desktop":
        try:
            self._begin()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _begin(self) -> None:
        for name in ("run", "config", "cache"):
            (self._folder / name).mkdir(mode=0o700, exist_ok=True)
        panel = self._folder / "config/xfce4/xfconf/xfce-perchannel-xml/xfce4-panel.xml"
        panel.parent.mkdir(parents=True)
        panel.write_text(_PANEL)
        self.environment["DISPLAY"] = self._start_screen()
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self._start_bus()
        self.bus = self._open.enter_context(self._connect())
        self.start("openbox")
        # A window that opens before the window manager runs never gets the focus.
        wait_for("the window manager", self._is_managed)
        if self._tray:
            self.start("dunst")
            self.start("xfce4-panel", "--disable-wm-check")
            wait_for("the tray", lambda: self._owned("org.kde.StatusNotifierWatcher"))

    def start(self, *command: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Starts a program on this desktop. It ends with the desktop."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, **{"env": self.environment, **quiet, **options})
        self._open.callback(_end, process)
        return process

    def tray_item(self) -> str | None:
        """Returns the bus name of the only icon in the tray, or None."""
        wanted = Properties(_WATCHER).get("RegisteredStatusNotifierItems")
        items = self._call(wanted)[0][1]
        return str(items[0]).split("/")[0] if items else None

    def tray_property(self, item: str, name: str) -> Any:
        address = DBusAddress("/StatusNotifierItem", item, "org.kde.StatusNotifierItem")
        return self._call(Properties(address).get(name))[0][1]

    def open_menu(self, item: str) -> tuple[MenuItem, ...]:
        """Opens the menu as a panel does: announces it, then reads it."""
        self._menu(item, "AboutToShow", "i", (0,))
        _, layout = self._menu(item, "GetLayout", "iias", (0, -1, []))
        return _items(layout)

    def click(self, item: str, label: str) -> None:
        entry = next(entry for entry in flatten(self.open_menu(item)) if entry.label == label)
        self._menu(item, "Event", "isvu", (entry.id, "clicked", ("i", 0), 0))

    def windows(self, title: str = "^Moat$") -> list[str]:
        found = self._run("xdotool", "search", "--onlyvisible", "--name", title)
        return found.split()

    def active_window(self) -> str:
        return self._run("xdotool", "getactivewindow").strip()

    def type(self, *keys: str) -> None:
        self._run("xdotool", "key", *keys)

    def write(self, text: str) -> None:
        self._run("xdotool", "type", "--delay", "10", text)

    def picture(self, path: Path) -> None:
        self._run("scrot", "-o", str(path))

    def _run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=180
        )
        return done.stdout

    def _is_managed(self) -> bool:
        """Whether a window manager runs. Without one, xdotool counts no desktops."""
        return int(self._run("xdotool", "get_num_desktops") or 0) > 0

    def _start_screen(self) -> str:
        """Starts the X server and returns its display. Without -noreset it restarts each time its
        last client leaves, and drops whoever connects just then: here xdotool, which looks for the
        window manager."""
        read, write = os.pipe()
        self.start(
            "Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24",
            "-nolisten", "tcp", "-noreset",
            pass_fds=(write,),
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as told:
            return f":{told.readline().strip()}"

    def _start_bus(self) -> str:
        process = self.start(
            "dbus-daemon", "--session", "--nofork", "--print-address", stdout=subprocess.PIPE
        )
        assert process.stdout
        with process.stdout as told:
            return told.readline().decode().strip()

    def _connect(self) -> DBusConnection:
        return open_dbus_connection(self.environment["DBUS_SESSION_BUS_ADDRESS"])

    def _owned(self, name: str) -> bool:
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        return bool(self._call(new_method_call(bus, "NameHasOwner", "s", (name,)))[0])

    def _menu(self, item: str, method: str, signature: str, body: tuple[Any, ...]) -> Any:
        address = DBusAddress("/MenuBar", item, "com.canonical.dbusmenu")
        return self._call(new_method_call(address, method, signature, body))

    def _call(self, message: Any) -> Any:
        reply = self.bus.send_and_get_reply(message, timeout=PATIENCE_S)
        if reply.header.message_type.name == "error":
            raise AssertionError(f"The bus refused: {reply.body}")
        return reply.body


def flatten(items: tuple[MenuItem, ...]) -> list[MenuItem]:
    return [entry for item in items for entry in (item, *flatten(item.children))]


def labels(items: tuple[MenuItem, ...]) -> list[str]:
    return [item.label for item in items if item.label]


def _items(layout: Any) -> tuple[MenuItem, ...]:
    """Reads a dbusmenu layout: (id, properties, children), each child a variant of the same."""
    made = []
    for _, (number, properties, children) in layout[2]:
        known = {name: value for name, (_, value) in properties.items()}
        made.append(
            MenuItem(
                number,
                str(known.get("label", "")).replace("_", ""),
                bool(known.get("enabled", True)),
                known.get("toggle-state") == 1,
                _items((number, properties, children)),
            )
        )
    return tuple(made)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
