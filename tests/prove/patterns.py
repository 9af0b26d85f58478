"""Times every regular expression of the product on texts that are made to be slow for it.

A pattern that is applied to text from outside must take time in proportion to that text: a
quadratic one freezes the server with a request of some hundred kilobytes.
"""

import ast
import importlib
import itertools
import multiprocessing
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from tests.kit.programs import read_arguments
from tests.prove.rows import Figure, Row
from tests.prove.stage import ROOT, Stage

PACKAGES = ("server", "app")
SIZE, FIRST_SIZE, MIDDLE_SIZE = 200_000, 20_000, 60_000
FIRST_S = 0.0025
"""In seconds. A text that takes less at the first size stays below the limit at the full size,
even if the time is quadratic."""
MIDDLE_GROWTH = 3.6
"""Three times the text takes a linear pattern three times as long. A pattern that grows by more
than MOST_GROWTH up to the full size grows by more than 4.3 here."""
LIMIT_S, GIVEN_UP_S = 0.25, 2.0
"""Seconds of processor time. A linear pattern takes some milliseconds for 200 kB."""
MOST_GROWTH = 30
"""Ten times the text takes a linear pattern ten times as long, a quadratic one a hundred times."""
SAMPLES, MOST_TEXTS, FEWEST = 4, 150, 100
"""SAMPLES texts are made for each part of a pattern, and at most about MOST_TEXTS are tried.
FEWEST is how many patterns must be found."""
ANCHORED = {"match", "fullmatch"}
CATEGORIES = {
    "DIGIT": (r"\d", "1"),
    "WORD": (r"\w", "a"),
    "SPACE": (r"\s", " "),
    "NOT_DIGIT": (r"\D", "a"),
    "NOT_WORD": (r"\W", "-"),
    "NOT_SPACE": (r"\S", "a"),
}
"""A character class as it is written, with one of its characters."""
METHODS = ANCHORED | {"search", "sub", "subn", "split", "findall", "finditer"}
parser = re._parser  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, its place in the code, and whether it is only tried at one place of a text."""

    place: str
    pattern: str
    flags: int
    anchored: bool

    @property
    def timed(self) -> tuple[str, int, bool]:
        """The values on which the time depends."""
        return self.pattern, self.flags, self.anchored


@dataclass(frozen=True, slots=True)
class Slow:
    used: Used
    text: str
    took_s: float
    growth: float = 0.0

    @property
    def is_superlinear(self) -> bool:
        if self.took_s >= GIVEN_UP_S:
            return True
        return self.took_s > LIMIT_S and self.growth > MOST_GROWTH


def collect() -> list[Used]:
    """Returns the patterns that the product's modules compile, and those in calls of `re`."""
    return sorted({*_compiled(), *_inline()}, key=lambda used: (used.place, used.pattern))


def _compiled() -> Iterator[Used]:
    methods = _methods_by_name()
    for package in PACKAGES:
        for module in _modules(package):
            for name, pattern in _patterns_of(module):
                used = methods.get(name, set())
                anchored = bool(used) and used <= ANCHORED
                place = f"{module.__name__}.{name}"
                yield Used(place, str(pattern.pattern), pattern.flags, anchored)


def _modules(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _patterns_of(module: ModuleType) -> Iterator[tuple[str, "re.Pattern[str]"]]:
    for name, value in vars(module).items():
        for pattern in _inside(value, depth=4):
            if isinstance(pattern.pattern, str):
                yield name, pattern


def _inside(value: Any, depth: int) -> Iterator["re.Pattern[str]"]:
    """Yields the patterns in a value, whatever holds them: a dict, a list, a class, a record."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from (p for one in (*value, *value.values()) for p in _inside(one, depth - 1))
    elif depth and isinstance(value, list | tuple | set | frozenset):
        yield from (p for one in value for p in _inside(one, depth - 1))
    elif depth and not isinstance(value, ModuleType) and _is_ours(value):
        names = {*getattr(value, "__dict__", ()), *getattr(value, "__slots__", ())}
        held = (getattr(value, name, None) for name in names if isinstance(name, str))
        yield from (p for one in held for p in _inside(one, depth - 1))


def _is_ours(value: Any) -> bool:
    home = value.__module__ if isinstance(value, type) else type(value).__module__
    return str(home).split(".")[0] in PACKAGES


@cache
def _sources() -> dict[Path, ast.Module]:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path: ast.parse(path.read_text("utf-8")) for path in files}


@cache
def _methods_by_name() -> dict[str, set[str]]:
    """Returns the methods that are called on each name, such as SEARCHED.finditer(…)."""
    found: dict[str, set[str]] = {}
    for node in itertools.chain.from_iterable(map(ast.walk, _sources().values())):
        match node:
            case ast.Attribute(ast.Name(name), method) | ast.Attribute(
                ast.Attribute(attr=name), method
            ) if method in METHODS:
                found.setdefault(name, set()).add(method)
            case ast.Name(name, ast.Load()):
                found.setdefault(name, set())
    return found


def _inline() -> Iterator[Used]:
    for path, tree in _sources().items():
        for node in ast.walk(tree):
            match node:
                case ast.Call(ast.Attribute(ast.Name("re"), method), [first, *_], words) if (
                    method in METHODS
                ):
                    text = _text(first)
                    if text is not None:
                        place = f"{path.relative_to(ROOT)}:{node.lineno}"
                        yield Used(place, text, _flags(node, words), method in ANCHORED)


def _text(node: ast.expr) -> str | None:
    """Returns a literal pattern. A placeholder in an f-string counts as a word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "word" for part in node.values)
        return "".join(map(str, parts))
    return None


