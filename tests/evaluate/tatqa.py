"""Measures how often bold figures are right, on questions of TAT-QA that its tables alone answer.

TAT-QA (github.com/NExTplusplus/TAT-QA, MIT) is not part of this repository. Give the path of its
dev set; its test set is never used. 300 questions are drawn with a fixed seed: the first half to
tune the rules on, the second half only to measure.

    python -m tests.evaluate.tatqa --data dev.json --part tune --show wrong

The model says nothing here, so that only what the code prints counts. With --url, a running Moat
answers over HTTP with its own model, and what the model says counts for the exact match too. With
--oracle, a model plans that knows every answer: what it misses is what the code prevents.
"""

import argparse
import asyncio
import json
import random
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.asking.ask import Means
from server.dashboard.run import converse
from server.events import ClientToolCall, Finished, TextDelta
from server.protocols.openbb.query import read_query
from tests.conformance.openbb.client import Options
from tests.conformance.openbb.material import fetched, human, item, items, request, widget
from tests.conformance.openbb.player import Player, text_of
from tests.evaluate.tatqa_oracle import SCALES, YEAR, Question, TableOracle
from tests.kit.engines import ScriptedEngine, passes_trial

SEED, COUNT = 27, 300
BOLD = re.compile(r"\*\*(.+?)\*\*", re.DOTALL)
NUMBER = re.compile(r"\(?-?[$€£¥]?\s?\d[\d,]*(?:\.\d+)?\)?%?")
FORMS = ("records", "grid", "first row")
Json = dict[str, Any]
Grid = list[list[str]]


@dataclass
class Score:
    asked: int = 0
    spoken: int = 0
    right: int = 0
    exact: int = 0
    shown: list[str] = field(default_factory=list)


def draw(path: Path, part: str) -> list[Question]:
    """Returns the questions that the table alone answers, in an order that depends on the seed."""
    found = [
        _question(asked, grid)
        for page in json.loads(path.read_text("utf-8"))
        for grid in [page["table"]["table"]]
        for asked in page["questions"]
        if asked["answer_from"] == "table"
    ]
    drawn = random.Random(SEED).sample(found, COUNT)
    half = COUNT // 2
    return {"tune": drawn[:half], "measured": drawn[half:], "all": drawn}[part]


def _question(asked: Json, grid: Grid) -> Question:
    answer = asked["answer"]
    answers = tuple(map(str, answer if isinstance(answer, list) else [answer]))
    derivation = asked.get("derivation", "")
    kind = asked["answer_type"]
    return Question(asked["question"], kind, answers, asked["scale"], grid, derivation)


def rows_of(grid: Grid, form: str) -> Any:
    """Returns the table as a widget sends it: as objects, as it is, or below its first row."""
    if form == "grid":
        return grid
    count = _header_rows(grid) if form == "records" else 1
    names = _names(grid[:count]) if form == "records" else grid[0]
    unique: list[str] = []
    for name in names:
        unique.append(name if name not in unique else f"{name} {len(unique)}")
    return [dict(zip(unique, row, strict=True)) for row in grid[count:]]


def _header_rows(grid: Grid) -> int:
    """Returns the number of rows before the first that has a name and an amount."""
    for count, row in enumerate(grid):
        amounts = [cell for cell in row[1:] if NUMBER.search(YEAR.sub("", cell))]
        dates = [cell for cell in amounts if re.search(r"[A-Za-z]{3}", cell)]
        if row[0].strip() and amounts and not dates:
            return max(count, 1)
    return 1


def _names(header: Grid) -> list[str]:
    """Returns the names of columns. A cell alone in its row heads all columns, others up to the
    next."""
    parts: list[list[str]] = [[] for _ in header[0]]
    for row in header:
        cells = [cell.strip() for cell in row[1:]]
        filled = [cell for cell in cells if cell]
        if len(filled) == 1 and len(cells) > 1:
            cells = filled * len(cells)
        last = ""
        for place, cell in enumerate(cells, 1):
            last = cell or last
            parts[place] += [last] if last else []
        parts[0] += [row[0].strip()] if row[0].strip() else []
    return [" ".join(part) or ("Item" if not place else "") for place, part in enumerate(parts)]


async def answer(question: Question, form: str, *, by_oracle: bool = False) -> str:
    """Returns Moat's answer if the table is a widget's data, by a silent model or the oracle."""
    shown = widget("table", "Table", "")
    data = [items(item(json.dumps(rows_of(question.table, form))))]
    body = request(human(question.text), *fetched(data, shown), primary=[shown])
    silent = ScriptedEngine(*([Finished("stop")] for _ in range(9)))
    means = Means(TableOracle(question), can_plan=passes_trial) if by_oracle else Means(silent)
    said = ""
    async for event in converse(read_query(body, legacy=False), means):
        if isinstance(event, TextDelta):
            said += event.text
        assert not isinstance(event, ClientToolCall), "it asks for data that it has"
    return said


