"""The desktop's word that it woke up reaches the server."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from app.shell.session import Waking
from tests.kit.fake_core import FakeCore
from tests.kit.programs import need
from tests.kit.until import until

if sys.platform != "linux":
    pytest.skip("needs Linux", allow_module_level=True)

from PySide6.QtDBus import QDBusConnection, QDBusMessage

LOGIND = "org.freedesktop.login1"


@pytest.fixture
def bus() -> Iterator[str]:
    command = [need("dbus-daemon"), "--session", "--nofork", "--print-address"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        yield daemon.stdout.readline().strip()
        daemon.terminate()


async def test_waking_up_asks_for_a_look_at_the_engine(bus: str, core: FakeCore) -> None:
    ours = QDBusConnection.connectToBus(bus, "ours")
    desktop = QDBusConnection.connectToBus(bus, "desktop")
    assert desktop.registerService(LOGIND)
    waking = Waking(core)
    assert waking.listen(ours)
    for begins in (True, False):
        message = QDBusMessage.createSignal(
            "/org/freedesktop/login1", f"{LOGIND}.Manager", "PrepareForSleep"
        )
        message.setArguments([begins])
        assert desktop.send(message)
    await until(lambda: core.commands)
    assert core.commands == [("check_engine",)]
    for name in ("ours", "desktop"):
        QDBusConnection.disconnectFromBus(name)
