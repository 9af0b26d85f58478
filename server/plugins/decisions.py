"""A person's decisions about each plugin: enabled, reviewed, its API's address, its options."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from server.system.files import JsonFile


@dataclass(frozen=True, slots=True)
class Decided:
    enabled: bool = False
    reviewed: str = ""
    """What it could reach when it was enabled. A change needs a new review."""
    files: dict[str, str] = field(default_factory=dict)
    """The checksum of each of its files then, to find changes."""
    server: str = ""
    options: dict[str, str] = field(default_factory=dict)
    changing_methods: bool = False
    more: dict[str, Any] = field(default_factory=dict)
    """Fields that a newer version wrote."""


KINDS = {name: type(value) for name, value in asdict(Decided()).items() if name != "more"}


class Decisions:
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
        saved = {key: _write(decided) for key, decided in self._decided.items()}
        self._file.write({**self._odd, **saved})


def _write(decided: Decided) -> dict[str, Any]:
    fields = asdict(decided)
    more = fields.pop("more")
    return {**more, **fields}


def _read(fields: dict[str, Any]) -> Decided:
    known = {name: fields[name] for name in fields if name in KINDS}
    if any(type(value) is not KINDS[name] for name, value in known.items()):
        raise TypeError("the entry has the form of another version")
    return Decided(**known, more={name: fields[name] for name in fields if name not in KINDS})


def _sort(entries: dict[str, Any]) -> tuple[dict[str, Decided], dict[str, Any]]:
    """Returns the decisions, and the entries in another version's form, which are kept."""
    decided: dict[str, Decided] = {}
    odd: dict[str, Any] = {}
    for key, entry in entries.items():
        try:
            decided[key] = _read(entry)
        except TypeError:
            odd[key] = entry
    return decided, odd
