"""The control link of a running server, as the window uses it: its values and its commands."""

import json
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE_S = 60.0


def link(home: Path) -> tuple[str, str]:
    entry = json.loads((home / "run" / "control.json").read_text("utf-8"))
    return entry["address"], entry["secret"]


def command(home: Path, name: str, **arguments: Any) -> Any:
    address, secret = link(home)
    body = json.dumps({"name": name, "arguments": arguments}).encode()
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    asked = urllib.request.Request(f"{address}/control/command", body, headers)
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as reply:
        return json.load(reply)["result"]


def value(home: Path, name: str) -> Any:
    """Returns the present value of a mirrored value."""
    address, secret = link(home)
    headers = {"Authorization": f"Bearer {secret}"}
    asked = urllib.request.Request(f"{address}/control/stream", headers=headers)
    beginning = f'data: {{"value":"{name}"'.encode()
    with urllib.request.urlopen(asked, timeout=PATIENCE_S) as stream:
        for line in stream:
            if line.startswith(beginning):
                return json.loads(line[6:])["data"]
    raise LookupError(name)
