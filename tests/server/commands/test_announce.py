from server.commands.announce import Announcer
from server.face import ServerStatus
from tests.fake_core import FakeCore


def test_each_thing_is_said_once_and_https_with_what_trusts_it() -> None:
    said: list[str] = []
    core = FakeCore()
    Announcer(said.append).watch(core)
    said.clear()
    status = ServerStatus(
        "ready",
        "http://127.0.0.1:7000",
        secure_address="https://localhost:7443",
        trust="certutil -A",
    )
    core.server.set(status)
    core.server.set(ServerStatus("starting"))
    core.server.set(status)
    assert said == [
        "Moat serves on http://127.0.0.1:7000  (stop with Ctrl-C)",
        "HTTPS: https://localhost:7443  (trust it once: certutil -A)",
    ]
