"""What was found in a file of a person's, and where: every value knows its line and column."""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["error", "warning"]
Key = str | int
At = tuple[int, int]
"""A line and a column, counted from one."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    file: str
    line: int
    column: int
    level: Level
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" [{self.hint}]" if self.hint else ""
        place = f"{self.file}:{self.line}:{self.column}"
        return f"{place} {self.level} {self.code} {self.message}{hint}"


GROUPED = 3
MOST_EXAMPLES = 3


def summarised(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Errors first, each in full; then warnings, of which many of one kind are one line."""
    listed = sorted(findings)
    lines = [str(one) for one in listed if one.level == "error"]
    kinds: dict[str, list[Finding]] = {}
    for one in listed:
        if one.level != "error":
            kinds.setdefault(one.code, []).append(one)
    for alike in kinds.values():
        if len(alike) < GROUPED:
            lines += map(str, alike)
        else:
            lines.append(_grouped(alike))
    return tuple(lines)


def _grouped(alike: list[Finding]) -> str:
    first, *others = alike
    places = [f"{one.file}:{one.line}:{one.column}" for one in others[:MOST_EXAMPLES]]
    more = ", \u2026" if len(others) > MOST_EXAMPLES else ""
    return f"{first} (and {len(others)} more {first.code}: {', '.join(places)}{more})"


class Map(dict[str, Any]):
    """A mapping that knows where it, its keys and its values stand."""

    __slots__ = ("keys_at", "start", "values_at")

    def __init__(self, start: At) -> None:
        super().__init__()
        self.start = start
        self.keys_at: dict[str, At] = {}
        self.values_at: dict[str, At] = {}


class Seq(list[Any]):
    __slots__ = ("start", "values_at")

    def __init__(self, start: At) -> None:
        super().__init__()
        self.start = start
        self.values_at: list[At] = []


@dataclass(slots=True)
class Findings:
    """All that was found in one file."""

    file: str
    found: list[Finding] = field(default_factory=list)
    _known: set[Finding] = field(default_factory=set)

    def add(self, level: Level, at: At, code: str, message: str, hint: str = "") -> None:
        finding = Finding(self.file, *at, level, code, message, hint)
        if finding not in self._known:
            self._known.add(finding)
            self.found.append(finding)

    def error(self, at: At, code: str, message: str, hint: str = "") -> None:
        self.add("error", at, code, message, hint)

    def warn(self, at: At, code: str, message: str, hint: str = "") -> None:
        self.add("warning", at, code, message, hint)


def start_of(item: Any) -> At:
    return item.start if isinstance(item, Map | Seq) else (1, 1)


def value_at(parent: Any, key: Key) -> At:
    """Where a value stands; the parent's place when it is missing."""
    if isinstance(parent, Map) and isinstance(key, str):
        return parent.values_at.get(key, parent.start)
    if isinstance(parent, Seq) and isinstance(key, int) and key < len(parent.values_at):
        return parent.values_at[key]
    return start_of(parent)


def key_at(parent: Any, key: str) -> At:
    if isinstance(parent, Map):
        return parent.keys_at.get(key, parent.start)
    return start_of(parent)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint that names what was probably meant, or nothing."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if not close:
        lowered = {one.lower(): one for one in names}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"Did you mean '{close[0]}'?" if close else ""
