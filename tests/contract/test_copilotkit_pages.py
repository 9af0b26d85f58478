"""Opens unmodified React pages of both generations in a real browser: chat, action, error."""

import json
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.contract.copilotkit.programs import ROOT, built, may_install, moat
from tests.kit.programs import need

pytestmark = may_install
PAGES = Path(__file__).parent / "copilotkit" / "pages"
DRIVE_S = 300


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


STEPS = ["load", "chat", "action", "cards", "error"]
CURRENT_STEPS = ["load", "chat", "thought", "document", "action", "cards", "error"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("generation", "form", "steps"),
    [
        ("first", "source", STEPS),
        ("between", "source", STEPS),
        ("second", "source", STEPS),
        ("second", "current", CURRENT_STEPS),
    ],
)
def test_a_page_chats_runs_an_action_and_shows_an_error(
    generation: str, form: str, steps: list[str], tmp_path: Path
):
    browser = need("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
    page = built(PAGES, generation, form)
    shots = ROOT / "build" / "screenshots" / "copilotkit" / f"{generation}-{form}"
    shots.mkdir(parents=True, exist_ok=True)
    with site(page) as origin, moat("obedient", tmp_path, server__origins=[origin]) as address:
        url = f"{origin}/?runtime={address}/api/copilotkit"
        command = [need("node"), "drive.mjs", url, str(shots), browser, *steps]
        done = subprocess.run(
            command, cwd=page.parent, capture_output=True, text=True, timeout=DRIVE_S, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["done"] == steps
    assert told["elsewhere"] == []
    assert all((shots / f"{step}.png").stat().st_size > 5000 for step in told["done"])
