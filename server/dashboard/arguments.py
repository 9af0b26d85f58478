"""Fills in a widget's arguments: what the dashboard shows, changed where the question asks.

The arguments that a model gives in a plan are checked against the question in the same way.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from server.asking.ask import Means, ask_json
from server.chat import Json
from server.dashboard.actions import MOST_READS, Read
from server.dashboard.meaning import keeps_time
from server.dashboard.query import Element, Param, Query, Widget
from server.dashboard.symbols import Named
from server.dashboard.tickers import asked_for, is_ticker, left_out
from server.dashboard.widget_choice import mentions
from server.language.dates import FAR_FUTURE, FAR_PAST, find
from server.schemas.bounded import closed
from server.system.limits import try_json

START_NAMES = frozenset({"start_date", "start", "from", "from_date", "date_from", "begin"})
END_NAMES = frozenset({"end_date", "end", "to", "to_date", "date_to"})
ENDS = (START_NAMES, END_NAMES)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
FREE_DAYS = 2
"""Days by which dates may differ at either end: a weekend more or less does not matter."""
LONGEST_VALUE = 80
TERM = re.compile(r"(\d{1,3})([DWMY])", re.IGNORECASE)
"""A term such as 2Y, which people also write as 2-year."""
TERM_UNITS = {"D": "day", "W": "week", "M": "month", "Y": "year"}
STRETCH = re.compile(
    r"\b(?:last|past|previous)\s+(?:\w+\s+)?(?:day|week|month|quarter|year)s?\b", re.IGNORECASE
)
"""A stretch of time. An option within it is not meant: "month" in "last month"."""
COMPUTED = frozenset({
    "average", "avg", "bottom", "count", "first", "highest", "last", "latest", "lowest", "max",
    "maximum", "mean", "median", "min", "minimum", "sum", "top", "total",
})  # fmt: skip
"""Words for computations. An option of such a name counts only beside its parameter's name."""
MODEL_KINDS = frozenset({"string", "text", "number", "integer", "boolean"})
SYSTEM = (
    "You fill in the settings of a data widget. Keep a setting as it is unless the question "
    "asks for another value."
)


@dataclass(frozen=True, slots=True)
class Filled:
    arguments: Json
    changed: tuple[str, ...]
    unknown: Param | None = None
    """A parameter that the question mentions and whose options only the client knows."""
    notes: tuple[str, ...] = ()
    """Notes on what was left out of the question."""


async def fill(
    query: Query, means: Means, widget: Widget, today: date, options: dict[str, tuple[Any, ...]]
) -> Filled:
    """Returns the arguments to read a widget with. `options` are those that the client sent."""
    shown, question = widget.arguments, query.question
    asked: Json = {}
    open_params: list[Param] = []
    unknown = None
    for param in widget.params:
        known = options.get(param.name) or param.options
        found = _from_question(param, known, question, today)
        if found is not None:
            asked[param.name] = found
        elif mentions(question, f"{param.name} {param.description}"):
            if param.asks_options and not known:
                unknown = unknown or param
            elif param.kind in MODEL_KINDS and not is_ticker(param):
                open_params.append(param)
    if open_params:
        asked |= await _ask(means, widget, open_params, question)
    arguments = _in_order(widget, shown | asked, asked)
    changed = tuple(name for name, value in asked.items() if value != shown.get(name))
    notes = [
        left_out(param, arguments.get(param.name), question)
        for param in widget.params
        if is_ticker(param)
    ]
    return Filled(arguments, changed, unknown, tuple(filter(None, notes)))


def _in_order(widget: Widget, arguments: Json, asked: Json) -> Json:
    """Drops a start or an end that was not asked for, if the start would be after the end."""
    dates = [param.name for param in widget.params if param.kind == "date"]
    ends = [next((one for one in dates if one.lower() in names), "") for names in ENDS]
    days = [str(arguments.get(name, ""))[:10] for name in ends]
    unasked = [name for name in ends if name not in asked]
    if not all(map(DAY.fullmatch, days)) or days[0] <= days[1] or len(unasked) != 1:
        return arguments
    return {name: value for name, value in arguments.items() if name != unasked[0]}


def told_options(elements: tuple[Element, ...]) -> dict[str, tuple[Any, ...]]:
    """Returns the options that the client has sent, by parameter. A label counts as a value."""
    found: dict[str, tuple[Any, ...]] = {}
    for element in elements:
        for item in element.items:
            told = try_json(item.content)
            entries = told.get("param_options") if isinstance(told, dict) else None
            for entry in entries if isinstance(entries, list) else []:
                if isinstance(entry, dict) and isinstance(entry.get("options"), list):
                    found[str(entry.get("param"))] = tuple(entry["options"])
    return found


