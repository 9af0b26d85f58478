"""What worked: setups a model had to be loaded with on this machine, kept for the next time."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from server.face.models import Machine, Setup
from server.system.files import JsonFile

MORE_ROOM = 1.2
"""With this much more free memory than then, the setup asked for is tried again."""
CARD = "card"
MISSED_S = 90 * 86400.0
"""A card that was gone for longer is not missed any more."""


class Worked:
    def __init__(self, path: Path) -> None:
        self._file = JsonFile(path, "The setups that worked")

    def recall(self, model: Path, asked: Setup, machine: Machine) -> Setup | None:
        entry = self._file.read().get(_key(model, machine))
        if not isinstance(entry, dict) or entry.get("asked") != _plain(asked):
            return None
        if _free(machine) > MORE_ROOM * entry.get("free_bytes", 0):
            return None
        try:
            found = {**entry["worked"], "gpu_split": tuple(entry["worked"]["gpu_split"])}
            return Setup(**found)
        except (TypeError, LookupError):
            return None

    def remember(self, model: Path, asked: Setup, worked: Setup, machine: Machine) -> None:
        found = self._file.read()
        found[_key(model, machine)] = {
            "asked": _plain(asked),
            "worked": _plain(worked),
            "free_bytes": _free(machine),
        }
        self._file.write(found)

    def last_card(self, machine: Machine) -> str:
        """The card that was used lately and is missing now; what is used now is kept in mind."""
        found = self._file.read()
        known: Any = found.get(CARD)
        known = known if isinstance(known, dict) else {}
        if machine.devices:
            if machine.engine_uses_gpu and known.get("name") != machine.devices[0].name:
                self._file.write(
                    {**found, CARD: {"name": machine.devices[0].name, "at": time.time()}}
                )
            return ""
        is_recent = time.time() - float(known.get("at", 0)) < MISSED_S
        return str(known.get("name", "")) if is_recent else ""


def _plain(setup: Setup) -> dict[str, Any]:
    """As JSON has it."""
    return {**asdict(setup), "gpu_split": list(setup.gpu_split)}


def _free(machine: Machine) -> int:
    return machine.free_bytes + sum(device.free_bytes for device in machine.devices)


def _key(model: Path, machine: Machine) -> str:
    size = model.stat().st_size if model.exists() else 0
    cards = ",".join(device.name for device in machine.devices)
    return f"{model.name}:{size}:{machine.memory_bytes}:{cards}"
