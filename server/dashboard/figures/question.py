"""Finds what a question asks about a table: which column, which rows, which computation."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from server.dashboard.figures.operations import GROWTH_STEMS, Operation, operation
from server.data.cells import CURRENCIES
from server.data.periods import Timeline, timelines
from server.data.tables import FIELDS, Cell, Column, Table
from server.language.dates import Span, Timed, Unclear, period, read
from server.language.ranking import RELATED, stems
from server.language.words import stem

GROUPING = re.compile(r"\b(?:by|per|each|every|for each|across)\s+(\w+(?:\s\w+)?)", re.IGNORECASE)
BY_TIME = re.compile(r"\b(?:by|per|each|every)\s+(?:day|week|month|quarter|year)\b", re.IGNORECASE)
MOST_DISTINCT = 2000
LONGEST_NAME = 120
IN_TIME = frozenset({"last", "first", "growth"})
"""Operations on rows ordered in time. The column must be named, since their words are common."""
OVER_ALL = frozenset({"sum", "mean", "median", "stdev"})
SPREAD = OVER_ALL - {"sum"}
"""Operations that need several values: the mean of a single value says nothing."""


AMBIGUOUS = Column("", "empty")


def _stems_of(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


FILLERS = _stems_of(
    "please kindly hi hello hey thanks thank dear moat compute calculate find determine display "
    "print see know want need value values figure number amount table column available here just "
    "also then any all ever across over during within among throughout exactly shown"
)
"""Words that do not change what is asked for."""
GROUPING_WORDS = _stems_of("per each every")
ROW_NOUNS = _stems_of("row rows record records entry entries line lines")
ENTITY_STEMS = _stems_of(
    "symbol ticker company issuer fund security country firm stock name equity"
)
"""Words for what a row is about, if a column holds such names."""
TIME_NOUNS = {
    "day": _stems_of("day days date session trading"),
    "month": _stems_of("month months"),
    "quarter": _stems_of("quarter quarters"),
    "half": _stems_of("half"),
    "year": _stems_of("year years fiscal"),
}
WHICH_TIME = re.compile(
    r"\b(?:which|what)\s+(?:\w+\s+)?(?:day|date|month|quarter|year|session|period)s?\b"
    r"|\b(?:day|date|month|quarter|year|session|period)s?\s+(?:by|with|when|had|has|of\s+the)\b",
    re.IGNORECASE,
)
_SAME = ("price close", "revenue sales turnover", "capitalization capitalisation cap",
         "volume vol", "percent pct percentage")  # fmt: skip
SAME = {stem(word): _stems_of(family) - {stem(word)} for family in _SAME for word in family.split()}
"""Words with the same meaning. Related words such as profit and earnings per share do not count."""
TOTALS = re.compile(
    r"^\W*(?:grand\s+|sub\W?|sous\W?)?(?:totals?|sum|subtotal|overall|average|mean|median|alle?"
    r"|(?:ins)?gesamt\w*|(?:zwischen|gesamt)?summe|durchschnitt|mittelwert|total\w*|ensemble|moyenne"
    r"|tou(?:s|te?s?)|suma|promedio|tod[oa]s?|somma)\b"
    r"|\btotal\W*$|^\W*(?:合计|总计|小计|总和|平均)|^\W*[\u03a3\u2211]\W*$",
    re.IGNORECASE,
)
"""The names of rows that sum up other rows."""
FEWEST_SUMMED = 3
FEWEST_THINGS = 3
SUM_TOLERANCE = 1e-3
RATIOS = _stems_of(
    "percent pct percentage ratio rate yield margin average avg mean median occupancy utilisation "
    "utilization coverage index score wow mom qoq yoy zins zinssatz quote marge rendite taux "
    "rendement tasa margen rentabilidad 率"
)
LEFT_OUT = RATIOS | _stems_of(
    "usd eur gbp jpy chf cny k m mn mm bn b t million millions billion billions thousand thousands "
    "mio mrd tsd teur meur kusd bps units value amount total number count price level diluted "
    "basic adjusted reported net gross annual daily monthly"
)
"""Words at the end of a column's name that people leave out."""
OF_SOMETHING = re.compile(r"\s(?:of|per|in|to|from)\s.*", re.IGNORECASE | re.DOTALL)
DUE = _stems_of("maturity matures expiry expiration expires due deadline eta etd end fälligkeit")
"""Names of dates on which something ends or is due. The row's figures are not of that date."""
TIME_NAMES = _stems_of("period quarter month week day date time year fiscal kw quartal monat mois")
IDENTIFIERS = _stems_of("id imo code zip plz postcode cik pzn isin built year jahr année año")
FLOWS = _stems_of(
    "revenue sales turnover income profit earnings loss cost costs expense expenses spending "
    "fee fees tax taxes dividend dividends payment payments premium volume output production "
    "emissions rain precipitation orders items quantity qty traded shipped sold visits visitors "
    "admissions entries arrivals departures passengers trips goals attendance hours incidents "
    "claims deaths births gross net discount refund amount spent inflow outflow flow capex opex "
    "ebitda ebit contribution interest umsatz kosten gewinn ertrag erlös aufwand stück absatz "
    "menge ventes coûts ventas ingresos gastos toneladas 销售额 成本 收入 利润"
)
"""What comes about in a stretch of time. Whatever else is there at a time, as beds and balances,
does not add up over several times."""
STATISTICS = _stems_of("average avg mean median max maximum min minimum")
JOINING = _stems_of("for against per of to from in on by with over under and or")
"""Words of columns' names that every question has: they name no column."""
FROM_TO = re.compile(
    r"\b(?:from|between|since|von|zwischen|seit|de|du|entre|depuis|desde)\b|从", re.IGNORECASE
)
PARTS = _stems_of("weight share allocation portion")
"""Percentages of a whole, which may be added up."""
COMPANY_FORMS = frozenset({
    "inc", "incorporated", "corp", "corporation", "co", "company", "ltd", "limited", "plc", "ag",
    "sa", "se", "nv", "llc", "gmbh", "group", "holding", "holdings",
})  # fmt: skip
CURRENCY_NAMES = _stems_of("currency ccy")


