"""What a person decided about each plugin: enabled, reviewed, where its API is, its options."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from server.system.files import JsonFile


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
        self._file = JsonFile(path, "The choices about plugins", is_precious=True)
        self._decided, self._odd = _sort(self._file.read())

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
        self._file.write({**self._odd, **told})


def _told(decided: Decided) -> dict[str, Any]:
    told = asdict(decided)
    more = told.pop("more")
    return {**more, **told}


def _decided(told: dict[str, Any]) -> Decided:
    known = {name: told[name] for name in told if name in KINDS}
    if any(type(value) is not KINDS[name] for name, value in known.items()):
        raise TypeError("another version's form")
    return Decided(**known, more={name: told[name] for name in told if name not in KINDS})


def _sort(entries: dict[str, Any]) -> tuple[dict[str, Decided], dict[str, Any]]:
    """What was decided, and what another version wrote in a form of its own, which stays."""
    decided: dict[str, Decided] = {}
    odd: dict[str, Any] = {}
    for key, entry in entries.items():
        try:
            decided[key] = _decided(entry)
        except TypeError:
            odd[key] = entry
    return decided, odd
