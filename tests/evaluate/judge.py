"""Judges whether an answer is right. Reads numbers as people write them in five languages."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.evaluate import wire
from tests.evaluate.dashboards import dashboard
from tests.evaluate.questions import Turn

Json = dict[str, Any]
GAP = "'\u2019\u00a0\u202f "
NUMBER = re.compile(
    rf"(?<![A-Za-z0-9_.])(?<!\d,)(?P<sign>[-\u2212+(]?)(?P<money>[$\u20ac\u00a3\u00a5]?)"
    rf"(?P<digits>\d{{1,3}}(?:[{GAP}]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d[\d.,]*\d|\d)"
)
SCALE = re.compile(
    r"[\s\u00a0\u202f-]{0,2}(mil millones|trillion|billones|billionen|billion|milliarden|milliards?"
    r"|millionen|millions?|millones|million|thousand|tausend|mrd|mio|tn|bn|mn|k|m|b|t"
    r"|万亿|亿|万)(?![A-Za-z])",
    re.IGNORECASE,
)
TONNES = re.compile(r"\s+t")
"""Tonnes: a trillion is joined to its number or has a capital."""
FACTORS = {
    "k": 1e3, "thousand": 1e3, "tausend": 1e3, "万": 1e4, "m": 1e6, "mn": 1e6, "mio": 1e6,
    "million": 1e6, "millions": 1e6, "millionen": 1e6, "millones": 1e6, "亿": 1e8, "b": 1e9,
    "bn": 1e9, "billion": 1e9, "mrd": 1e9, "milliarden": 1e9, "milliard": 1e9, "milliards": 1e9,
    "mil millones": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12, "billones": 1e12,
    "billionen": 1e12, "万亿": 1e12,
}  # fmt: skip
ENGLISH = frozenset({"thousand", "million", "billion", "trillion"})
"""Before these words, a point is a decimal point."""
LETTER = re.compile(r"[A-Za-z_]")
PERCENT = re.compile(r"[\s\u00a0\u202f]?(%|percent|prozent|pour cent|por ciento)", re.IGNORECASE)
UNITS = {"": (1.0,), "percent": (1.0,), "millions": (1.0, 1e6), "billions": (1.0, 1e9),
         "thousands": (1.0, 1e3)}  # fmt: skip
BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
DAY = re.compile(
    r"\d{4}-\d{2}(?:-\d{2})?|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}年(?:\d{1,2}月)?(?:\d{1,2}日)?"
    r"|Q[1-4]|\b(?:19|20)\d\d\b(?![.,]\d|\s?%)|\b\d{1,2}[DWMY]\b"
)
LARGEST_ROUNDING = 0.02
"""The largest share by which a number may be rounded in an answer."""
MOST_DATA = 20_000


@dataclass(frozen=True)
class Number:
    """A number in a text: each possible value, with half a step of its last digit."""

    text: str
    readings: tuple[tuple[float, float], ...]
    is_percent: bool = False


def numbers(text: str) -> list[Number]:
    found = []
    for match in NUMBER.finditer(text):
        scale = SCALE.match(text, match.end())
        if scale and TONNES.fullmatch(scale[0]):
            scale = None
        factor = FACTORS[scale[1].lower()] if scale else 1.0
        end = scale.end() if scale else match.end()
        if LETTER.match(text, end):
            continue  # A name such as 24h or 3M.
        is_percent = PERCENT.match(text, end) is not None
        meant = read(match["digits"])
        if scale and scale[1].lower() in ENGLISH:
            meant = meant[:1]
        readings = tuple((value * factor, step * factor) for value, step in meant)
        found.append(Number(text[match.start() : end].strip(), readings, is_percent))
    return found


def read(digits: str) -> list[tuple[float, float]]:
    """Returns all values of 1,234.5, 1.234,5 or 1 234,5, the English one first, each with half a
    step of its last digit."""
    plain = re.sub(f"[{GAP}]", "", digits).rstrip(".,")
    found = []
    for thousands, decimal in ((",", "."), (".", ",")):
        grouped = rf"\d{{1,3}}(?:\{thousands}\d{{3}})+(?:\{decimal}\d+)?"
        simple = rf"\d+(?:\{decimal}\d+)?"
        if re.fullmatch(f"{grouped}|{simple}", plain):
            text = plain.replace(thousands, "").replace(decimal, ".")
            decimals = len(text.partition(".")[2])
            found.append((float(text), 0.5 * 10.0**-decimals))
    return list(dict.fromkeys(found))


def is_same(number: Number, truth: float, unit: str, tolerance: float) -> bool:
    """Whether the number is the truth, apart from its sign, which words may express: 'fell
    by 3 %'."""
    targets = [abs(truth) * factor for factor in UNITS[unit]]
    if unit == "percent" and not number.is_percent:
        targets.append(abs(truth) / 100)
    return any(
        abs(value - target) <= max(tolerance * target, min(step, LARGEST_ROUNDING * target)) + 1e-12
        for value, step in number.readings
        for target in targets
    )


def is_in(found: Iterable[Number], truth: float, turn: Turn) -> bool:
    return any(is_same(one, truth, turn.unit, turn.tolerance) for one in found)


@dataclass
class Played:
    """What came of a turn, as the client saw it."""

    text: str = ""
    artifacts: list[Json] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    """Each call with its function and input_arguments."""
    reads: list[tuple[str, Json]] = field(default_factory=list)
    """The widgets by key, each with all arguments that the backend used."""
    steps: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    hops: int = 0
    first_step_s: float | None = None
    first_word_s: float | None = None
    seconds: float = 0.0
    problem: str = ""
    model: list[Json] = field(default_factory=list)
    """The requests to the model and its answers."""


