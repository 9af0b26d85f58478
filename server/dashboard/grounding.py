"""The parameters that a model gives for a read, held against what the question says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from server.chat import Json
from server.dashboard.actions import MOST_READS, Read
from server.dashboard.arguments import named_dates, named_options, take_in
from server.dashboard.meaning import keeps_time
from server.dashboard.query import Param, Widget
from server.dashboard.symbols import Named
from server.dashboard.tickers import is_ticker

MOST_NAMED = 4
NUMBER_KINDS = ("number", "integer")


def ground_symbol(param: Param, wanted: object, named: Sequence[Named]) -> tuple[Json, list[Named]]:
    """Puts right a symbol that the question names by another; and the names that were used."""
    if not named or (wanted is None and param.has_value and len(named) > 1):
        return {}, []
    values = wanted if isinstance(wanted, list) else str(wanted or param.value or "").split(",")
    meant = [one for one in named if any(one.is_meant_by(str(value)) for value in values)]
    if all(any(one.is_meant_by(str(value)) for one in named) for value in values):
        return {}, meant
    if len(named) > 1 and not param.several:
        return {}, []
    symbols = [one.symbol for one in named]
    return {param.name: symbols if param.several else symbols[0]}, list(named)


def ground_values(widget: Widget, given: Json, questions: Sequence[str], today: date) -> Json:
    """Dates and options that the question names win; nobody reads fewer rows than are shown.

    `questions`: the one to answer, the same in English where it is not, and the one before it,
    whose dates hold if it has none.
    """
    question = " ".join(filter(None, questions[:2]))
    found = dict(given)
    for param in widget.params:
        if param.kind in NUMBER_KINDS and _is_made_up_limit(param, found.get(param.name), question):
            del found[param.name]
        if param.options and not param.several and _keeps_value(param, found):
            named = named_options(param, param.options, question)
            if len(named) == 1:
                found[param.name] = named[0]
    dates = [named_dates(widget, one, today) for one in questions if one]
    days = next(filter(None, dates), {})
    if not days and keeps_time(questions[0]):
        for name in [one for one in found if _is_today(widget, one, found[one], today)]:
            del found[name]
    return found if take_in(widget.arguments | found, days) else found | days


def _is_today(widget: Widget, name: str, value: object, today: date) -> bool:
    """Small models fill in today where no time is asked for."""
    is_date = any(param.name == name and param.kind == "date" for param in widget.params)
    return is_date and value == today.isoformat()


def _keeps_value(param: Param, given: Json) -> bool:
    return param.has_value and given.get(param.name, param.value) == param.value


def _is_made_up_limit(param: Param, value: object, question: str) -> bool:
    """A number below the one that is shown, and not in the question."""
    if not isinstance(value, int | float) or not isinstance(param.value, int | float):
        return False
    return value < param.value and str(value) not in re.findall(r"\d+", question)


def read_for_each(
    reads: Sequence[Read], widgets: Mapping[str, Widget], named: Sequence[Named], question: str
) -> list[Read]:
    """A widget that is read for one of several things asked about is read for each of them."""
    found = list(reads)
    for read in reads:
        widget = widgets.get(read.alias)
        if widget is not None:
            same = [one for one in found if one.alias == read.alias]
            found += _for_symbols(read, widget, same, named)
            others = list(_for_options(read, widget, same, question))
            found += others
            if others and not _is_among(read, others, widget, question):
                found.remove(read)
    return found[:MOST_READS]


def _for_symbols(
    read: Read, widget: Widget, same: Sequence[Read], named: Sequence[Named]
) -> Iterator[Read]:
    params = [param for param in widget.params if is_ticker(param)]
    if len(params) != 1 or params[0].several or not 1 < len(named) <= MOST_NAMED:
        return
    values = _values(params[0], same)
    for one in named:
        if not any(one.is_meant_by(value) for value in values):
            yield _with(read, params[0], one.symbol)


def _for_options(read: Read, widget: Widget, same: Sequence[Read], question: str) -> Iterator[Read]:
    """Where one of the options that are named was read, or none and what is shown was left."""
    for param in widget.params:
        if not param.options or param.several:
            continue
        named = named_options(param, param.options, question)
        values = _values(param, same)
        is_meant = bool(values & set(map(str, named))) or values == {str(param.value)}
        if 1 < len(named) <= MOST_NAMED and is_meant:
            for option in named:
                if str(option) not in values:
                    yield _with(read, param, option)
            return


def _is_among(read: Read, others: Sequence[Read], widget: Widget, question: str) -> bool:
    """Whether the question names what the read is for, as it names the others."""
    for param in widget.params:
        if len({str(one.parameters.get(param.name)) for one in [read, *others]}) > 1:
            named = named_options(param, param.options, question)
            return str(read.parameters.get(param.name, param.value)) in map(str, named)
    return True


def _values(param: Param, reads: Sequence[Read]) -> set[str]:
    return {str(read.parameters.get(param.name) or param.value) for read in reads}


def _with(read: Read, param: Param, value: Any) -> Read:
    return replace(read, parameters={**read.parameters, param.name: value})