def answer_over_http(player: Player, question: Question, form: str) -> str:
    shown = widget("table", "Table", "")
    data = [items(item(json.dumps(rows_of(question.table, form))))]
    _, events = player.drive(request(human(question.text), primary=[shown]), lambda _call: data)
    return text_of(events)


def is_right(figure: str, question: Question) -> bool:
    """Whether the figure is right. Its value comes after the last colon, names and years
    anywhere."""
    value = figure.rpartition(": ")[2]
    if question.kind == "arithmetic":
        return ";" not in value and _is_first(value, question.answers[0])
    return all(_is_held(figure, value, wanted) for wanted in question.answers if wanted.strip())


def _is_first(value: str, wanted: str) -> bool:
    numbers = _numbers(value)
    return bool(numbers) and _is_same(numbers[0], wanted)


def _is_held(figure: str, value: str, wanted: str) -> bool:
    if _plain(wanted) and _plain(wanted) in _plain(figure):
        return True
    return any(_is_same(number, wanted) for number in _numbers(value))


def _is_same(number: float, wanted: str) -> bool:
    """Whether the numbers are equal, to as many decimals as the answer has."""
    found = _numbers(wanted)
    if len(found) != 1:
        return False
    decimals = len(wanted.strip("%) ").partition(".")[2])
    return bool(abs(number - found[0]) <= 0.5000001 * 10**-decimals)


def _numbers(text: str) -> list[float]:
    found = []
    for match in NUMBER.finditer(text):
        digits = re.sub(r"[^\d.]", "", match[0])
        is_negative = "-" in match[0] or (match[0][0] == "(" and match[0][-1] == ")")
        found.append(-float(digits) if is_negative else float(digits))
    return found


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def is_exact(said: str, question: Question) -> bool:
    """Whether the answer is right and has its scale."""
    figure = next(iter(BOLD.findall(said)), said)
    if question.scale == "percent" and "%" not in figure and "percent" not in figure:
        return False
    if question.scale in SCALES and question.scale not in figure:
        return False
    return is_right(figure, question)


def measure(said: Iterable[tuple[Question, str]]) -> dict[str, Score]:
    scores: dict[str, Score] = {}
    for question, text in said:
        figures = BOLD.findall(text)
        right = bool(figures) and all(is_right(figure, question) for figure in figures)
        for kind in (question.kind, "all"):
            score = scores.setdefault(kind, Score())
            score.asked += 1
            score.spoken += bool(figures)
            score.right += right
            score.exact += is_exact(text, question)
            state = "right" if right else "wrong" if figures else "silent"
            wanted = f"{', '.join(question.answers)} {question.scale}"
            score.shown.append(f"{state} | {question.text} | {wanted} | {' '.join(figures)}")
    return scores


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def report(scores: dict[str, Score], shown: str) -> None:
    say(f"{'answer':12} {'asked':>6} {'spoken':>7} {'right':>6} {'wrong':>6} {'exact match':>12}")
    for kind, score in sorted(scores.items()):
        wrong, share = score.spoken - score.right, score.spoken / score.asked
        exact = f"{score.exact / score.asked:.1%}"
        row = f"{score.asked:6} {share:7.1%} {score.right:6} {wrong:6} {exact:>12}"
        say(f"{kind:12} {row}")
    for line in scores["all"].shown if shown else ():
        if shown == "all" or line.startswith(shown):
            say(line)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--part", choices=("tune", "measured", "all"), default="all")
    parser.add_argument("--form", choices=FORMS, default="records")
    parser.add_argument("--show", choices=("right", "wrong", "silent", "all"), default="")
    parser.add_argument("--url", default="", help="a running Moat instead of a silent model")
    parser.add_argument("--oracle", action="store_true", help="a model that is never wrong")
    parser.add_argument("--at-once", type=int, default=1, help="questions to it")
    given = parser.parse_args()
    questions = draw(given.data, given.part)
    if given.url:
        options = Options(given.url, "https://pro.openbb.co", {}, 600.0, 8, 1, allow_no_call=True)
        player = Player(options)
        with ThreadPoolExecutor(given.at_once) as asking:
            said = list(
                asking.map(lambda one: answer_over_http(player, one, given.form), questions)
            )
    else:
        said = [asyncio.run(answer(one, given.form, by_oracle=given.oracle)) for one in questions]
    report(measure(zip(questions, said, strict=True)), given.show)
    return 0


if __name__ == "__main__":
    sys.exit(main())