@dataclass
class Verdict:
    widget: bool
    parameters: bool
    answer: bool
    bold_right: list[str]
    bold_wrong: list[str]
    junk: int

    def as_json(self) -> Json:
        return dict(self.__dict__)


def judge(turn: Turn, played: Played, earlier: Iterable[tuple[str, Json]] = ()) -> Verdict:
    """Judges a turn. `earlier` is what the turns before have read and need not be read again."""
    reads = [*earlier, *played.reads]
    widget, parameters = _judge_reads(turn, reads)
    if turn.call:
        widget = parameters = _is_called(turn, played)
    wanted = {one.widget for alternative in turn.alternatives for one in alternative}
    junk = sum(key not in wanted for key, _ in played.reads)
    answer = _is_answered(turn, played)
    if not turn.reads and not turn.call:
        answer = answer and not played.reads
        widget = parameters = not played.reads
    right, wrong = judge_bold(turn, played.text, reads)
    return Verdict(widget, parameters, answer, right, wrong, junk)


def _judge_reads(turn: Turn, reads: list[tuple[str, Json]]) -> tuple[bool, bool]:
    keys = {key for key, _ in reads}
    widget = any({one.widget for one in listed} <= keys for listed in turn.alternatives)
    parameters = any(
        all(any(key == one.widget and one.is_met(found) for key, found in reads) for one in listed)
        for listed in turn.alternatives
    )
    return widget, parameters


def _is_called(turn: Turn, played: Played) -> bool:
    wanted = turn.call
    assert wanted is not None
    for call in played.calls:
        given = call["input_arguments"]
        if call["function"] == "execute_agent_tool":
            name, found = given.get("tool_name"), given.get("parameters")
        elif wanted.get("widget"):
            source = (given.get("data_sources") or [{}])[0]
            is_meant = source.get("id") == wanted["widget"]
            name, found = call["function"] if is_meant else "", source.get("input_args")
        else:
            name, found = call["function"], given
        if name == wanted["tool"] and _holds(found or {}, wanted["arguments"]):
            return True
    return False


def _holds(found: Json, wanted: Json) -> bool:
    return all(str(found.get(name)).lower() == str(one).lower() for name, one in wanted.items())


def _is_answered(turn: Turn, played: Played) -> bool:
    if played.problem:
        return False
    if turn.call and not _is_called(turn, played):
        return False
    kinds = {"chart"} if turn.chart else {"table", "chart"} if turn.data.get("table") else set()
    shown = [one for one in played.artifacts if one.get("type") in kinds]
    if kinds and not shown:
        return False
    rows = json.dumps([one.get("content") for one in shown or played.artifacts], ensure_ascii=False)
    text = rows if kinds else f"{played.text}\n{rows}"
    found = numbers(text)
    if not all(is_in(found, truth, turn) for truth in turn.numbers):
        return False
    lowered = text.lower()
    words = all(any(word.lower() in lowered for word in facts) for facts in turn.words)
    return words and bool(played.text.strip() or shown or turn.call)


def judge_bold(
    turn: Turn, text: str, reads: Sequence[tuple[str, Json]] = ()
) -> tuple[list[str], list[str]]:
    """Returns the bold figures of an answer that are true, and those that are not."""
    right: list[str] = []
    wrong: list[str] = []
    for match in BOLD.finditer(text):
        found = list(_figures(turn, match[1]))
        if found:
            (right if _is_true(turn, match[1], found, reads) else wrong).append(match[1])
    return right, wrong


def _figures(turn: Turn, bold: str) -> Iterator[Number]:
    """Yields the numbers of a bold text that are neither dates nor repeated from the question."""
    asked = {value for one in numbers(turn.ask) for value, _ in one.readings}
    for one in numbers(DAY.sub(" ", bold)):
        if not any(value in asked for value, _ in one.readings):
            yield one


def _is_true(turn: Turn, bold: str, found: list[Number], reads: Sequence[tuple[str, Json]]) -> bool:
    """Whether one of the numbers is the answer, and all others are in what was rightly read."""
    expected = [*turn.numbers, *turn.also]
    is_named = any(word.lower() in bold.lower() for facts in turn.words for word in facts)
    hits = [one for one in found if any(is_in([one], truth, turn) for truth in expected)]
    if not hits and not is_named:
        return False
    missed = [truth for truth in turn.numbers if not is_in(hits, truth, turn)]
    if missed and len(hits) > len(turn.numbers) - len(missed):
        return False  # The same figure was given for two of those that are asked about.
    others = [one for one in found if one not in hits]
    return all(_is_in_data(turn, one, reads) for one in others)


def _is_in_data(turn: Turn, number: Number, reads: Sequence[tuple[str, Json]]) -> bool:
    wanted = [one for listed in turn.alternatives for one in listed]
    right = [
        (key, arguments)
        for key, arguments in reads
        if any(key == one.widget and one.is_met(arguments) for one in wanted)
    ]
    return any(
        is_same(number, truth, "", 1e-9)
        for key, arguments in right
        for truth in data_numbers(turn.dashboard, key, json.dumps(arguments))
    )


@cache
def data_numbers(board: str, key: str, arguments: str) -> tuple[float, ...]:
    """Returns every number that the widget shows for these arguments."""
    data = wire.read(dashboard(board).widget(key).source, json.loads(arguments))
    found = (value for one in numbers(json.dumps(data)) for value, _ in one.readings)
    return tuple(dict.fromkeys(found))[:MOST_DATA]