def _flags(call: ast.Call, words: list[ast.keyword]) -> int:
    named = [word.value for word in words if word.arg == "flags"] + call.args[2:]
    flags = 0
    for node in itertools.chain.from_iterable(map(ast.walk, named)):
        if isinstance(node, ast.Attribute) and hasattr(re, node.attr):
            flags |= int(getattr(re, node.attr))
    return flags


def attacks(pattern: str, flags: int) -> list[tuple[str, str]]:
    """Returns beginnings with repeated texts: there the pattern begins often, but never ends."""
    made: dict[tuple[str, str], None] = {}
    for sample in _beginnings(list(parser.parse(pattern, flags & ~re.DEBUG))):
        repeated = (sample, sample[-1:], sample + " ", sample + "x", sample + "\n")
        made.update(dict.fromkeys([("", text) for text in repeated if text]))
        if sample[:-1]:
            made[sample, sample[-1:]] = None
    every = max(1, len(made) // MOST_TEXTS)
    return list(made)[::every]


def _beginnings(nodes: list[Any]) -> Iterator[str]:
    """Yields samples of the first part, of the first two parts, and so on; and of nested parts."""
    for end in range(1, len(nodes) + 1):
        yield from itertools.islice(_samples(nodes[:end]), SAMPLES)
    for start in range(1, len(nodes)):
        yield from itertools.islice(_samples(nodes[start : start + 1]), SAMPLES)
    for node in nodes:
        for inner in _children(node):
            yield from _beginnings(inner)


def _children(node: Any) -> Iterator[list[Any]]:
    kind, value = str(node[0]), node[1]
    if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        yield list(value[2])
    elif kind == "SUBPATTERN":
        yield list(value[3])
    elif kind == "BRANCH":
        yield from map(list, value[1])
    elif kind in {"ASSERT", "ASSERT_NOT"}:
        yield list(value[1])
    elif kind == "ATOMIC_GROUP":
        yield list(value)


def _samples(nodes: list[Any]) -> Iterator[str]:
    """Yields texts that match this sequence of parts."""
    each = [list(itertools.islice(_of_one(node), SAMPLES)) or [""] for node in nodes]
    return map("".join, itertools.islice(itertools.product(*each), SAMPLES * 4))


def _of_one(node: Any) -> Iterator[str]:
    kind, value = str(node[0]), node[1]
    if kind == "LITERAL":
        yield chr(value)
    elif kind == "NOT_LITERAL":
        yield "a" if value != ord("a") else "b"
    elif kind == "ANY":
        yield "a"
    elif kind == "IN":
        yield from _of_set(value)
    elif kind == "BRANCH":
        for branch in value[1]:
            yield from itertools.islice(_samples(list(branch)), 2)
    elif kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        least, _most, inner = value
        yield from (made * max(least, 1) for made in _samples(list(inner)))
    elif kind == "SUBPATTERN":
        yield from _samples(list(value[3]))
    elif kind == "ATOMIC_GROUP":
        yield from _samples(list(value))
    else:
        yield ""


def _of_set(members: list[Any]) -> Iterator[str]:
    if str(members[0][0]) == "NEGATE":
        barred = re.compile("".join(["[", _written(members[1:]), "]"]))
        yield from (sign for sign in " a1-,\n\"'(" if not barred.match(sign))
        return
    for kind, value in members:
        if str(kind) == "LITERAL":
            yield chr(value)
        elif str(kind) == "RANGE":
            yield chr(value[0])
        elif str(kind) == "CATEGORY":
            yield CATEGORIES[str(value).removeprefix("CATEGORY_")][1]


def _written(members: list[Any]) -> str:
    """Returns the members of a set as a pattern again."""
    parts = []
    for kind, value in members:
        if str(kind) == "LITERAL":
            parts.append(re.escape(chr(value)))
        elif str(kind) == "RANGE":
            parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
        else:
            parts.append(CATEGORIES[str(value).removeprefix("CATEGORY_")][0])
    return "".join(parts)


class TooSlow(Exception):
    pass


def time_one(used: Used) -> Slow:
    """Returns the slowest text for this pattern. A text is given up after two seconds.

    Each text is tried short. Only the slowest text, and those whose time grows faster than their
    length, are tried at the full size.
    """
    pattern = re.compile(used.pattern, used.flags)
    signal.signal(signal.SIGVTALRM, _give_up)
    worst = Slow(used, "", 0.0)
    steady: list[tuple[float, str, str]] = []
    for start, repeated in attacks(used.pattern, used.flags):
        first, middle = (_grow(start, repeated, size) for size in (FIRST_SIZE, MIDDLE_SIZE))
        first_s = _time(pattern, first, anchored=used.anchored)
        if first_s < FIRST_S:
            continue
        # The whole text takes at least so long: Python may not interrupt a search to its end.
        if first_s * SIZE / FIRST_SIZE >= GIVEN_UP_S:
            return Slow(used, first[:60], first_s * SIZE / FIRST_SIZE)
        middle_s = _time(pattern, middle, anchored=used.anchored)
        if middle_s * SIZE / MIDDLE_SIZE >= GIVEN_UP_S:
            return Slow(used, first[:60], middle_s * SIZE / MIDDLE_SIZE)
        if middle_s < MIDDLE_GROWTH * first_s:
            steady.append((middle_s, start, repeated))
            continue
        worst = max(worst, _time_in_full(used, start, repeated, first_s), key=_by_time)
        if worst.is_superlinear:
            return worst
    if steady:
        middle_s, start, repeated = max(steady)
        first_s = middle_s * FIRST_SIZE / MIDDLE_SIZE
        worst = max(worst, _time_in_full(used, start, repeated, first_s), key=_by_time)
    return worst


def _time_in_full(used: Used, start: str, repeated: str, first_s: float) -> Slow:
    text = _grow(start, repeated, SIZE)
    took_s = _time(re.compile(used.pattern, used.flags), text, anchored=used.anchored)
    return Slow(used, text[:60], took_s, took_s / first_s)


def _grow(start: str, repeated: str, size: int) -> str:
    return f"{start}{(repeated * (size // len(repeated) + 1))[:size]}\x00"


def _by_time(slow: Slow) -> float:
    return slow.took_s


def _time(pattern: "re.Pattern[str]", text: str, *, anchored: bool) -> float:
    began = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP_S)
        try:
            if anchored:
                pattern.match(text)
                pattern.fullmatch(text)
            else:
                for _ in pattern.finditer(text):
                    pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)  # The signal may arrive only here.
    except TooSlow:
        return GIVEN_UP_S
    return time.thread_time() - began


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TooSlow