@dataclass(frozen=True, slots=True)
class Filter:
    column: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for. `operation` is "" if rows are looked up."""

    operation: str
    column: str | None
    label: str | None
    group: str | None
    filters: tuple[Filter, ...]
    span: Span | None
    line: Timeline | None
    count: int = 1
    left: frozenset[str] = frozenset()
    """Stems of the question that were not used. If there are any, it may ask for something else."""


def understand(question: str, table: Table, today: date, about: str = "") -> Asked | None:
    """Returns what the question asks for. Returns None if it is unclear or cannot be computed.

    `about` are words for what was read: the widget's name and the values of its parameters.
    """
    try:
        timed = read(question, today)
    except Unclear:
        return None
    line = _timeline(question, table, today)
    numbers = [one for one in table.of_kind("number") if line is None or one.name != line.column]
    of_year = _named_by(timed, numbers)
    if of_year is not None:
        timed = replace(timed, span=None)
    elif _is_lost(numbers, question, timed.rest) or not _is_told(timed, line, today):
        return None
    filters = _filters(timed.rest, table)
    named = named_column(timed.rest, numbers)
    column = of_year or named
    if named is AMBIGUOUS or _is_one_word_for_both(column, filters, timed.rest):
        return None
    group = _group(timed.rest, table)
    wanted = operation(timed.rest, *_names(timed.rest, column, filters))
    if wanted is None or (not group and _asks_for_groups(timed.rest, table, column, filters)):
        return None
    if column is None and _takes_the_only_one(wanted, timed.rest, table, group):
        column = numbers[0] if len(numbers) == 1 else None
    name, label = (column.name if column else None), _label(timed.rest, table, filters)
    asked = Asked(wanted.name, name, label, group, filters, timed.span, line, wanted.count)
    made = _counted(asked, wanted, table) if wanted.name == "count" else _possible(asked)
    if made is None or not can_be_computed(made, table, question):
        return None
    return replace(made, left=frozenset(unexplained(timed.rest, made, wanted, table, about)))


def unexplained(rest: str, asked: Asked, wanted: Operation, table: Table, about: str) -> set[str]:
    """Returns the words of the question that nothing in what was understood explains."""
    names = [asked.column, asked.label, asked.group]
    names += [value for one in asked.filters for value in (one.column, *one.values)]
    known = {word for name in filter(None, names) for word in stems(name)}
    known |= {other for word in known for other in SAME.get(word, ())}
    of_table = {word for text in (table.name, table.heading) for word in stems(text)}
    known |= {word for word in stems(about) if word not in of_table}
    if not _is_half_named(asked.column, rest):
        known |= of_table
    known |= wanted.words | FILLERS
    for column in table.of_kind("text"):
        values = set(table.values(column.name)) - {None}
        if len(values) == 1:
            known |= set(stems(str(values.pop())))
    if any(ENTITY_STEMS & set(stems(column.name)) for column in table.of_kind("text")):
        known |= ENTITY_STEMS
    if asked.line is not None and (WHICH_TIME.search(rest) or asked.count > 1):
        known |= TIME_NOUNS[asked.line.grain] | {stem("period"), *stems(asked.line.column)}
        if len(set(_years(table, asked.line))) == len(table.rows):
            known |= TIME_NOUNS["year"]
    if asked.group:
        known |= GROUPING_WORDS
    if wanted.name == "count":
        known |= ROW_NOUNS
        known -= _counted_otherwise(asked, wanted, table)
    return {word for word in stems(rest) if word not in known}


def _is_half_named(column: str | None, rest: str) -> bool:
    """Whether the question has only some words of the name. Others may mean another column."""
    names, said = set(stems(column or "")), set(stems(rest))
    return bool(names & said) and not names <= said


def _years(table: Table, line: Timeline) -> list[str]:
    return [str(time or "")[:4] for time in line.starts or table.values(line.column)]


def _counted_otherwise(asked: Asked, wanted: Operation, table: Table) -> set[str]:
    """Returns counted words that do not mean rows: insiders are not 'Insider Trades'."""
    if asked.operation == "distinct":
        return set()
    head = stems(table.name)[-1:]
    texts = {word for column in table.of_kind("text") for word in stems(column.name)}
    of_values = {word for one in asked.filters for value in one.values for word in stems(value)}
    rows = {*ROW_NOUNS, *head, *texts, *of_values}
    rows |= ENTITY_STEMS if ENTITY_STEMS & texts else set()
    return set(stems(wanted.noun)) - rows - {stem("there")}


def can_be_computed(asked: Asked, table: Table, question: str) -> bool:
    """Whether a computation makes sense: not across totals, currencies or rates."""
    column = next((one for one in table.columns if one.name == asked.column), None)
    sign = column.unit if column else ""
    if any(one in question for one in CURRENCIES if one != sign):
        return False
    if not asked.operation:
        is_total = any(TOTALS.search(value) for one in asked.filters for value in one.values)
        is_one = _are_told_apart(asked, table) and not _is_part_of_named(asked, table)
        return is_one and not (asked.group and is_total)
    if _is_of_fields(table) or not _is_meaningful(asked, column, table):
        return False
    if asked.operation in (*IN_TIME, "distinct"):
        is_begun = FROM_TO.search(question) is None and _has_earlier(asked, table)
        return asked.operation != "growth" or not (_is_of_many(asked, table) or is_begun)
    is_one_of_several = asked.operation in ("max", "min") and _is_of_several(asked, table, question)
    return not (is_one_of_several or _is_of_single_rows(asked, table) or _is_mixed(asked, table))


def _is_of_single_rows(asked: Asked, table: Table) -> bool:
    """Whether each group has one row, so that an average per group would be no average."""
    group = next((one for one in table.columns if one.name == asked.group), None)
    return asked.operation in SPREAD and group is not None and not _repeats(table, group)


def _is_of_fields(table: Table) -> bool:
    """Whether each row is another figure of one thing. These cannot be added or compared."""
    return tuple(column.name for column in table.columns) == FIELDS


def _is_of_many(asked: Asked, table: Table) -> bool:
    return asked.line is not None and not asked.filters and _is_of_things(table, asked.line)


def _is_mixed(asked: Asked, table: Table) -> bool:
    """Whether totals, or amounts in different currencies, are among the rows."""
    values = [value for one in asked.filters for value in one.values]
    held = {one.column for one in asked.filters}
    texts = [one for one in table.of_kind("text") if one.name not in held]
    return (
        any(map(TOTALS.search, values))
        or any(_has_totals(table, one) for one in texts)
        or (not values and asked.operation != "count" and _has_sums(table))
        or any(CURRENCY_NAMES & set(stems(one.name)) and _varies(table, one) for one in texts)
    )


def _are_told_apart(asked: Asked, table: Table) -> bool:
    """Whether the filters leave one row for each name and time. Else any row may be meant."""
    shown = [asked.label, asked.line.column if asked.line else None]
    shown += [one.column for one in asked.filters]
    names = list(dict.fromkeys(filter(None, shown)))
    rows = [
        tuple(row[name] for name in names)
        for row in table.records()
        if all(row[one.column] in one.values for one in asked.filters)
    ]
    return not asked.filters or len(set(rows)) == len(rows)


def _is_part_of_named(asked: Asked, table: Table) -> bool:
    """Whether a named value is in several rows: their sum may be meant, or one of them."""
    if asked.line is not None or asked.group or len(asked.filters) != 1:
        return False
    (one,) = asked.filters
    return len(one.values) == 1 and table.values(one.column).count(one.values[0]) > 1


def _has_earlier(asked: Asked, table: Table) -> bool:
    """Whether the change within a year may begin with the last value of the year before."""
    if asked.line is None or asked.span is None:
        return False
    start = asked.span.start.isoformat()
    return any(time < start[: len(time)] for time in _times(table, asked.line))


def _times(table: Table, line: Timeline) -> list[str]:
    return [str(time) for time in line.starts or table.values(line.column) if time is not None]


def _is_of_several(asked: Asked, table: Table, question: str) -> bool:
    """Whether the question asks for the highest sector, and a sector has several rows."""
    label = next((one for one in table.columns if one.name == asked.label), None)
    if label is None or asked.line is not None or asked.group == label.name:
        return False
    return set(stems(label.name)) <= set(stems(question)) and _repeats(table, label)


def _has_totals(table: Table, column: Column) -> bool:
    return any(TOTALS.search(str(value)) for value in set(table.values(column.name)) if value)


def has_total_row(table: Table) -> bool:
    """Whether a row is the total of the others, by its name or by its numbers."""
    return any(_has_totals(table, one) for one in table.of_kind("text")) or _has_sums(table)


def find_total(table: Table) -> tuple[str, str] | None:
    """Returns the column and name of the row that adds up the others, or None.

    Both its name and its numbers must show it. The mere word for a total is enough.
    """
    for column in table.of_kind("text"):
        names = [str(value) for value in table.values(column.name)]
        for name in {names[0], names[-1]} if len(names) > FEWEST_SUMMED else ():
            found = TOTALS.search(name)
            is_plain = found is not None and found[0].strip() == name.strip()
            if found and names.count(name) == 1 and (is_plain or _has_sums(table)):
                return column.name, name
    return None


def _has_sums(table: Table) -> bool:
    """Whether the first or the last row adds up the others, whatever its name is.

    A single column is enough: an average of rates, beside a sum, adds up nothing.
    """
    return any(_has_sum(table, column) for column in table.of_kind("number"))


def _has_sum(table: Table, column: Column) -> bool:
    values = [one for one in table.values(column.name) if isinstance(one, int | float)]
    if len(values) <= FEWEST_SUMMED:
        return False
    try:
        whole = math.fsum(values)
    except OverflowError:
        return False
    return any(
        end and abs(end - (whole - end)) <= SUM_TOLERANCE * abs(end)
        for end in (values[0], values[-1])
    )


def _varies(table: Table, column: Column) -> bool:
    return len({value for value in table.values(column.name) if value is not None}) > 1


def _is_meaningful(asked: Asked, column: Column | None, table: Table) -> bool:
    """Whether the operation makes sense: rates do not add up, and identifiers are no amounts."""
    words = set(stems(column.name)) if column else set()
    if asked.operation in (*OVER_ALL, "growth") and words & IDENTIFIERS:
        return False
    if asked.operation in SPREAD and words & STATISTICS - {stem(asked.operation)}:
        return False
    if asked.operation != "sum" or column is None:
        return True
    is_level = not words & FLOWS and _is_over_time(asked, table)
    return _adds_up(column) and not is_level


def _is_over_time(asked: Asked, table: Table) -> bool:
    """Whether the rows are of several times of the same things."""
    if asked.line is None or _is_of_things(table, asked.line):
        return False
    times = set(_times(table, asked.line))
    if asked.span is not None:
        first, end = asked.span.start.isoformat(), asked.span.end.isoformat()
        times = {time for time in times if first[: len(time)] <= time and time[:10] < end}
    return len(times) > 1


def _adds_up(column: Column) -> bool:
    words = set(stems(column.name.replace("%", " percent ")))
    is_rate = column.unit == "%" or bool(RATIOS & words)
    return not is_rate or bool(PARTS & words)


def _takes_the_only_one(wanted: Operation, rest: str, table: Table, group: str | None) -> bool:
    """Whether the only column of numbers is meant, because no other column is named."""
    if wanted.name in (*IN_TIME, "count"):
        return False
    others = [column for column in table.of_kind("text") if column.name != group]
    return wanted.name not in OVER_ALL or best_column(rest, others) is None


def _possible(asked: Asked) -> Asked | None:
    if asked.column is None or (asked.operation in IN_TIME and asked.line is None):
        return None
    return asked if asked.operation or asked.filters or asked.span else None


def _counted(asked: Asked, wanted: Operation, table: Table) -> Asked | None:
    """Returns a count of rows or of different values. A number of people is not a count of rows."""
    if asked.column is not None:
        return None
    noun = set(stems(wanted.noun))
    noun |= ENTITY_STEMS if noun & ENTITY_STEMS else set()
    for column in table.of_kind("text"):
        if noun & set(stems(column.name)) and _repeats(table, column):
            return replace(asked, operation="distinct", column=column.name)
    return asked


def _timeline(question: str, table: Table, today: date) -> Timeline | None:
    """Returns the dates of the rows.

    If each row is a thing with a date of its own, such as a loan's end, the question must name it.
    """
    lines = {line.column: line for line in timelines(table)}
    named = best_column(question, [column for column in table.columns if column.name in lines])
    line = lines[named.name] if named else next(iter(lines.values()), None)
    if line is None or _is_said(line.column, question, table):
        return line
    words = set(stems(line.column))
    is_of_things = _is_of_things(table, line)
    if is_of_things and not words & TIME_NAMES:
        return None
    if not is_of_things and not words & DUE:
        return line
    times = line.starts or table.values(line.column)
    return None if any(str(time or "") > today.isoformat() for time in times) else line


def _is_said(name: str, question: str, table: Table) -> bool:
    """Whether the question has a word of this column that is not in a figure's name."""
    figures = {word for one in table.of_kind("number") for word in stems(one.name)}
    return bool(set(stems(name)) & set(stems(question)) - figures)


