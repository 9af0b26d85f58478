"""What worked: setups a model had to be loaded with on this machine, kept for the next time."""

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any

from server.files import write_atomically
from server.stock import Machine, Setup

log = logging.getLogger(__name__)
MORE_ROOM = 1.2
"""With this much more free memory than then, the setup asked for is tried again."""


class Worked:
    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, model: Path, asked: Setup, machine: Machine) -> Setup | None:
        entry = self._read().get(_key(model, machine))
        if not isinstance(entry, dict) or entry.get("asked") != asdict(asked):
            return None
        if _free(machine) > MORE_ROOM * entry.get("free_bytes", 0):
            return None
        try:
            return Setup(**entry["worked"])
        except (TypeError, LookupError):
            return None

    def remember(self, model: Path, asked: Setup, worked: Setup, machine: Machine) -> None:
        found = self._read()
        found[_key(model, machine)] = {
            "asked": asdict(asked),
            "worked": asdict(worked),
            "free_bytes": _free(machine),
        }
        try:
            write_atomically(self._path, json.dumps(found, indent=1))
        except OSError as error:
            log.info("What worked could not be kept: %s", error.strerror)

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def _free(machine: Machine) -> int:
    return machine.free_bytes + sum(device.free_bytes for device in machine.devices)


def _key(model: Path, machine: Machine) -> str:
    size = model.stat().st_size if model.exists() else 0
    cards = ",".join(device.name for device in machine.devices)
    return f"{model.name}:{size}:{machine.memory_bytes}:{cards}"
