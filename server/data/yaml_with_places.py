"""Reads YAML and JSON with the line and column of every value, so that findings can name them."""

import difflib
import gc
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

import yaml

Level = Literal["error", "warning"]
Key = str | int
At = tuple[int, int]
"""A line and a column, both counted from 1."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A problem in a file, at a place. `code` names its kind; `hint` says how to mend it."""

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


def summarise(findings: Iterable[Finding]) -> tuple[str, ...]:
    """Returns a line for each error, then the warnings. Many warnings of one kind share a line."""
    listed = sorted(findings)
    lines = [str(finding) for finding in listed if finding.level == "error"]
    kinds: dict[str, list[Finding]] = {}
    for finding in listed:
        if finding.level != "error":
            kinds.setdefault(finding.code, []).append(finding)
    for alike in kinds.values():
        if len(alike) < GROUPED:
            lines += map(str, alike)
        else:
            lines.append(_join_alike(alike))
    return tuple(lines)


def _join_alike(alike: list[Finding]) -> str:
    first, *others = alike
    places = [
        f"{finding.file}:{finding.line}:{finding.column}" for finding in others[:MOST_EXAMPLES]
    ]
    more = ", \u2026" if len(others) > MOST_EXAMPLES else ""
    return f"{first} (and {len(others)} more {first.code}: {', '.join(places)}{more})"


class Map(dict[str, Any]):
    """A mapping that knows the places of itself, its keys and its values."""

    __slots__ = ("keys_at", "start", "values_at")

    def __init__(self, start: At) -> None:
        super().__init__()
        self.start = start
        self.keys_at: dict[str, At] = {}
        self.values_at: dict[str, At] = {}


class Seq(list[Any]):
    """A list that knows the places of itself and its values."""

    __slots__ = ("start", "values_at")

    def __init__(self, start: At) -> None:
        super().__init__()
        self.start = start
        self.values_at: list[At] = []


@dataclass(slots=True)
class Findings:
    """Collects the findings in one file, each only once."""

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
    """Returns the place of a value, or of its parent if the value is missing."""
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
    """Returns "Did you mean '…'?" with the most similar known name, or "" if none is similar."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1, 0.6)
    if not close:
        lowered = {name.lower(): name for name in names}
        close = [lowered[name.lower()]] if name.lower() in lowered else []
    return f"Did you mean '{close[0]}'?" if close else ""


MAX_BYTES = 5 * 1024 * 1024
MAX_DEPTH = 100
DEEPEST = 500
"""The most levels of brackets or indentation that are handed to the parser, which recurses."""
LONGEST_NUMBER = 400
"""A scalar with more characters stays a text."""
MAX_NODES = 2_000_000
"""The most values in a file. Each use of an alias counts again."""

_PARSER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False}
_BOOLEANS["FALSE"] = False
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_ONLY_1_2 = re.compile(r"0o[0-7]+|[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
_TEXT_TAG = "tag:yaml.org,2002:str"
_BRACKETS = re.compile(r"[\[\]{}]")
_LONG_START = re.compile(rf"^[ ?:-]{{{DEEPEST}}}", re.MULTILINE)
_PAIRED = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_UNPAIRED = re.compile(r"(?<!\\)\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_ODD_CHARACTERS = re.compile("[\x7f-\x84\x86-\x9f\ufffe\uffff]")
_CODES = (("undefined alias", "alias"), ("single document", "documents"))
_ODD_FLOATS = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
_HINTS = (
    (
        "unknown escape character",
        "Write the text in single quotes: they keep a backslash as it is.",
    ),
    ("cannot start any token", "Use spaces instead of tabs, and quotes around such a character."),
    ("mapping values are not allowed", "Put the text in quotes: it contains a colon."),
    ("could not find expected ':'", "Each line of a mapping needs 'name: value'."),
)


def read_file(path: Path, shown: str, findings: Findings, max_bytes: int = MAX_BYTES) -> Any:
    """Reads a file into `Map`, `Seq` and plain values. On failure adds an error and returns
    None."""
    try:
        if path.stat().st_size > max_bytes:
            size = max_bytes // (1024 * 1024)
            findings.error((1, 1), "too-large", f"{shown} is larger than {size} MB.")
            return None
        raw = path.read_bytes()
    except OSError as error:
        findings.error((1, 1), "unreadable", f"{shown} cannot be read: {error.strerror}.")
        return None
    return read(raw, findings, is_json=path.suffix.lower() == ".json")


def read(raw: bytes, findings: Findings, *, is_json: bool = False) -> Any:
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        findings.error((line, 1), "encoding", "The file is not UTF-8 text.")
        return None
    if is_json:
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            at = (error.lineno, error.colno)
            findings.error(at, "syntax", f"This is not JSON: {error.msg}.")
            return None
        except RecursionError:
            findings.error((1, 1), "too-deep", f"Nested deeper than {MAX_DEPTH} levels.")
            return None
        text = _as_yaml(text)
    return _build(text, findings)


def _as_yaml(text: str) -> str:
    """Rewrites what JSON allows and YAML refuses: surrogate pairs as escapes, odd characters."""

    def join(match: re.Match[str]) -> str:
        return json.loads(f'"{match[0]}"')  # type: ignore[no-any-return]

    text = _PAIRED.sub(join, text)
    text = _UNPAIRED.sub(r"\\ufffd", text)
    return _ODD_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class _Stop(Exception):
    """Ends the reading of a file after an error that makes the rest useless."""


class _Builder:
    """Builds values from the parser's nodes. Aliases share their values, but each use counts."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._done: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()

    def build(self, node: Any) -> tuple[Any, int]:
        """Returns the node's value, and the number of values in it."""
        if isinstance(node, yaml.ScalarNode):
            return _resolve(node), 1
        known = self._done.get(id(node))
        if known is not None:
            return known
        at = _place(node.start_mark)
        if id(node) in self._open:
            self._stop(at, "alias", "An alias here contains itself.")
        if len(self._open) >= MAX_DEPTH:
            self._stop(at, "too-deep", f"Nested deeper than {MAX_DEPTH} levels.")
        self._open.add(id(node))
        made = self._map(node) if isinstance(node, yaml.MappingNode) else self._seq(node)
        self._open.discard(id(node))
        if made[1] > MAX_NODES:
            self._stop(at, "too-large", f"More than {MAX_NODES} values, aliases counted.")
        self._done[id(node)] = made
        return made

    def _seq(self, node: Any) -> tuple[Seq, int]:
        made, size = Seq(_place(node.start_mark)), 1
        for part in node.value:
            value, more = self.build(part)
            made.append(value)
            made.values_at.append(_place(part.start_mark))
            size += more
        return made, size

    def _map(self, node: Any) -> tuple[Map, int]:
        made, size = Map(_place(node.start_mark)), 1
        merged: list[Map] = []
        for key_node, part in node.value:
            key_place = _place(key_node.start_mark)
            if not isinstance(key_node, yaml.ScalarNode):
                self._stop(key_place, "key", "A key must be plain text.")
            key = key_node.value
            value, more = self.build(part)
            size += more
            if key == "<<" and (isinstance(value, Map) or _are_maps(value)):
                merged.extend([value] if isinstance(value, Map) else value)
                continue
            if key in made:
                message = f"'{key}' is already given in line {made.keys_at[key][0]}."
                self._findings.error(key_place, "duplicate-key", message)
            _put(made, key, value, key_place, _place(part.start_mark))
        for other in merged:
            for key in other.keys() - made.keys():
                _put(made, key, other[key], other.keys_at[key], other.values_at[key])
        return made, size

    def _stop(self, at: At, code: str, message: str) -> NoReturn:
        self._findings.error(at, code, message)
        raise _Stop


