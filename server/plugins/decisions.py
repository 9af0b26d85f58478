"""What a person decided about each plugin: enabled, reviewed, where its API is, its options."""

import json
import logging
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from server.system.files import set_aside, write_atomically

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Decided:
    enabled: bool = False
    reviewed: str = ""
    """What it could reach when it was enabled; something else must be looked at again."""
    files: dict[str, str] = field(default_factory=dict)
    """The sum of each of its files then, to tell what has changed since."""
    server: str = ""
    options: dict[str, str] = field(default_factory=dict)
    changing_methods: bool = False
    more: dict[str, Any] = field(default_factory=dict)
    """What a newer version wrote beside it."""


KINDS = {name: type(value) for name, value in asdict(Decided()).items() if name != "more"}


class Kept:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._decided, self._odd = _read(path)

    def get(self, key: str) -> Decided:
        return self._decided.get(key, Decided())

    def set(self, key: str, decided: Decided) -> None:
        self._decided[key] = decided
        self._odd.pop(key, None)
        self._save()

    def forget(self, key: str) -> None:
        self._decided.pop(key, None)
        self._odd.pop(key, None)
        self._save()

    def _save(self) -> None:
        told = {key: _told(one) for key, one in self._decided.items()}
        text = json.dumps({**self._odd, **told}, indent=1)
        try:
            write_atomically(self._path, text)
        except OSError as error:
            log.warning("The choices about plugins could not be saved: %s", error.strerror)


def _told(decided: Decided) -> dict[str, Any]:
    told = asdict(decided)
    more = told.pop("more")
    return {**more, **told}


def _decided(told: dict[str, Any]) -> Decided:
    known = {name: told[name] for name in told if name in KINDS}
    if any(type(value) is not KINDS[name] for name, value in known.items()):
        raise TypeError("another version's form")
    return Decided(**known, more={name: told[name] for name in told if name not in KINDS})


def _read(path: Path) -> tuple[dict[str, Decided], dict[str, Any]]:
    """What was decided, and what another version wrote in a form of its own, which stays."""
    decided: dict[str, Decided] = {}
    odd: dict[str, Any] = {}
    try:
        for key, one in json.loads(path.read_text("utf-8")).items():
            try:
                decided[key] = _decided(one)
            except TypeError:
                odd[key] = one
    except FileNotFoundError:
        pass
    except (OSError, ValueError, AttributeError):
        log.warning("The choices about plugins cannot be read; all are disabled")
        if path.exists():
            set_aside(path)
    return decided, odd
