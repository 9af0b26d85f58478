"""Shared by the rows: a running Moat, a running llama-server, scratch folders, quick or full."""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import Any, Self

from scripts.build_llama_server import llama_server as built_llama_server
from server.engine.worker.load.plan import usable_cores
from server.models import library
from server.protocols import ENDPOINTS
from tests.bench.servers import Shape, llama_server
from tests.kit.running import READY, Moat, serving

ROOT = Path(__file__).resolve().parents[2]
SLOTS = 4
CONTEXT_TOKENS = 2048
SHARED = {"model": {"slots": SLOTS, "context_tokens": CONTEXT_TOKENS, "gpu_layers": 0}}
QUIET = {
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    "MOAT_MODEL__CALIBRATE": "false",
}
"""The proof does not use the user's keyring, and no model measures its speed between rows."""
NO_HUB = {"HF_ENDPOINT": "http://127.0.0.1:9"}
"""Odd names that a row pulls are not searched for on a real hub."""
PEER_ROUTES = (
    ("GET", "/health"), ("GET", "/props"), ("GET", "/slots"), ("GET", "/v1/models"),
    ("GET", "/lora-adapters"), ("POST", "/completion"), ("POST", "/v1/completions"),
    ("POST", "/v1/chat/completions"), ("POST", "/v1/messages"), ("POST", "/v1/embeddings"),
    ("POST", "/tokenize"), ("POST", "/detokenize"), ("POST", "/apply-template"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Target:
    """A server that the same black-box script is run against."""

    name: str
    port: int
    pid: int
    routes: tuple[tuple[str, str], ...]


def _set() -> Event:
    event = Event()
    event.set()
    return event


@dataclass
class Stage:
    quick: bool
    folder: Path = field(default_factory=Path)
    stopping: Event = field(default_factory=Event)
    """Set when the proof is ended early. Lasting rows check it."""
    going: Event = field(default_factory=_set)
    """Cleared while a row needs the machine alone. Lasting rows wait for it."""
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Self:
        self.folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        self.going.clear()
        try:
            yield
        finally:
            self.going.set()

    def pick(self, quick: int, full: int) -> int:
        return quick if self.quick else full

    def scratch(self, name: str) -> Path:
        made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))
        made.chmod(0o700)
        return made

    @cached_property
    def home(self) -> Path:
        return self.scratch("home")

    @cached_property
    def moat(self) -> Moat:
        """The real server with the starter model, as a user has it. Many rows share it."""
        return self._open.enter_context(moat_at(self.home, SHARED, environment=NO_HUB))

    @cached_property
    def ours(self) -> Target:
        return target_of(self.moat)

    @cached_property
    def theirs(self) -> Target:
        shape = Shape(model(), SLOTS, CONTEXT_TOKENS, usable_cores())
        server = self._open.enter_context(llama_server(built_llama_server(), shape))
        return Target(server.name, server.port, server.process.pid, PEER_ROUTES)


@contextmanager
def moat_at(
    home: Path,
    settings: Mapping[str, Any] | None = None,
    *arguments: str,
    wait_for: str = READY,
    environment: Mapping[str, str] | None = None,
    port: int | None = 0,
) -> Iterator[Moat]:
    """Runs `moat serve` with its own home and settings. Port None means that of the settings."""
    if settings is not None:
        path = home / "config" / "settings.json"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")
    given = {**QUIET, "MOAT_HOME": str(home), **(environment or {})}
    with serving(*arguments, wait_for=wait_for, environment=given, port=port) as running:
        yield running


def target_of(moat: Moat) -> Target:
    """Returns a running Moat with all its routes."""
    routes = tuple(sorted({(one.method, filled(one.path)) for one in ENDPOINTS}))
    return Target("Moat", port_of(moat), moat.pid, routes)


def model() -> Path:
    found = library.find_starter()
    if found is None:
        raise FileNotFoundError("The starter model is not installed; 'make setup' brings it.")
    return found


def port_of(moat: Moat) -> int:
    return int(moat.address.rsplit(":", 1)[1])


def is_quick() -> bool:
    return bool(os.environ.get("QUICK"))


def filled(path: str) -> str:
    """Returns a real path for a route with parameters."""
    for place, text in (("{agent}", "default"), ("{thread}", "t"), ("{what}", "messages")):
        path = path.replace(place, text)
    return path.replace("{id:.+}", "x").replace("{id}", "x").replace("{digest}", "x")
