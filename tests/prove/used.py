"""A home after some use: it contains every kind of file that Moat writes."""

import socket
from pathlib import Path

from server.system.logs import FILE_BYTES
from tests.prove.askable import BODIES, RUN
from tests.prove.control import command
from tests.prove.stage import ROOT
from tests.prove.wire import post

PLUGIN = ROOT / "plugins" / "portfolio"
KEPT = {
    "copilot": {"keep_threads": True},
    "model": {"slots": 2, "context_tokens": 1024, "prompt_disk_mb": 64, "gpu_layers": 0},
}


def fill_log(home: Path) -> None:
    """Fills the log before the start, so that the first line begins a new file."""
    log = home / "logs" / "moat.log"
    log.parent.mkdir(mode=0o700, exist_ok=True)
    log.touch(mode=0o600)
    log.write_text("x" * FILE_BYTES, encoding="utf-8")


def use(home: Path, port: int, headers: dict[str, str] | None = None) -> None:
    """Uses threads and the prompt cache on disk (`KEPT`), a plugin, HTTPS and feedback."""
    post(port, "/v1/agent/feedback", BODIES["/v1/agent/feedback"], headers)
    post(port, "/api/copilotkit/agent/default/run", RUN, headers)
    long = {"messages": [{"role": "user", "content": "Once more. " * 200}], "max_tokens": 2}
    post(port, "/v1/chat/completions", long, headers)
    key = command(home, "plugins.install", path=str(PLUGIN))
    command(home, "plugins.enable", key=key)
    command(home, "change_setting", field="server.https_port", value=_free_port())
    command(home, "change_setting", field="server.https", value=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
        return found