def _from_question(param: Param, known: tuple[Any, ...], question: str, today: date) -> Any:
    """Returns the value that the question clearly names for the parameter, else None."""
    if known:
        return _among(param, known, question)
    if is_ticker(param):
        return asked_for(param, question)
    if param.kind == "date":
        return _date(param, question, today)
    if param.kind in ("number", "integer"):
        return _number(param, question)
    return None


def _among(param: Param, known: tuple[Any, ...], question: str) -> Any:
    hits = named_options(param, known, question)
    if not hits:
        return None
    return list(dict.fromkeys(map(str, hits))) if param.several else hits[0]


def named_options(param: Param, known: tuple[Any, ...], question: str) -> list[Any]:
    """Returns the options that the question names by value or label, '2Y' also as '2-year'."""
    labels = param.labels if len(param.labels) == len(known) else tuple(map(_label, known))
    return [
        _value(option)
        for option, label in zip(known, labels, strict=True)
        if any(_is_meant(param, name, question) for name in _spoken(str(_value(option)), label))
    ]


def spoken_names(param: Param, value: Any) -> list[str]:
    """Returns the names by which people call this option of the parameter."""
    labels = param.labels if len(param.labels) == len(param.options) else ()
    for place, option in enumerate(param.options):
        if str(_value(option)) == str(value):
            label = labels[place] if labels else _label(option)
            return list(_spoken(str(value), label))
    return [str(value)]


def _spoken(value: str, label: str) -> Iterator[str]:
    """Yields the value, its label, the initials of a label such as 'US', and 2-year for 2Y."""
    yield from dict.fromkeys([value, label])
    if len(words := label.split()) > 1 and all(word[0].isupper() for word in words):
        yield "".join(word[0] for word in words)
    if match := TERM.fullmatch(value):
        unit = TERM_UNITS[match[2].upper()]
        yield from (f"{match[1]}{gap}{unit}{ending}" for gap in "- " for ending in ("", "s"))


def find_value(value: str, text: str) -> str:
    """Returns how a text writes a value of the data, '5Y' also as '5-year', or ""."""
    if not value.strip() or len(value) > LONGEST_VALUE or value.lower() in COMPUTED:
        return ""
    for name in _spoken(value, value):
        flags = re.IGNORECASE if len(name) > 3 else re.NOFLAG
        if found := re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags):
            return found[0]
    return ""


def named_dates(widget: Widget, question: str, today: date) -> Json:
    return {
        param.name: found
        for param in widget.params
        if param.kind == "date" and (found := _date(param, question, today)) is not None
    }


def take_in(arguments: Json, named: Json) -> bool:
    """Whether the given dates include all those that are named."""
    return all(_takes_in(name, str(arguments.get(name, ""))[:10], named[name]) for name in named)


def _takes_in(name: str, has: str, day: str) -> bool:
    """Whether a date includes the day, give or take `FREE_DAYS`."""
    if not DAY.fullmatch(has):
        return False
    try:
        after = (date.fromisoformat(has) - date.fromisoformat(day)).days
    except ValueError:
        return False
    if name.lower() in START_NAMES:
        return after <= FREE_DAYS
    return after >= -FREE_DAYS if name.lower() in END_NAMES else after == 0


def _is_meant(param: Param, text: str, question: str) -> bool:
    """Whether the question has the text, but not within a stretch of time or as a computation."""
    if not text.strip() or len(text) > 80 or _is_computed(param, text, question):
        return False
    flags = re.IGNORECASE if len(text) > 3 else re.NOFLAG
    stretches = [one.span() for one in STRETCH.finditer(question)]
    said = re.finditer(rf"(?<!\w){re.escape(text)}(?!\w)", question, flags)
    return any(not any(_is_within(one.span(), other) for other in stretches) for one in said)


def _is_within(part: tuple[int, int], whole: tuple[int, int]) -> bool:
    return part != whole and whole[0] <= part[0] and part[1] <= whole[1]


def _is_computed(param: Param, text: str, question: str) -> bool:
    if text.lower() not in COMPUTED:
        return False
    name = re.escape(param.name.replace("_", " "))
    beside = rf"\b{name}\W+(?:(?:of|to|is)\s+)?{text}\b|\b{text}\s+{name}\b"
    return re.search(beside, question, re.IGNORECASE) is None


def _value(option: Any) -> Any:
    return option.get("value") if isinstance(option, dict) else option


def _label(option: Any) -> str:
    return str(option.get("label", option.get("value")) if isinstance(option, dict) else option)


