"""What a person decided about each plugin: enabled, reviewed, where its API is, its options."""

import json
import logging
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from server.files import set_aside, write_atomically

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Decided:
    enabled: bool = False
    reviewed: str = ""
    """What it could reach when it was enabled; something else must be looked at again."""
    server: str = ""
    options: dict[str, str] = field(default_factory=dict)
    changing_methods: bool = False
    linked: str = ""
    """The folder it is used from, when it was not copied."""
    more: dict[str, Any] = field(default_factory=dict)
    """What a newer version wrote beside it."""


KNOWN = frozenset(one.name for one in fields(Decided)) - {"more"}


class Kept:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._decided = _read(path)

    def get(self, key: str) -> Decided:
        return self._decided.get(key, Decided())

    def set(self, key: str, decided: Decided) -> None:
        self._decided[key] = decided
        self._save()

    def forget(self, key: str) -> None:
        self._decided.pop(key, None)
        self._save()

    def linked(self) -> list[Path]:
        return [Path(one.linked) for one in self._decided.values() if one.linked]

    def _save(self) -> None:
        text = json.dumps({key: _told(one) for key, one in self._decided.items()}, indent=1)
        try:
            write_atomically(self._path, text)
        except OSError as error:
            log.warning("The choices about plugins could not be saved: %s", error.strerror)


def _told(decided: Decided) -> dict[str, Any]:
    told = asdict(decided)
    more = told.pop("more")
    return {**more, **told}


def _decided(told: dict[str, Any]) -> Decided:
    more = {name: value for name, value in told.items() if name not in KNOWN}
    return Decided(**{name: told[name] for name in told if name in KNOWN}, more=more)


def _read(path: Path) -> dict[str, Decided]:
    try:
        found: Any = json.loads(path.read_text("utf-8"))
        return {key: _decided(one) for key, one in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError):
        log.warning("The choices about plugins cannot be read; all are disabled")
        if path.exists():
            set_aside(path)
        return {}