def _is_of_things(table: Table, line: Timeline) -> bool:
    """Whether each row is a thing with a name, and not the same thing at another time."""
    return len(table.rows) >= FEWEST_THINGS and any(
        len(set(values)) == len(values) and not all(period(str(value)) for value in values)
        for column in table.of_kind("text")
        if column.name != line.column and (values := table.values(column.name))
    )


def _is_one_word_for_both(column: Column | None, filters: Sequence[Filter], rest: str) -> bool:
    """Whether a word of the question may mean a column as well as a row's value."""
    said = Counter(stems(rest))
    name = set(stems(column.name)) if column else set()
    values = [set(stems(value)) for one in filters for value in one.values]
    return any(
        value and value <= name and all(said[word] < 2 for word in value) for value in values
    )


def _named_by(timed: Timed, numbers: Sequence[Column]) -> Column | None:
    """Returns the column of the year that is asked for, if years are columns."""
    if len(timed.points) != 1:
        return None
    return next((one for one in numbers if one.name.lower() == timed.points[0].lower()), None)


def _is_lost(numbers: Sequence[Column], question: str, rest: str) -> bool:
    """Whether the name of a column, such as 'YTD return', was taken for a time."""
    asked, left = set(stems(question)), set(stems(rest))
    names = [set(stems(column.name)) for column in numbers]
    return any(name and name <= asked and not name <= left for name in names)


