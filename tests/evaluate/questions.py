"""Loads the questions from the files in `questions`, and computes the truth from the market."""

import hashlib
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.evaluate import dashboards, market
from tests.evaluate.dashboards import Widget

Json = dict[str, Any]
FOLDER = Path(__file__).with_name("questions")
KINDS = ("direct", "paraphrased", "several", "computed", "none")
LANGUAGES = ("en", "de", "fr", "es", "zh")
TOLERANCE = 0.005
SPLIT = 1040
"""The one of some thousand seeds that splits kinds, languages and dashboards most evenly."""
EUR_TO_USD = 1.1234
"""The rate of the currency tool."""
COVERING = ("start_date", "end_date", "limit")
"""For these parameters, a read that brings more than is needed is right as well."""


@dataclass(frozen=True)
class Read:
    """A widget to read, with the parameters that matter."""

    widget: str
    parameters: tuple[tuple[str, str], ...]

    @classmethod
    def parse(cls, text: str) -> "Read":
        widget, *pairs = text.split()
        return cls(widget, tuple((name, value) for name, _, value in map(_pair, pairs)))

    def arguments(self, widget: Widget) -> Json:
        """Returns the parameters as the widget declares them: numbers as numbers, several as a
        list."""
        kinds = {one["name"]: one for one in widget.params}
        return {name: _typed(value, kinds.get(name, {})) for name, value in self.parameters}

    def is_met(self, arguments: Json) -> bool:
        """Whether a read with these arguments, with defaults, brings what is needed."""
        return all(_covers(name, value, arguments.get(name)) for name, value in self.parameters)


def _pair(text: str) -> tuple[str, str, str]:
    return text.partition("=")


def _typed(value: str, declared: Json) -> Any:
    if declared.get("multi_select"):
        return value.split("+")
    options = [one["value"] for one in declared.get("options") or [] if isinstance(one, dict)]
    for option in options:
        if str(option) == value:
            return option
    return int(value) if declared.get("type") == "number" else value


def _covers(name: str, wanted: str, found: Any) -> bool:
    if found is None:
        return name in COVERING
    if name == "start_date":
        return str(found)[:10] <= wanted
    if name == "end_date":
        return str(found)[:10] >= wanted
    if name == "limit":
        return float(found) >= float(wanted)
    given = found if isinstance(found, list) else str(found).split(",")
    said = {str(one).strip().lower() for one in given}
    return {one.lower() for one in wanted.split("+")} <= said


@dataclass(frozen=True)
class Turn:
    """A message of the user, and all that is known about the right answer."""

    id: str
    dashboard: str
    kind: str
    language: str
    ask: str
    earlier: tuple[str, ...]
    """The user's earlier messages in the same conversation."""
    data: Json

    @property
    def reads(self) -> list[Read]:
        """The reads that the oracle makes."""
        return [Read.parse(one) for one in self.data.get("reads", ())]

    @property
    def alternatives(self) -> list[list[Read]]:
        """Lists of reads, each of which is enough."""
        others = [[Read.parse(one) for one in listed] for listed in self.data.get("or", ())]
        return [self.reads, *others]

    @property
    def sql(self) -> list[str]:
        """The query in forms for differently shaped tables, the likeliest first."""
        found = self.data.get("sql") or []
        return [found] if isinstance(found, str) else list(found)

    @property
    def numbers(self) -> list[float]:
        return [float(true(one)) for one in self.data.get("truth", ())]

    @property
    def also(self) -> list[float]:
        """Numbers that are right, but not needed."""
        return [float(true(one)) for one in self.data.get("also", ())]

    @property
    def operands(self) -> list[float] | None:
        """The numbers needed to compute the answer in one's head; None if that is not possible."""
        found = self.data.get("operands")
        return None if found is None else [float(true(one)) for one in found]

    @property
    def words(self) -> list[list[str]]:
        """The spellings of each fact. One of them must be in the answer."""
        found = [true(one) for one in self.data.get("words", ())]
        return [[str(w) for w in (one if isinstance(one, list) else [one])] for one in found]

    @property
    def unit(self) -> str:
        return str(self.data.get("unit", ""))

    @property
    def tolerance(self) -> float:
        return float(self.data.get("tolerance", TOLERANCE))

    @property
    def chart(self) -> Json | None:
        return self.data.get("chart")

    @property
    def call(self) -> Json | None:
        return self.data.get("call")

    @property
    def reply(self) -> str:
        return str(self.data.get("reply", ""))

    @property
    def board(self) -> dashboards.Dashboard:
        return dashboards.dashboard(self.dashboard)


@dataclass(frozen=True)
class Conversation:
    id: str
    dashboard: str
    turns: tuple[Turn, ...]

    @property
    def part(self) -> str:
        """The set, 'tune' or 'measured', which never changes for an id; or 'followups'."""
        if len(self.turns) > 1:
            return "followups"
        digest = hashlib.sha256(f"{SPLIT} {self.id}".encode()).digest()
        return "measured" if digest[0] % 2 else "tune"