def _date(param: Param, question: str, today: date) -> Any:
    span = find(question, today)
    if span is None:
        return None
    name = param.name.lower()
    if name in START_NAMES and span.start != FAR_PAST:
        return span.start.isoformat()
    if name in END_NAMES and span.end not in (FAR_PAST, FAR_FUTURE):
        last = span.end - timedelta(days=1)
        return (min(last, today) if span.start <= today else last).isoformat()
    one_day = span.end - span.start == timedelta(days=1)
    is_point = one_day and name not in START_NAMES | END_NAMES
    return span.start.isoformat() if is_point else None


def _number(param: Param, question: str) -> Any:
    """Returns a number right after the parameter's own name: 'limit 50', 'limit of 50'."""
    name = re.escape(param.name.replace("_", " "))
    beside = re.search(
        rf"\b{name}\s*(?:(?:of|to|=|:)\s*)?(\d+(?:\.\d+)?)\b", question, re.IGNORECASE
    )
    if beside is None:
        return None
    number = float(beside[1])
    return int(number) if number.is_integer() else number


async def _ask(means: Means, widget: Widget, params: list[Param], question: str) -> Json:
    properties = {param.name: _schema(param) for param in params}
    schema: Json = closed(properties)
    lines = [
        f"- {param.name} ({param.description or param.kind}), now {json.dumps(param.value)}"
        for param in params
    ]
    text = f"Widget: {widget.name}\nSettings:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, (SYSTEM, text), schema, max_tokens=96) or {}
    told = {name: value for name, value in answer.items() if name in properties}
    by_name = {param.name: param for param in params}
    return {
        name: value
        for name, value in told.items()
        if value != by_name[name].value
        and _is_grounded(value, question)
        and not _is_computed(by_name[name], str(value), question)
    }


def _schema(param: Param) -> Json:
    if param.options:
        return {"enum": list(param.options)}
    kind = {"number": "number", "integer": "integer", "boolean": "boolean"}.get(param.kind)
    return {"type": kind} if kind else {"type": "string", "maxLength": 60}


def _is_grounded(value: Any, question: str) -> bool:
    """Whether the question contains the value. A value that is not in it was made up."""
    if isinstance(value, bool):
        return True
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    return bool(text.strip()) and text.lower() in question.lower()


MOST_NAMED = 4
NUMBER_KINDS = ("number", "integer")


def ground_symbol(param: Param, wanted: object, named: Sequence[Named]) -> tuple[Json, list[Named]]:
    """Corrects a symbol that the question does not name. Returns it, and the names it is for."""
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
    """Replaces the model's values by dates and options that the question names.

    Never lowers a limit below the one that is shown. `questions` are the one to answer, the same in
    English, and the one before, whose dates hold if the others have none.
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
    """Whether the value is today's date, which small models fill in if no time is asked for."""
    is_date = any(param.name == name and param.kind == "date" for param in widget.params)
    return is_date and value == today.isoformat()


def _keeps_value(param: Param, given: Json) -> bool:
    return param.has_value and given.get(param.name, param.value) == param.value


def _is_made_up_limit(param: Param, value: object, question: str) -> bool:
    """Whether the number is below the shown one and not in the question."""
    if not isinstance(value, int | float) or not isinstance(param.value, int | float):
        return False
    return value < param.value and str(value) not in re.findall(r"\d+", question)


def read_for_each(
    reads: Sequence[Read], widgets: Mapping[str, Widget], named: Sequence[Named], question: str
) -> list[Read]:
    """Returns reads for each company and option that is asked about, not only for one of them."""
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
    values = _values_read(params[0], same)
    for one in named:
        if not any(one.is_meant_by(value) for value in values):
            yield _with_value(read, params[0], one.symbol)


def _for_options(read: Read, widget: Widget, same: Sequence[Read], question: str) -> Iterator[Read]:
    """Yields reads for other options that are named. One of them, or the shown one, was read."""
    for param in widget.params:
        if not param.options or param.several:
            continue
        named = named_options(param, param.options, question)
        values = _values_read(param, same)
        is_meant = bool(values & set(map(str, named))) or values == {str(param.value)}
        if 1 < len(named) <= MOST_NAMED and is_meant:
            for option in named:
                if str(option) not in values:
                    yield _with_value(read, param, option)
            return


def _is_among(read: Read, others: Sequence[Read], widget: Widget, question: str) -> bool:
    """Whether the question names the option of this read, as it names those of the others."""
    for param in widget.params:
        if len({str(one.parameters.get(param.name)) for one in [read, *others]}) > 1:
            named = named_options(param, param.options, question)
            return str(read.parameters.get(param.name, param.value)) in map(str, named)
    return True


def _values_read(param: Param, reads: Sequence[Read]) -> set[str]:
    return {str(read.parameters.get(param.name) or param.value) for read in reads}


def _with_value(read: Read, param: Param, value: Any) -> Read:
    return replace(read, parameters={**read.parameters, param.name: value})