def time_all() -> list[Slow]:
    """Returns all, slowest first. A slow one is timed twice, in case the machine stood still."""
    used = collect()
    places = {one.timed: one for one in used}  # A pattern that others import is timed once.
    # Spawned, not forked: the proof has threads, which a fork would leave behind. And only the main
    # thread of a process can be interrupted by a signal.
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        timed = dict(zip(places, pool.map(time_one, places.values()), strict=True))
        slow = [key for key, found in timed.items() if found.is_superlinear]
        timed |= zip(slow, pool.map(time_one, (places[key] for key in slow)), strict=True)
    every = (replace(timed[one.timed], used=one) for one in used)
    return sorted(every, key=_by_time, reverse=True)


def linear(_stage: Stage) -> Figure:
    timed = time_all()
    slow = [one for one in timed if one.is_superlinear]
    text = f"{len(timed) - len(slow)} of {len(timed)} patterns are linear"
    if slow:
        text += f"; not {', '.join(found.used.place for found in slow[:5])}"
    worst = timed[0]
    text += f"; the slowest ({worst.used.place}) takes {worst.took_s:.2f} s for 200 kB"
    return Figure(text, not slow and len(timed) > FEWEST)


ROWS = (
    Row(
        "S31",
        "No text makes a pattern slow: each is timed on 200 kB of its own beginnings",
        "time grows as the text does",
        linear,
        beside="apart",
    ),
)

if __name__ == "__main__":
    read_arguments(__doc__)
    for found in time_all():
        if found.took_s > LIMIT_S / 4:
            verdict = "SLOW" if found.is_superlinear else "linear"
            sys.stdout.write(
                f"{verdict} {found.took_s:.2f} s {found.used.place} x{found.growth:.0f}\n"
                f"    {found.used.pattern[:120]!r}\n    on {found.text!r}\n"
            )