def _is_told(timed: Timed, line: Timeline | None, today: date) -> bool:
    """Whether the table shows which rows are in the span."""
    if timed.span is None:
        return True
    if line is None or (timed.is_fiscal and line.grain != "year"):
        return False
    return line.fits(timed.span, today)


def named_column(question: str, columns: Sequence[Column]) -> Column | None:
    """Returns the column that the question names; AMBIGUOUS if several fit equally well."""
    own = set(stems(question))
    own |= {other for word in own for other in SAME.get(word, ())}
    own -= JOINING
    names = {column: set(stems(column.name)) or {column.name.lower()} for column in columns}
    names = {column: name - JOINING or name for column, name in names.items()}
    hits = {column: len(name & own) for column, name in names.items()}
    most = max(hits.values(), default=0)
    if not most:
        return None
    best = [column for column in columns if hits[column] == most]
    whole = [column for column in best if names[column] <= own]
    kept = whole if whole else [column for column in best if _is_head_said(column.name, own)]
    return kept[0] if len(kept) == 1 else AMBIGUOUS


def _is_head_said(name: str, said: set[str]) -> bool:
    """Whether the question has the head of the name: a price target is a target.

    Units and words such as rate may be missing.
    """
    words = stems(OF_SOMETHING.sub("", name.replace("_", " ")))
    while len(words) > 1 and (words[-1] in LEFT_OUT or not words[-1].isalpha()):
        words.pop()
    return bool(words) and words[-1] in said


