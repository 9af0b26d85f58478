"""Tries out whether a model is able to make a plan, and remembers the result.

The trial runs when the model has been loaded and no request is waiting, or before the first
question that needs to know.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path

from server.dashboard.actions import Action
from server.dashboard.plan import Planner
from server.dashboard.query import Element, Item, Param, Query, Result, Said, Source, Widget
from server.data.sql import Refused
from server.engine.base import Engine, ModelFacts
from server.errors import AppError, Busy
from server.system.files import JsonFile

log = logging.getLogger(__name__)
FILE = "The trials of models"
VERSION = 1
"""Raise it when the trial changes. Every model then takes the trial again."""
DAY = date(2026, 3, 2)
SERVER_ERROR = 500
"""Errors with a lower status are about the request, such as a context too small for the trial."""
SYMBOL = Param("symbol", "ticker", "Ticker symbol", "AAPL", has_value=True)
PERIOD = Param("period", "string", "", "annual", has_value=True, options=("annual", "quarter"))
WIDGETS = (
    Widget("trial", "prices", "Price History", "Daily prices of a stock", params=(SYMBOL,)),
    Widget(
        "trial", "income", "Income Statement", "Revenue, costs and profit of a company",
        params=(SYMBOL, PERIOD),
    ),
    Widget("trial", "news", "Company News", "Headlines about a company", params=(SYMBOL,)),
    Widget("trial", "weather", "Weather", "Temperatures and rain", params=(Param("city"),)),
)  # fmt: skip
ROWS = [{"year": 2020 + number, "revenue": 100 + 7 * number} for number in range(6)]


@dataclass(frozen=True, slots=True)
class Task:
    question: str
    is_right: Callable[[Planner, Action], bool]
    has_data: bool = False


def _reads(*wanted: str) -> Callable[[Planner, Action], bool]:
    def is_right(_planner: Planner, action: Action) -> bool:
        return action.kind == "read" and [one.alias for one in action.reads()] == list(wanted)

    return is_right


def _reads_quarters(_planner: Planner, action: Action) -> bool:
    return any(
        one.alias == "income_statement"
        and one.parameters.get("period") == "quarter"
        and one.parameters.get("symbol") == "MSFT"
        for one in action.reads()
    )


def _computes(_planner: Planner, action: Action) -> bool:
    return action.kind == "query"


TASKS = (
    Task("Any headlines about the company?", _reads("company_news")),
    Task("What were Microsoft's quarterly profits?", _reads_quarters),
    Task("Thank you, that was all.", lambda _planner, action: action.kind == "answer"),
    Task("What is the average revenue?", _computes, has_data=True),
)
AVERAGE = sum(row["revenue"] for row in ROWS) / len(ROWS)


async def is_able_to_plan(engine: Engine, client: str = "") -> bool:
    """Whether the model solves every task. The trial ends at the first that it fails.

    Raises AppError if the engine fails, which says nothing about the model.
    """
    for task in TASKS:
        planner = Planner(_query(task), engine, DAY, client, is_trial=True)
        await planner.resume()
        try:
            action = await planner.next_action()
        except AppError as error:
            if error.status >= SERVER_ERROR or isinstance(error, Busy):
                raise
            log.info("This model does not plan: %s", error)
            return False
        if action is None or not task.is_right(planner, action):
            log.info("This model does not plan: %r gave %s", task.question, action)
            return False
        if action.kind == "query" and not await _is_average(planner, action):
            log.info("This model does not plan: its SQL was %s", action.given)
            return False
    return True


async def _is_average(planner: Planner, action: Action) -> bool:
    """Whether the model's SQL, when it is run, gives the average of the data."""
    try:
        await planner.results.run(str(action.given))
    except Refused:
        return False
    cells = [cell for row in planner.results.computed[-1].answer.rows for cell in row]
    return any(isinstance(cell, int | float) and abs(cell - AVERAGE) < 1e-6 for cell in cells)


def _query(task: Task) -> Query:
    said = (Said("user", task.question, 1),)
    if not task.has_data:
        return Query(said, task.question, 1, WIDGETS)
    income = WIDGETS[1]
    source = Source(income.origin, income.id, None, income.arguments)
    data = Element((Item(json.dumps(ROWS)),))
    result = Result("get_widget_data", {}, (source,), (data,), 1, {})
    reads = [{"widget": "income_statement", "parameters": income.arguments}]
    return Query(said, task.question, 1, WIDGETS, (result,), state={"plan": [{"read": reads}]})


@dataclass(slots=True)
class Trials:
    """The results of all trials, kept in a file. A model is never tried twice at the same time."""

    path: Path | None = None
    _known: dict[str, bool] = field(default_factory=dict)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)

    async def is_able(self, engine: Engine, client: str = "") -> bool:
        """Whether the model plans. If the engine fails in the trial, the next call tries again."""
        key = _key(engine.facts)
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._read().get(key)
            if known is None:
                try:
                    known = await is_able_to_plan(engine, client)
                except AppError as error:
                    log.info("The trial of %s failed: %s", engine.facts.name, error)
                    return False
                self.keep(engine, able=known)
            return known

    def is_known(self, engine: Engine) -> bool:
        return _key(engine.facts) in self._read()

    def keep(self, engine: Engine, *, able: bool) -> None:
        self._known[_key(engine.facts)] = able
        if self.path is not None:
            JsonFile(self.path, FILE).write(self._known)

    def _read(self) -> dict[str, bool]:
        if not self._known and self.path is not None:
            found = JsonFile(self.path, FILE).read()
            self._known = {key: bool(able) for key, able in found.items()}
        return self._known


@cache
def trials_at(path: Path) -> Trials:
    """Returns one and the same `Trials` for a path."""
    return Trials(path)


def _key(facts: ModelFacts) -> str:
    return f"{VERSION}:{facts.name}:{facts.parameters}:{facts.size_bytes}"
