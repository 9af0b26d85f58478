"""Reads a program's controls over the accessibility bus, as a screen reader does."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, Properties, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.display.desktop import Desktop, wait_for

LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
ROOT = "/org/a11y/atspi/accessible/root"
REGISTRY = "org.a11y.atspi.Registry"
ACCESSIBLE, TEXT = "org.a11y.atspi.Accessible", "org.a11y.atspi.Text"
FOCUSABLE, FOCUSED, SHOWING = 11, 12, 25
PATIENCE_S = 180.0
WRITTEN = ("text", "entry", "document text", "terminal", "document frame")


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    role: str
    states: int
    text: str = ""

    def has(self, state: int) -> bool:
        return bool(self.states >> state & 1)


class ScreenReader:
    """A reader of the accessibility bus. Create it before the program that it reads."""

    def __init__(self, desktop: Desktop) -> None:
        desktop.environment |= {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        desktop.start(LAUNCHER, "--launch-immediately")
        place = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
        address = wait_for("the bus", lambda: self._address(desktop.bus, place))
        self._bus = open_dbus_connection(address)

    @staticmethod
    def _address(bus: DBusConnection, place: DBusAddress) -> str:
        reply = bus.send_and_get_reply(new_method_call(place, "GetAddress"), timeout=PATIENCE_S)
        return str(reply.body[0]) if reply.header.message_type.name == "method_return" else ""

    def close(self) -> None:
        self._bus.close()

    def read(self) -> list[Node]:
        """Returns all visible controls of the programs on this bus."""
        return [node for place in self._children(REGISTRY, ROOT) for node in self._walk(*place)]

    def texts(self) -> str:
        return "\n".join(f"{node.name}\n{node.text}" for node in self.read())

    def focused(self) -> Node | None:
        return next((node for node in self.read() if node.has(FOCUSED)), None)

    def _walk(self, owner: str, path: str, *, is_top: bool = True) -> Iterator[Node]:
        low, high = self._ask(owner, path, "GetState") or (0, 0)
        states = low | high << 32
        if not is_top and not states >> SHOWING & 1:
            return
        role = str(self._ask(owner, path, "GetRoleName") or "")
        name = self._property(owner, path)
        yield Node(name, role, states, self._text(owner, path) if role in WRITTEN else "")
        for child in self._children(owner, path):
            yield from self._walk(*child, is_top=is_top and role == "application")

    def _children(self, owner: str, path: str) -> list[tuple[str, str]]:
        found = self._ask(owner, path, "GetChildren") or []
        return [(str(one[0]), str(one[1])) for one in found if one[1] != "/org/a11y/atspi/null"]

    def _property(self, owner: str, path: str) -> str:
        found = self._call(Properties(DBusAddress(path, owner, ACCESSIBLE)).get("Name"))
        return str(found[0][1]) if found else ""

    def _text(self, owner: str, path: str) -> str:
        place = DBusAddress(path, owner, TEXT)
        found = self._call(new_method_call(place, "GetText", "ii", (0, -1)))
        return str(found[0]) if found else ""

    def _ask(self, owner: str, path: str, method: str) -> Any:
        found = self._call(new_method_call(DBusAddress(path, owner, ACCESSIBLE), method))
        return found[0] if found else None

    def _call(self, message: Any) -> Any:
        """Returns the reply, or None if the control is gone by then."""
        reply = self._bus.send_and_get_reply(message, timeout=PATIENCE_S)
        return None if reply.header.message_type.name == "error" else reply.body