def best_column(question: str, columns: Sequence[Column]) -> Column | None:
    """Returns the column that the question names best. A whole name counts more than a part."""
    words = stems(question)
    own = set(words)
    kin = {other for word in own for other in RELATED.get(word, ())}
    best, best_score = None, 0.0
    for column in columns:
        name = stems(column.name) or [column.name.lower()]
        hits = sum(1.0 if word in own else 0.4 if word in kin else 0.0 for word in name)
        score = hits + hits / len(name)
        if score > best_score:
            best, best_score = column, score
    return best if best_score >= 0.6 else None


def _names(
    text: str, column: Column | None, filters: Sequence[Filter]
) -> tuple[set[str], set[str]]:
    """Returns stems that name the column or values and not a computation, and all their stems."""
    values = {word for one in filters for value in one.values for word in stems(value)}
    name = set(stems(column.name)) if column else set()
    # 'The highest gain' is that of a column of gains, but 'total debt' may be a sum of debts.
    named = name if name <= set(stems(text)) else name & GROWTH_STEMS
    return named | values, name | values


def _group(question: str, table: Table) -> str | None:
    texts = table.of_kind("text")
    for match in GROUPING.finditer(question):
        column = best_column(match[1], texts)
        if column is not None:
            return column.name
    return None


def _without_title(question: str, table: Table) -> str:
    """Returns the question without the table's name: 'Revenue by Segment' groups nothing."""
    said = f" {_in_plain_words(question)} "
    for title in filter(None, map(_in_plain_words, (table.name, table.heading))):
        said = said.replace(f" {title} ", "  ")
    return said