def _build(text: str, findings: Findings) -> Any:
    if _may_be_too_deep(text):
        findings.error((1, 1), "too-deep", f"Nested deeper than {MAX_DEPTH} levels.")
        return None
    try:
        with _no_garbage_collection():
            node = yaml.compose(text, Loader=_PARSER)
            return _Builder(findings).build(node)[0] if node is not None else None
    except _Stop:
        return None
    except yaml.MarkedYAMLError as error:
        problem = error.problem or "unreadable"
        hint = next((hint for start, hint in _HINTS if start in problem), "")
        mark = error.problem_mark or error.context_mark
        at = _escape(text, _place(mark), problem) if mark else (1, 1)
        code = next((code for start, code in _CODES if start in str(error)), "syntax")
        findings.error(at, code, f"This is not YAML: {problem}.", hint)
        return None
    except yaml.YAMLError as error:
        findings.error((1, 1), "syntax", f"This is not YAML: {str(error).splitlines()[0]}.")
        return None


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Pauses garbage collection, which would take most of the time and find no garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _may_be_too_deep(text: str) -> bool:
    """Whether the text may be nested deeper than `DEEPEST`. The parser calls itself for each level,
    so a deep file would crash the process."""
    level = deepest = 0
    for mark in _BRACKETS.findall(text):
        level = level + 1 if mark in "[{" else max(level - 1, 0)
        deepest = max(deepest, level)
    return deepest > DEEPEST or _LONG_START.search(text) is not None


def _escape(text: str, at: At, problem: str) -> At:
    """Returns the place of the bad escape: some parsers point at its backslash or its string."""
    if "unknown escape" not in problem:
        return at
    line = text.splitlines()[at[0] - 1]
    found = re.search(r"\\[^0abt\tnvfre \"/\\N_LPxuU]", line[max(at[1] - 2, 0) :])
    return (at[0], max(at[1] - 2, 0) + found.start() + 2) if found else at


def _place(mark: Any) -> At:
    return mark.line + 1, mark.column + 1


def _put(item: Any, key: str, value: Any, key_at: At, at: At) -> None:
    item[key] = value
    item.keys_at[key] = key_at
    item.values_at[key] = at


def _are_maps(item: Any) -> bool:
    return isinstance(item, Seq) and all(isinstance(part, Map) for part in item)


def _resolve(node: Any) -> Any:
    """Reads a plain scalar by YAML 1.2: 'NO' is not false, '12:30' is not a number."""
    text: str = node.value
    is_plain = not node.style and (node.tag != _TEXT_TAG or _ONLY_1_2.fullmatch(text))
    if not is_plain or len(text) > LONGEST_NUMBER:
        return text
    if text in _NULLS:
        return None
    return _BOOLEANS[text] if text in _BOOLEANS else _number(text)


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    odd = _ODD_FLOATS.get(text.lower())
    return float(odd) if odd else text