def _turn(id_: str, board: str, data: Json, earlier: tuple[str, ...]) -> Turn:
    kind, language = data.get("kind", "followup"), data.get("language", "en")
    return Turn(id_, board, kind, language, data["ask"], earlier, data)


def _conversation(data: Json, board: str) -> Conversation:
    board = data.get("dashboard", board)
    turns: list[Turn] = []
    for number, one in enumerate(data.get("turns", [data]), 1):
        told = {"language": data.get("language", "en"), **one}
        name = f"{data['id']}.{number}" if "turns" in data else data["id"]
        turns.append(_turn(name, board, told, tuple(turn.ask for turn in turns)))
    return Conversation(data["id"], board, tuple(turns))


@cache
def load() -> tuple[Conversation, ...]:
    """Returns all conversations of all files."""
    found = []
    for name in (*dashboards.NAMES, "followups"):
        listed = yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8"))
        found += [_conversation(one, name) for one in listed]
    return tuple(found)


def chosen(part: str = "all", board: str = "", limit: int = 0) -> list[Conversation]:
    """Returns the conversations of a set. For `board` 'large', asks the questions of 'equities'
    over very many widgets."""
    wanted = "equities" if board == "large" else board
    found = [
        one
        for one in load()
        if part in ("all", one.part) and (not wanted or one.dashboard == wanted)
    ]
    if limit and limit < len(found):
        step = len(found) / limit
        found = [found[int(number * step)] for number in range(limit)]
    if board == "large":
        found = [_moved(one, board) for one in found]
    return found


def _moved(one: Conversation, board: str) -> Conversation:
    turns = tuple(
        Turn(turn.id, board, turn.kind, turn.language, turn.ask, turn.earlier, turn.data)
        for turn in one.turns
    )
    return Conversation(one.id, board, turns)


def _income(symbol: str, year: int, column: str) -> Any:
    wanted = {"symbol": symbol, "period": "annual", "fiscal_year": year}
    return market.value("income_statement", column, **wanted)


def _quarter(symbol: str, year: int, quarter: int, column: str) -> Any:
    wanted = {"symbol": symbol, "period": "quarter", "fiscal_year": year}
    return market.value("income_statement", column, fiscal_period=f"Q{quarter}", **wanted)


def _balance(symbol: str, item: str, year: int) -> Any:
    return market.value("balance_sheet", "amount", symbol=symbol, item=item, year=year)


def _closes(symbol: str, first: str, last: str) -> list[float]:
    rows = market.rows_of("price_history", symbol=symbol, date=lambda day: first <= day <= last)
    return [row["close"] for row in rows]


def _top(dataset: str, column: str, **wanted: Any) -> Json:
    return max(market.rows_of(dataset, **wanted), key=lambda row: row[column])


def _day(dataset: str, column: str, **wanted: Any) -> list[str]:
    """Returns the spellings of a day."""
    found = date.fromisoformat(market.value(dataset, column, **wanted))
    return [
        found.isoformat(), f"{found:%B} {found.day}", f"{found.day} {found:%B}",
        f"{found:%b} {found.day}", f"{found.day} {found:%b}", f"{found:%d.%m.%Y}",
    ]  # fmt: skip


def _one(dataset: str, column: str, key: str) -> Callable[[str, str], Any]:
    return lambda name, day: market.value(
        dataset, column, **{key: name, "month" if column in MONTHLY else "date": day}
    )


ABSENT = ["did not find", "pas trouvé", "does not", "not in", "nicht", "kein", "no se",
          "ne contien", "没有", "cannot", "n't", "not hold", "no data", "not avail"]  # fmt: skip
"""Phrases by which an answer says that the data does not have something."""
MONTHLY = ("cpi_yoy", "unemployment_rate")
NAMES: Json = {
    "v": market.value,
    "r": market.rows_of,
    "top": _top,
    "day": _day,
    "mean": lambda values: statistics.fmean(list(values)),
    "growth": lambda before, after: (after / before - 1) * 100,
    "in_year": lambda year: lambda day: day[:4] == str(year),
    "in_month": lambda month: lambda day: day[:7] == month,
    "income": _income,
    "quarter": _quarter,
    "balance": _balance,
    "closes": _closes,
    "close": _one("price_history", "close", "symbol"),
    "coin": _one("crypto_price", "close", "symbol"),
    "fx": _one("fx_history", "rate", "pair"),
    "raw": _one("commodity_price", "price", "commodity"),
    "cpi": _one("inflation", "cpi_yoy", "country"),
    "jobless": _one("unemployment", "unemployment_rate", "country"),
    "ABSENT": ABSENT,
    "convert": lambda amount: round(amount * EUR_TO_USD, 2),
}
"""The names that an expression in a question file may use, besides Python's own functions."""


@cache
def true(expression: str) -> Any:
    """Returns the value of an expression about the market."""
    return eval(expression, dict(NAMES))