def _in_plain_words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def _asks_for_groups(
    rest: str, table: Table, column: Column | None, filters: Sequence[Filter]
) -> bool:
    """Whether groups are asked for by time, or by what no column holds."""
    if BY_TIME.search(rest):
        return True
    names = [one.name for one in table.of_kind("number")] + [column.name if column else ""]
    names += [value for one in filters for value in one.values]
    known = {word for name in names for word in stems(name)} | FILLERS
    asked = (stems(match[1].split()[0]) for match in GROUPING.finditer(_without_title(rest, table)))
    return any(words and not words[0].isdecimal() and words[0] not in known for words in asked)


def _repeats(table: Table, column: Column) -> bool:
    values = [value for value in table.values(column.name) if value is not None]
    return len(set(values)) < len(values)


def _filters(question: str, table: Table) -> tuple[Filter, ...]:
    """Returns the values of text columns that the question names."""
    asked = " " + " ".join(re.findall(r"[^\W_]+", question.lower())) + " "
    found = []
    for column in table.of_kind("text"):
        distinct = {str(value) for value in table.values(column.name) if value is not None}
        if len(distinct) > MOST_DISTINCT:
            continue
        named = _longest(sorted(one for one in distinct if _is_named(one, asked, question)), asked)
        if named and len(distinct) > 1:
            found.append(Filter(column.name, tuple(named)))
    return tuple(found)


