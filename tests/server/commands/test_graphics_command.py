"""moat graphics: what is lacking, and fetching it without a running server."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from server import cli
from server.system import backends, paths
from server.web.certificates import Certificates
from tests.kit.release_server import CARD, ReleaseServer, put_card


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ReleaseServer]:
    """In a thread: the command has a loop of its own."""
    made, started, loop = ReleaseServer(), threading.Event(), asyncio.new_event_loop()
    ended = asyncio.Event()

    async def serve() -> None:
        async with made.running(Certificates(tmp_path / "certificates").ready()):
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert started.wait(60)
    yield made
    loop.call_soon_threadsafe(ended.set)
    thread.join(60)
    loop.close()


def test_what_lacks_is_shown_and_fetched(
    server: ReleaseServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", put_card(tmp_path / "bin"))
    monkeypatch.setenv("MOAT_HOME", str(tmp_path / "home"))
    places = paths.find()
    places.make()
    places.settings.write_text(json.dumps(server.settings().model_dump(mode="json")))
    assert cli.main(["graphics"]) == 0
    shown = capsys.readouterr().out
    assert CARD in shown
    assert "moat graphics get" in shown
    assert not server.asked
    assert cli.main(["graphics", "get"]) == 0
    assert "verified and in place" in capsys.readouterr().out
    assert "cuda" in backends.found(places.data / "backends")
    assert cli.main(["graphics", "get"]) == 1
    assert "No support for graphics cards is missing" in capsys.readouterr().err
