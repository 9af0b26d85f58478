"""Runs the real `moat` on a test's desktop, as a user and a client see it."""

import http.client
import json
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil

from tests.display.desktop import PATIENCE_S, Desktop, wait_for

LOAD_S = 180.0
ROOT = Path(__file__).resolve().parents[2]


class Program:
    def __init__(self, desktop: Desktop, home: Path, port: int) -> None:
        self._desktop = desktop
        self._home = home
        self.port = port
        config = home / "config"
        config.mkdir(parents=True, exist_ok=True)
        settings = config / "settings.json"
        if not settings.exists():
            settings.write_text(json.dumps({"server": {"port": port}}))
        self.began = time.monotonic()
        self.errors = home / "stderr.txt"
        keyring = "keyring.backends.fail.Keyring"
        seen = {"MOAT_HOME": str(home), "PYTHON_KEYRING_BACKEND": keyring}
        with self.errors.open("ab") as errors:
            self.process = desktop.start(
                sys.executable, "-m", "app",
                stderr=errors, cwd=ROOT, env={**desktop.environment, **seen},
            )  # fmt: skip

    def age_s(self) -> float:
        return time.monotonic() - self.began

    def wait_for_icon(self) -> str:
        return str(wait_for("the icon", self._desktop.tray_item))

    def is_listening(self) -> bool:
        try:
            return self.get("/health")[0] == 200
        except OSError:
            return False

    def wait_until_ready(self) -> None:
        wait_for("the model", lambda: self.is_listening() and self._models_loaded(), LOAD_S)

    def get(self, path: str) -> tuple[int, bytes]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()

    @contextmanager
    def open_stream(self) -> Iterator[http.client.HTTPResponse]:
        """Yields the response of a long answer that is being written."""
        question = "Count from one to five hundred in words, one number per line."
        with closing(self._ask(question, stream=True, max_tokens=2000)) as connection:
            response = connection.getresponse()
            assert response.status == 200
            wait_for("the first word", lambda: _says_something(response.readline()), LOAD_S)
            yield response
            response.close()

    def family(self) -> list[psutil.Process]:
        """Returns the processes of the window, the server and the worker."""
        window = psutil.Process(self.process.pid)
        return [window, *window.children(recursive=True)]

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    def _models_loaded(self) -> bool:
        """Whether the model is loaded: it answers the smallest question."""
        with closing(self._ask("Hi", stream=False, max_tokens=1)) as connection:
            return connection.getresponse().status == 200

    def _ask(self, question: str, **options: object) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LOAD_S)
        body = {"messages": [{"role": "user", "content": question}], **options}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        return connection


def _says_something(line: bytes) -> bool:
    if not line.startswith(b"data: {"):
        return False
    return any(choice["delta"].get("content") for choice in json.loads(line[6:])["choices"])


def left_of(family: list[psutil.Process]) -> list[psutil.Process]:
    """Returns the processes that do not end within `PATIENCE_S` seconds."""
    _, alive = psutil.wait_procs(family, timeout=PATIENCE_S)
    return [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]