def _longest(named: list[str], asked: str) -> list[str]:
    """Drops names that occur only within a longer one: 'Assets' within 'Total assets'."""
    kept = []
    rest = asked
    for value in sorted(named, key=len, reverse=True):
        words = " ".join(re.findall(r"[^\W_]+", value.lower()))
        if f" {words} " in rest or f" {words} " not in asked:
            kept.append(value)
            rest = rest.replace(f" {words} ", " \x00 ")
    return sorted(kept)


def _is_named(value: str, asked: str, question: str) -> bool:
    words = " ".join(re.findall(r"[^\W_]+", value.lower()))
    if not words:
        return False
    if f" {words} " not in asked:
        # "Apple" means Apple Inc., but "target" does not mean Target Corp.
        short = _without_form(value)
        is_cut = bool(short) and short != value and short[0].isupper()
        return is_cut and re.search(rf"(?<!\w){re.escape(short)}(?!\w)", question) is not None
    # Short values such as tickers must match in case: 'all' is not ALL.
    return len(words) > 4 or re.search(rf"\b{re.escape(value)}\b", question) is not None


def _without_form(name: str) -> str:
    words = name.split()
    while words and words[-1].strip(",.").lower() in COMPANY_FORMS:
        words.pop()
    return " ".join(words).strip(",.")


def _label(question: str, table: Table, filters: Sequence[Filter]) -> str | None:
    """Returns the column that distinguishes rows: the one named, else that of most different
    names."""
    texts = table.of_kind("text")
    filtered = {one.column for one in filters if len(one.values) == 1}
    named = best_column(question, [column for column in texts if column.name not in filtered])
    if named is not None:
        return named.name
    values = {column.name: set(table.values(column.name)) for column in texts}
    # The text of an article distinguishes rows as well as its title, but is not a name.
    names = {name: found for name, found in values.items() if _are_short(found)} or values
    variety = Counter({name: len(found) for name, found in names.items()})
    best = variety.most_common(1)
    return best[0][0] if best and best[0][1] > 1 else None


def _are_short(values: set[Cell]) -> bool:
    return all(len(str(value)) <= LONGEST_NAME for value in values)
