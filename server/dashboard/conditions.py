"""Compares a query with its question: does it select the rows that the question asks for?

Nothing here changes a query that runs. If one seems wrong, the model is told why, and a query that
may be meant is proposed. A model that repeats its query is believed, unless the query contradicts
the question or itself.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from server.dashboard.arguments import find_value
from server.dashboard.figures.operations import operation
from server.dashboard.figures.question import FILLERS, find_total
from server.dashboard.meaning import RELATIVE, SIGNS
from server.data.sql import Answer
from server.data.tables import Column, Table
from server.language.dates import MONTHS, POINT, Unclear, in_plain_dates, left_over, read
from server.language.ranking import stems
from server.language.words import goes_on, stem
from server.system.limits import one_line

MOST_VALUES = 200
MOST_NAMED = 4
MOST_SEARCHED = 5000
MOST_DIVISIONS = 20
"""The most rows of a table in which a name is looked for."""
YEAR = re.compile(r"(?<![\w.-])(?:19|20)\d\d(?![\w-]|\.\d)")
ANY_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
YEARS = (1900, 2100)
TEXT = re.compile(r"'((?:[^']|'')*)'")
EQUALS = re.compile(r"\b(\w{1,80})\s{0,9}=\s{0,9}'([^']{0,80})'")
ONE_OF = re.compile(r"\b(\w{1,80})\s{1,9}IN\s{0,9}\(([^()]{1,2000})\)", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
WHOLE_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}(?:-\d{2})?(?!\d)")
LIST = re.compile(r"\s*SELECT\s(?!\s*DISTINCT\b)(.*?)\sFROM\s", re.IGNORECASE | re.DOTALL)
AGGREGATE = re.compile(r"\b(min|max|sum|avg|count|total)\s?\(", re.IGNORECASE)
EXTREME = re.compile(r"(?:min|max)\s?\(\s*\w+\s*\)(?:\s+AS\s+\w+)?", re.IGNORECASE)
NOT_PLAIN = re.compile(r"\bGROUP\s+BY\b|\bOVER\s?\(|\(\s*SELECT\b|\bUNION\b", re.IGNORECASE)
JOINS = re.compile(r"\bJOIN\b|\bFROM\s{1,9}\w{1,200}(?:\s{1,9}\w{1,80})?\s{0,9},", re.IGNORECASE)
CLAUSES = re.compile(r"\b(GROUP|ORDER|LIMIT)\b", re.IGNORECASE)
INNER_QUERY = re.compile(r"\bSELECT\b|\bOVER\s?\(", re.IGNORECASE)
FIRST_ROW = re.compile(r"\bORDER\s{1,9}BY\b[^()]{1,200}\bLIMIT\s{1,9}1\s{0,9}$", re.IGNORECASE)
UNION_OR_LIMIT = re.compile(r"\bUNION\b|\bLIMIT\b", re.IGNORECASE)
UNION_ALL = re.compile(r"(\s{1,9}UNION\s{1,9}ALL\s{1,9})", re.IGNORECASE)
YEAR_COLUMN = re.compile(r"\by((?:19|20)\d\d)\b")
ITSELF = re.compile(r"(?<![\w.'-])([A-Za-z_]\w{0,80}) ?- ?\1\b(?! ?[(.%*/])")
RATIO = re.compile(
    r"\b(?:what share|share of|proportion of|fraction of|percentage of|margins?"
    r"|anteil|marge|proportion|margen|cuota|proporción)\b|净利率|毛利率|利润率|占比|份额|比例",
    re.IGNORECASE,
)
"""Words that ask for a part of a whole."""
SAME_WORDS = {stem("percentage"): stem("percent"), stem("pct"): stem("percent")}
COMPUTES = re.compile(r"[-+*/]")
DIFFERS = re.compile(r"[-+]")
OWN_NUMBER = re.compile(r"(?<![\w.])(?!100?(?:\.0{1,9})?(?![\w.]))\d")
"""A number of the question itself in a computation. 1 and 100 belong to shares and growth."""
PART = re.compile(
    r"\bCASE\s{1,9}WHEN\s{1,9}(\w{1,80})\s{0,9}=\s{0,9}'([^']{0,80})'\s{1,9}THEN\s{1,9}(\w{1,80})"
    r"\b[^()]{0,80}\)\s{0,9}/\s{0,9}(?:sum|total)\s{0,9}\(\s{0,9}\3\s{0,9}\)",
    re.IGNORECASE,
)
"""A part of a sum divided by the sum of the same column."""
WITHIN = re.compile(
    r"\b(\w{1,80})\s{1,9}BETWEEN\s{1,9}'(\d{4}-\d{2}(?:-\d{2})?)'\s{1,9}AND\s{1,9}"
    r"'(\d{4}-\d{2}(?:-\d{2})?)'",
    re.IGNORECASE,
)
LAST_OF_MONTH = re.compile(
    r"(\b(\w{1,80})\s{0,9}(?:<=|>=|<>|!=|=|<|>|\bBETWEEN\b)\s{0,9}'\d{4}-\d{2})-\d{2}'"
    r"(?:(\s{1,9}AND\s{1,9}'\d{4}-\d{2})-\d{2}')?",
    re.IGNORECASE,
)
"""Days that a column is compared with. The second one belongs to BETWEEN."""
INNER = re.compile(
    r"\(\s{0,9}SELECT\s{1,9}(\w{1,80})\s{1,9}FROM\s{1,9}(\w{1,200})"
    r"(?:\s{1,9}WHERE\s{1,9}([^()]{1,400}))?\s{0,9}\)",
    re.IGNORECASE,
)
"""A query inside of another that stands for one value."""
LISTED = re.compile(r"(?:\b(?:IN|FROM|EXISTS|JOIN)|,)\s{0,9}$", re.IGNORECASE)
IS_VALUE = re.compile(
    r"\b(\w{1,80})\s{0,9}=\s{0,9}(?:'([^']{0,80})'|(\d{1,15}(?:\.\d{1,9})?))(?![\w.])"
)
AFTER_CONDITIONS = re.compile(r"\b(?:GROUP|ORDER)\s+BY\b|\bLIMIT\b|\bHAVING\b|\)", re.IGNORECASE)
TAKES_ROWS = re.compile(
    r"\bORDER\s+BY\s+(?!rowid)[^()]{1,200}\bLIMIT\b|\b(?:min|max|sum|avg|count|total)\s?\(",
    re.IGNORECASE,
)
RATIO_TEXT = "percent pct percentage share margin ratio weight proportion allocation rate yield"
RATIOS = frozenset(map(stem, RATIO_TEXT.split()))
"""Words of columns that hold such a part already."""
DIFFERENCE = re.compile(
    r"\b(?:differences?|gap|spread|apart|unterschied\w{0,2}|differenz|abstand|auseinander"
    r"|différences?|écart|diferencias?|brecha)\b|相差|差[别距额值]",
    re.IGNORECASE,
)
PLAIN_TEXT = "year month day date quarter period week symbol name"
PLAIN = frozenset(map(stem, PLAIN_TEXT.split()))
"""Words of columns that say when and who: a question may have them without asking for one."""
BESIDE_TEXT = """
before after following previous prior preceding next earlier later than besides except excluding
without other not vor nach außer ohne vorjahr vorjahres vormonat vorher folgejahr avant après
sauf sans précédent précédente suivant suivante antes después salvo sin anterior siguiente previo
"""
BESIDE = frozenset(map(stem, BESIDE_TEXT.split()))
"""Words that may separate what a question asks for from a value that it names."""
BESIDE_SIGNS = re.compile(r"[前后後]|上一|下一|次[日月年]")
COMPARING = frozenset(map(stem, ("compare", "comparison", "versus", "vs", "both")))
JOINED = re.compile(r"\b(\w{1,80})\.(\w{1,80})\s{0,9}=\s{0,9}(\w{1,80})\.(\w{1,80})\b")
INTERSECT = re.compile(r"\bINTERSECT\b", re.IGNORECASE)
NAMED_TABLE = re.compile(
    r"\b(?:FROM|JOIN|,)\s+(\w{1,80})(?:\s+AS)?\s+"
    r"(?!(?:JOIN|INNER|LEFT|CROSS|ON|WHERE|USING|GROUP|ORDER|LIMIT|UNION|AS)\b)(\w{1,80})",
    re.IGNORECASE,
)
GIVEN_NAME = re.compile(r"\bAS\s+\w+", re.IGNORECASE)
SUM = re.compile(r"(?<![\w.])(\d{1,9}) ?([-+]) ?(\d{1,9})(?![\w.])")
"""A sum of two whole numbers that a query writes out."""
NAME = re.compile(r"[A-Za-z_][\w.]*(?:\s+AS\s+\w+)?", re.IGNORECASE)
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Held:
    """A column of a table that a query uses, what it holds, and what of it the question names."""

    table: str
    column: Column
    values: frozenset[str]
    named: dict[str, str]
    """Each value with the form that it has in the question."""


def propose(sql: str, question: str, tables: Mapping[str, Table], today: date) -> str:
    """Returns the query that may be meant, or `sql` itself if nothing seems wrong.

    For example, it takes the value and the time that the question names.
    """
    question = _with_year(question, sql, tables)
    sql = _from_other_table(with_change_first(ITSELF.sub(r"\1", sql)), tables)
    sql = _from_its_owner(_with_one_extreme(sql, tables), tables)
    sql = _without_foreign(_with_foreign(sql, tables), tables)
    sql = _joined_by_what_is_shared(sql, tables)
    branches = UNION_ALL.split(sql)
    sql = "".join(_with_own_columns(one, question, tables) for one in branches)
    sql = _of_the_whole(_with_outer_conditions(_with_held_values(sql, tables), tables))
    sql = _without_unasked_time(with_months(sql, tables), question, tables)
    sql = _in_the_year(_without_totals(sql, tables), question, tables, today)
    for held in _held(sql, question, tables) if not _is_beside(question) else ():
        used = [one for one in TEXT.findall(sql) if one in held.values]
        strange = [one for one in used if one not in held.named]
        if len(held.named) == 1 and len(set(used)) == 1 and strange and _is_text(held):
            sql = sql.replace(f"'{strange[0]}'", f"'{next(iter(held.named))}'")
    for match in list(EQUALS.finditer(sql)):
        days = _days(match[1], sql, tables)
        if days and match[2] not in days:
            between = _between(question, today, days)
            sql = sql.replace(match[0], f"{match[1]} {between}") if between else sql
    return _at_the_named_time(sql, question, tables, today)


def find_contradiction(
    sql: str, asked: Sequence[str], tables: Mapping[str, Table], before: str, today: date
) -> str:
    """Returns why a query that runs cannot be what `asked` asks for; empty if it can be.

    `asked` has the question in each form that is known: as the user wrote it, and in English.
    `before` are the parameters of reads and the queries so far: a time in it has been considered.
    """
    if senseless := _senseless(sql):
        return senseless
    if asks_beside(asked):
        return ""
    for question in (_with_year(one, sql, tables) for one in asked):
        for _, wanted, _ in _missed_times(sql, question, tables, today):
            if wanted not in before:
                return f"The question asks for {wanted}, the query for another time."
    if year := absent_year(f"{sql} {before}", asked, tables):
        return f"The question asks for {year}. The tables have nothing of that year."
    return ""


def _senseless(sql: str) -> str:
    """Says why a computation always gives the same; empty if it does not."""
    if itself := ITSELF.search(TEXT.sub("''", sql)):
        return f"{itself[0]} is always 0. Say which two values are meant."
    if with_change_first(sql) != sql:
        return "A - B / B is A - 1. For a change relative to B, write (A - B) / B."
    if not NOT_PLAIN.search(sql) and _of_the_whole(sql) != sql:
        return (
            "The part and the whole have the same condition, so the share is always 100 %. Do not "
            "restrict the whole to the part."
        )
    return ""


def with_change_first(sql: str) -> str:
    """Writes (A - B) / B where a query has A - B / B, which nobody means.

    A and B are columns, calls or inner queries.
    """
    plain = TEXT.sub(lambda found: "'" + "x" * (len(found[0]) - 2) + "'", sql)
    for place in (match.start() for match in islice(re.finditer("/", plain), MOST_DIVISIONS)):
        divided_at, end = _begin_of_operand(plain, place), _end_of_operand(plain, place + 1)
        before = plain[:divided_at].rstrip()
        divided, by = (
            " ".join(one.split()) for one in (sql[divided_at:place], sql[place + 1 : end])
        )
        begin = _begin_of_operand(plain, len(before) - 1)
        is_meant = before.endswith("-") and divided and divided == by
        if is_meant and plain[begin : len(before) - 1].strip():
            return f"{sql[:begin]}({sql[begin:place].strip()}) {sql[place:]}"
    return sql


def _begin_of_operand(sql: str, end: int) -> int:
    """Returns where the column, call or bracket begins that ends before a place."""
    begin = len(sql[:end].rstrip())
    if sql[:begin].endswith(")"):
        depth = 0
        for place in range(begin - 1, -1, -1):
            depth += (sql[place] == ")") - (sql[place] == "(")
            begin = place
            if not depth:
                break
    while begin and (sql[begin - 1].isalnum() or sql[begin - 1] in "_."):
        begin -= 1
    return begin


def _end_of_operand(sql: str, begin: int) -> int:
    """Returns where the column, call or bracket ends that begins at a place or behind spaces."""
    end = len(sql) - len(sql[begin:].lstrip())
    while end < len(sql) and (sql[end].isalnum() or sql[end] in "_."):
        end += 1
    depth = 0
    if sql[end : end + 1] == "(":
        for place in range(end, len(sql)):
            depth += (sql[place] == "(") - (sql[place] == ")")
            end = place + 1
            if not depth:
                break
    return end


def explain_bare(sql: str, tables: Mapping[str, Table]) -> str:
    """Says what is wrong about a plain column beside aggregates; empty if there is none."""
    bare = _bare_column(sql, tables)
    if not bare:
        return ""
    return (
        f"{bare} stands beside an aggregate, so it is of any row. To get the row itself, write "
        "ORDER BY ... DESC LIMIT 1 (or ASC) without the aggregate."
    )


def count_bare(sql: str, tables: Mapping[str, Table]) -> str:
    """Returns a query that counts the values of a plain column beside aggregates.

    With more than one, the row is SQLite's choice. Empty if the query has no such column.
    """
    chosen, bare = LIST.match(sql), _bare_column(sql, tables)
    if chosen is None or not bare:
        return ""
    rest = re.split(r"\b(?:ORDER\s+BY|HAVING|LIMIT)\b", sql[chosen.end() :], flags=re.IGNORECASE)
    return f"SELECT COUNT(DISTINCT {bare}) FROM {rest[0].rstrip('; ')}"


def absent_year(sql: str, asked: Sequence[str], tables: Mapping[str, Table]) -> str:
    """Returns the only year that a question names, if the query and its tables lack it.

    Each table that the query uses must tell the times of its rows.
    """
    years: set[str] = {one for text in asked for one in YEAR.findall(text)}
    used = _used(sql, tables)
    if len(years) != 1 or asks_beside(asked):
        return ""
    if not used or not all(map(_is_dated, used.values())):
        return ""
    (year,) = years
    columns = [column.name for table in used.values() for column in table.columns]
    cells = (
        str(cell)
        for table in tables.values()
        for row in table.rows[:MOST_SEARCHED]
        for cell in row
        if cell is not None
    )
    short = re.compile(rf"(?:[/'\u2019-]|fy ?){year[2:]}(?!\d)", re.IGNORECASE)
    for text in (sql, *used, *columns, *cells):
        if year in text or short.search(WHOLE_DAY.sub("", text)):
            return ""
    return year


def _is_dated(table: Table) -> bool:
    """Whether a column tells for most rows of which year they are."""
    for column in table.columns:
        values = [str(one) for one in table.values(column.name)[:MOST_SEARCHED] if one is not None]
        if column.kind == "number":
            is_dated = bool(values) and _are_years(frozenset(values))
        else:
            is_dated = 2 * sum(bool(ANY_YEAR.search(one)) for one in values) > len(table.rows)
        if is_dated:
            return True
    return False


def _missed_times(
    sql: str, question: str, tables: Mapping[str, Table], today: date
) -> Iterator[tuple["re.Match[str]", str, str]]:
    """Yields conditions on another day, month or year than the only one that the question names.

    With each come the time that is asked for, and its condition. The column holds that time.
    """
    if len({one[0].lower() for one in POINT.finditer(in_plain_dates(question))}) != 1:
        return
    try:
        span = read(question, today).span
    except Unclear:
        return
    if span is None or span.is_open:
        return
    day = span.start.isoformat()
    is_day = (span.end - span.start).days == 1
    for match in IS_VALUE.finditer(sql):
        days = _days(match[1], sql, tables)
        wanted = day if is_day else day[:7] if span.end == _next_month(span.start) else ""
        if match[2] and DAY.fullmatch(match[2]) and wanted in days and wanted not in sql:
            yield match, wanted, f"{match[1]} = '{wanted}'"
    for held in _held(sql, question, tables):
        year = next(iter(held.named))
        if _is_text(held) or len(held.named) > 1 or year in with_sums(sql):
            continue
        for match in IS_VALUE.finditer(sql):
            if match[1].lower() == held.column.name.lower() and match[3] in held.values:
                yield match, year, f"{match[1]} = {year}"


def _with_year(question: str, sql: str, tables: Mapping[str, Table]) -> str:
    """Writes the year to the only day or month of a question, if the query's data has one alone."""
    plain = in_plain_dates(question)
    points = list(POINT.finditer(plain))
    name = (points[0]["name_1"] or points[0]["name_2"] or "") if len(points) == 1 else ""
    if not name or points[0]["year_1"] or points[0]["year_2"]:
        return question
    day = points[0]["day_1"] or points[0]["day_2"]
    wanted = f"-{MONTHS[name.lower().rstrip('.')]:02}" + (f"-{int(day):02}" if day else "")
    years = {
        str(value)[:4]
        for table in _used(sql, tables).values()
        for column in table.of_kind("date")
        for value in table.values(column.name)
        if str(value)[4:].startswith(wanted)
    }
    end = points[0].end()
    return f"{plain[:end]} {years.pop()}{plain[end:]}" if len(years) == 1 else question


def _next_month(day: date) -> date:
    return date(day.year + day.month // 12, day.month % 12 + 1, 1) if day.day == 1 else day


def _at_the_named_time(sql: str, question: str, tables: Mapping[str, Table], today: date) -> str:
    """Replaces the only other time that a query asks for by the one that the question names."""
    if asks_beside([question]):
        return sql
    found = list(_missed_times(sql, question, tables, today))
    if len({match[2] or match[3] for match, _, _ in found}) != 1:
        return sql
    for match, _, condition in found:
        sql = sql.replace(match[0], condition)
    return sql


def find_fault(
    sql: str, question: str, tables: Mapping[str, Table], answer: Answer, own: str = ""
) -> str:
    """Returns what seems wrong about a query, in words for its writer; empty if nothing does.

    `own` is the question in the user's language, if `question` is its English translation.
    """
    if bare := explain_bare(sql, tables):
        return bare
    if elsewhere := _find_elsewhere(sql, tables):
        return (
            f"{elsewhere.column} is never '{elsewhere.value}' there, but in {elsewhere.table}. Put "
            "the rows one below the other: SELECT ... UNION ALL SELECT ..."
        )
    for held in _held(sql, question, tables) if not _is_beside(question) else ():
        used = set(TEXT.findall(sql)) | set(YEAR.findall(with_sums(sql)))
        missing = [one for one in held.named if one not in used and f"y{one}" not in sql]
        is_told = held.column.name.lower() in _words(sql) and not used & held.values
        if missing and len(held.named) <= MOST_NAMED and not is_told:
            wanted = " and ".join(_written(held, one) for one in missing)
            return f"The question asks for {held.column.name} = {wanted}; the query does not."
    if RATIO.search(f"{question} {own}") and not _is_ratio(sql, tables):
        return (
            "The question asks for a part of a whole; the query divides nothing. Write "
            "100.0 * part / whole."
        )
    for found in _inner_queries(sql):
        if (rows := _rows_of(found, tables)) > 1:
            return (
                f"{found[0]} finds {rows} rows, and only the first of them counts. Say which one "
                "is meant."
            )
    return _unlabelled(sql, question, tables, answer)


def add_up(sql: str, question: str, tables: Mapping[str, Table], answer: Answer) -> str:
    """Adds up the only column of a query, if it gives several numbers and a total is asked for.

    A word for a total that names a column or a value asks for no computation.
    """
    chosen = LIST.match(sql)
    if (
        chosen is None
        or NOT_PLAIN.search(sql)
        or UNION_OR_LIMIT.search(sql)
        or len(answer.rows) < 2
    ):
        return sql
    name = _plain_name(chosen[1].strip())
    is_figure = all(isinstance(row[0], int | float) for row in answer.rows)
    if not name or len(answer.columns) > 1 or not is_figure:
        return sql
    taken = {
        word
        for table in _used(sql, tables).values()
        for column in table.columns
        for text in (column.name, *_few_texts(table, column))
        for word in stems(text)
    }
    wanted = operation(question, taken, taken)
    if wanted is None or wanted.name != "sum":
        return sql
    return f"{sql[: chosen.start(1)]}SUM({name}) AS total{sql[chosen.end(1) :]}"


def _few_texts(table: Table, column: Column) -> Iterable[str]:
    if column.kind != "text":
        return ()
    return (str(one) for one in table.values(column.name)[:MOST_SEARCHED] if one is not None)


def with_all_named(sql: str, question: str, tables: Mapping[str, Table]) -> str:
    """Extends the query to all values of a column that the question names, if it takes one.

    Replaces a wrong year by the only year that the question names.
    """
    chosen = LIST.match(sql)
    if chosen is None or NOT_PLAIN.search(sql) or UNION_OR_LIMIT.search(sql):
        return sql
    for held in _held(sql, question, tables):
        column = held.column.name
        years = set(YEAR.findall(with_sums(sql)))
        if not _is_text(held) and len(held.named) == len(years) == 1 and not _is_relative(question):
            return with_sums(sql).replace(years.pop(), next(iter(held.named)))
        taken = [one for one in EQUALS.finditer(sql) if one[1].lower() == column.lower()]
        is_one = len(taken) == 1 and taken[0][2] in held.named
        if not _is_text(held) or not is_one or not 1 < len(held.named) <= MOST_NAMED:
            continue
        values = ", ".join(f"'{one}'" for one in held.named if "'" not in one)
        sql = f"{sql[: taken[0].start()]}{column} IN ({values}){sql[taken[0].end() :]}"
        shown = "" if column.lower() in _words(chosen[1]) else f"{column}, "
        grouped = f" GROUP BY {column}" if AGGREGATE.search(chosen[1]) else ""
        return f"{sql[: chosen.start(1)]}{shown}{sql[chosen.start(1) :].rstrip('; ')}{grouped}"
    return sql


def _is_relative(question: str) -> bool:
    return bool(RELATIVE & set(stems(question)))


def _is_beside(question: str) -> bool:
    """Whether the question may ask for something beside a named value: the year before 2025."""
    return bool(BESIDE & set(stems(question))) or bool(BESIDE_SIGNS.search(question))


def asks_beside(asked: Sequence[str]) -> bool:
    """Whether a form of the question may mean another time than the one that it names."""
    return any(_is_beside(one) or _is_relative(one) for one in asked)


def difference_of(name: str, answer: Answer, question: str) -> str:
    """Returns a query for the difference of another's only two figures, if it is asked for."""
    if len(answer.rows) != 2 or not DIFFERENCE.search(question):
        return ""
    places = [
        [place for place, cell in enumerate(row) if isinstance(cell, int | float)]
        for row in answer.rows
    ]
    if len(places[0]) != 1 or places[0] != places[1]:
        return ""
    column = answer.columns[places[0][0]].replace('"', "")
    one = f'SELECT "{column}" FROM {name} LIMIT 1'
    return f"SELECT ABS(({one}) - ({one} OFFSET 1)) AS difference"


def _is_ratio(sql: str, tables: Mapping[str, Table]) -> bool:
    """Whether it divides, or takes a column or a row that is a part of a whole by itself.

    The average of 1 and 0 is a part of a whole, too.
    """
    own = GIVEN_NAME.sub(" ", sql)
    if re.search(r"\bavg\s?\(", own, re.IGNORECASE):
        return True
    words = _words(own)
    units = [
        column.unit
        for table in _used(sql, tables).values()
        for column in table.columns
        if column.name.lower() in words
    ]
    return "/" in own or bool(RATIOS & set(stems(own))) or any("%" in one for one in units)


def left_out(sql: str, question: str, tables: Mapping[str, Table]) -> set[str]:
    """Returns words of the question that name a column of the query's tables that it does not use.

    Names that a query gives do not count: "revenue AS margin" is not a margin.
    """
    columns = {column.name for table in _used(sql, tables).values() for column in table.columns}
    return asked_columns(columns, question, sql)


def asked_columns(columns: Iterable[str], question: str, sql: str) -> set[str]:
    """Returns words of the question that name one of these columns and are not in the SQL."""
    own = set(stems(GIVEN_NAME.sub(" ", sql)))
    named = {word for name in columns for word in stems(name)}
    asked = set(stems(question))
    meant = {word for word in named if word in asked or any(goes_on(one, word) for one in asked)}
    return meant - own - PLAIN


def explain_nothing(sql: str, tables: Mapping[str, Table]) -> str:
    """Says why no row fits: a join of what is never equal, or a value that the column lacks."""
    for first, one, second, other in JOINED.findall(sql):
        sides = [_texts(first, one, tables), _texts(second, other, tables)]
        if all(sides) and not sides[0] & sides[1]:
            return (
                f" {first}.{one} is never equal to {second}.{other}. Put the rows one below the "
                "other: SELECT ... UNION ALL SELECT ..."
            )
    if INTERSECT.search(sql):
        return " INTERSECT keeps only rows that both sides have. To list both: UNION ALL."
    for match in EQUALS.finditer(sql):
        for table in _used(sql, tables).values():
            for column in table.columns:
                values = {str(one) for one in table.values(column.name) if one is not None}
                if column.name.lower() != match[1].lower() or match[2] in values or not values:
                    continue
                known = sorted(values)
                shown = f"from {known[0][:40]} to {known[-1][:40]}"
                if column.kind == "text":
                    shown = ", ".join(f"'{one_line(one)[:40]}'" for one in known[:12])
                elsewhere = _find_elsewhere(sql, tables)
                hint = f" {elsewhere.table} has '{elsewhere.value}'." if elsewhere else ""
                return f" {match[1]} is never '{match[2]}'; it holds {shown}.{hint}"
    return ""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A value that a query asks for in vain, and the table of the same form that has it."""

    column: str
    value: str
    table: str


def _find_elsewhere(sql: str, tables: Mapping[str, Table]) -> Elsewhere | None:
    """Finds a value that is in another table: a widget read for two ports gives two tables."""
    used = _used(sql, tables)
    compared: dict[str, list[str]] = {}
    for match in EQUALS.finditer(sql):
        compared.setdefault(match[1], []).append(match[2])
    for match in ONE_OF.finditer(sql):
        compared.setdefault(match[1], []).extend(TEXT.findall(match[2]))
    for column, values in compared.items():
        held = {name: _texts(name, column, tables) for name in tables}
        own = [name for name in used if held[name]]
        missing = [one for one in values if not any(one in held[name] for name in used)]
        if not own or not missing:
            continue
        form = {one.name for one in tables[own[0]].columns}
        for name, table in tables.items():
            is_same = name not in used and form == {one.name for one in table.columns}
            if is_same and (found := [one for one in missing if one in held[name]]):
                return Elsewhere(column, found[0], name)
    return None


def _from_other_table(sql: str, tables: Mapping[str, Table]) -> str:
    """Adds the rows of the table that has a value that the query asks for in vain.

    If the query asks for nothing else, it takes them from that table alone.
    """
    elsewhere, used = _find_elsewhere(sql, tables), list(_used(sql, tables))
    is_plain = LIST.match(sql) and not NOT_PLAIN.search(sql) and not TAKES_ROWS.search(sql)
    if elsewhere is None or len(used) != 1 or not is_plain:
        return sql
    other = re.sub(rf"\b{re.escape(used[0])}\b", elsewhere.table, sql, flags=re.IGNORECASE)
    is_alone = any(match[2] == elsewhere.value for match in EQUALS.finditer(sql))
    return other if is_alone else f"{sql.rstrip('; ')} UNION ALL {other}"


def may_find_nothing(sql: str, answer: Answer) -> bool:
    """Whether it may be right that the query finds nothing: it reads tables, and no row fits."""
    looks = re.search(r"\bFROM\b", sql, re.IGNORECASE) is not None
    return looks and (not answer.rows or AGGREGATE.search(sql) is not None)


def find_absent(sql: str, asked: Sequence[str], tables: Mapping[str, Table], answer: Answer) -> str:
    """Returns what the question names and no table has a figure for; empty if it finds nothing.

    It applies only if `answer`, the result of the query, has no row or only empty cells.
    """
    if any(cell is not None for row in answer.rows for cell in row):
        return ""
    used = {name: table for name, table in tables.items() if name.lower() in _words(sql)}
    said = " ".join(asked).lower()
    found = [match for match in EQUALS.finditer(sql) if _is_said(match[2], said)]
    named = [match[2] for match in found]
    years: set[str] = {one for text in asked for one in YEAR.findall(text)}
    cells = {
        str(cell).lower()
        for table in tables.values()
        for row in table.rows[:MOST_SEARCHED]
        for cell in row
        if cell is not None
    }
    if not used or not cells:
        return ""
    for column, value in (match.groups() for match in found):
        held = {text for name in used for text in _texts(name, column, tables)}
        if not any(value.lower() in cell for cell in cells) and not find_nearest(value, held):
            return value
    is_compared = re.search("[<>]", sql) is not None
    if (
        len(years) == 1
        and not is_compared
        and not any(years & set(ANY_YEAR.findall(cell)) for cell in cells)
    ):
        columns = {column.name for table in used.values() for column in table.columns}
        is_dated = any(ANY_YEAR.search(cell) for cell in cells)
        if is_dated and not any(years & set(ANY_YEAR.findall(one)) for one in columns):
            return years.pop()
    is_empty = bool(answer.rows) and not AGGREGATE.search(sql) and bool(named)
    return f"{', '.join(answer.columns).replace('_', ' ')} ({', '.join(named)})" if is_empty else ""


def _is_said(value: str, said: str) -> bool:
    return (
        bool(value.strip())
        and re.search(rf"(?<!\w){re.escape(value.lower())}(?!\w)", said) is not None
    )


def _texts(table: str, column: str, tables: Mapping[str, Table]) -> set[str]:
    found = {name.lower(): one for name, one in tables.items()}.get(table.lower())
    names = {one.name.lower(): one.name for one in found.columns} if found else {}
    if found is None or column.lower() not in names:
        return set()
    return {str(one) for one in found.values(names[column.lower()]) if one is not None}


def find_nearest(text: str, values: Iterable[str]) -> str:
    """Returns the only value that a text writes in another way; "" if none or several are.

    It has the same words (Q3 2025, Q3/2025), all words of the text (Costa, Dr. Costa), no other
    words than the text (Mr. Petersen, Petersen), or goes on after it (Pharma, Pharmacy).
    """
    known = {value: _stems_of(value) for value in values}
    words = _stems_of(text)
    if not words:
        return ""
    ways = (
        [value for value in known if known[value] == words],
        [value for value in known if words < known[value]],
        [value for value in known if known[value] and known[value] < words],
        [value for value in known if goes_on(text.lower(), value.lower())],
        [value for value in known if SIGNS.fullmatch(text) and text in value],
    )
    near = next(filter(None, ways), [])
    return near[0] if len(near) == 1 else ""


def _stems_of(text: str) -> set[str]:
    return {stem(word) for word in WORD.findall(text.lower())}


def _with_held_values(sql: str, tables: Mapping[str, Table]) -> str:
    """Replaces a text that its column never holds by the value that it means."""
    for match in list(EQUALS.finditer(sql)):
        for name, table in _used(sql, tables).items():
            kinds = {column.name.lower(): column.kind for column in table.columns}
            held = _texts(name, match[1], tables)
            if kinds.get(match[1].lower()) != "text" or not held or match[2] in held:
                continue
            if (value := find_nearest(match[2], held)) and "'" not in value:
                meant = match[0].replace(f"'{match[2]}'", f"'{value}'")
                sql = sql.replace(match[0], meant)
    return sql


def _joined_by_what_is_shared(sql: str, tables: Mapping[str, Table]) -> str:
    """Joins tables by a key that both have, if the query's join matches no rows.

    A widget read for two countries gives two tables: their countries differ, their years do not.
    """
    short = {name.lower(): table for table, name in NAMED_TABLE.findall(sql)}
    for first, one, second, other in JOINED.findall(sql):
        names = [short.get(name.lower(), name) for name in (first, second)]
        sides = [_texts(names[0], one, tables), _texts(names[1], other, tables)]
        if not all(sides) or sides[0] & sides[1]:
            continue
        if shared := _shared_key(names, tables):
            joined = re.compile(rf"\b{first}\.{one}\s*=\s*{second}\.{other}\b")
            sql = joined.sub(f"{first}.{shared} = {second}.{shared}", sql)
    return sql


def _shared_key(names: Sequence[str], tables: Mapping[str, Table]) -> str:
    """Returns the first column in both tables without duplicates and with common values, or ""."""
    by_name = {name.lower(): table for name, table in tables.items()}
    first, second = (by_name[name.lower()] for name in names)
    others = {column.name for column in second.columns}
    for column in first.columns:
        if column.name in others:
            values = [[str(one) for one in table.values(column.name)] for table in (first, second)]
            are_keys = all(len(set(side)) == len(side) for side in values)
            if are_keys and set(values[0]) & set(values[1]):
                return column.name
    return ""


def explain_column(fault: str, sql: str, tables: Mapping[str, Table]) -> str:
    """Lists the columns that exist, if a query names one that does not."""
    if "no such column" not in fault and "no such table" not in fault:
        return ""
    used = _used(sql, tables) or tables
    lacking = fault.partition("no such column: ")[2].strip(". ").split(".")[-1].lower()
    owners = [
        name
        for name, table in tables.items()
        if name not in used and lacking in {column.name.lower() for column in table.columns}
    ]
    told = [
        f"{name} has the columns {', '.join(column.name for column in table.columns)}"
        for name, table in list(used.items())[:MOST_NAMED]
    ]
    told += [f"{lacking} is a column of {' and '.join(owners[:MOST_NAMED])}"] if owners else []
    days = [one.name for table in used.values() for one in table.of_kind("date")]
    if days and (year := YEAR_COLUMN.fullmatch(lacking)):
        told.append(f"{year[1]} is {days[0]} BETWEEN '{year[1]}-01-01' AND '{year[1]}-12-31'")
    return f" {'; '.join(told)}."


def _with_condition(sql: str, table: str, condition: str) -> str:
    """Adds a condition on the rows of a table that the query names once."""
    places = list(
        re.finditer(rf"\bFROM\s{{1,9}}{re.escape(table)}\b(\s{{1,9}}WHERE\b)?", sql, re.IGNORECASE)
    )
    if len(places) != 1:
        return sql
    (place,) = places
    if place[1] is None:
        return f"{sql[: place.end()]} WHERE {condition}{sql[place.end() :]}"
    rest = sql[place.end() :]
    end = AFTER_CONDITIONS.search(rest)
    old, more = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    old = old.strip()
    old = f"({old})" if re.search(r"\bOR\b", old, re.IGNORECASE) else old
    space = "" if more.startswith(")") else " "
    return f"{sql[: place.end()]} {condition} AND {old}{space}{more}".rstrip()


def _without_totals(sql: str, tables: Mapping[str, Table]) -> str:
    """Excludes the row that adds up the others, if rows are limited or aggregated."""
    clauses = [one.upper() for one in CLAUSES.findall(sql)]
    takes_groups = clauses == ["GROUP", "ORDER", "LIMIT"] and len(INNER_QUERY.findall(sql)) == 1
    if not takes_groups and (NOT_PLAIN.search(sql) or not TAKES_ROWS.search(sql)):
        return sql
    for name, table in _used(sql, tables).items():
        found = find_total(table)
        if takes_groups and found and found[0].lower() not in _words(sql):
            continue
        if found is None or found[1].lower() in (one.lower() for one in TEXT.findall(sql)):
            continue
        label = found[1].replace("'", "''")
        sql = _with_condition(sql, name, f"{found[0]} IS NOT '{label}'")
    return sql


def _of_the_whole(sql: str) -> str:
    """Drops conditions that would restrict the whole to the rows of the part."""
    for column, value, _ in PART.findall(sql):
        own = rf"{re.escape(column)}\s{{0,9}}=\s{{0,9}}'{re.escape(value)}'"
        sql = re.sub(
            rf"(\bWHERE\s{{1,9}}){own}\s{{1,9}}AND\s{{1,9}}", r"\1", sql, flags=re.IGNORECASE
        )
        sql = re.sub(
            rf"\s{{1,9}}WHERE\s{{1,9}}{own}(?!\s{{1,9}}(?:OR|THEN)\b)", "", sql, flags=re.IGNORECASE
        )
        sql = re.sub(
            rf"\s{{1,9}}AND\s{{1,9}}{own}(?!\s{{1,9}}(?:OR|THEN)\b)", "", sql, flags=re.IGNORECASE
        )
    return sql


def _with_own_columns(sql: str, question: str, tables: Mapping[str, Table]) -> str:
    """Replaces a computation by a column that already holds its result.

    The column has the name that the query gives to the result, or the question has its whole name
    and it is a ratio. Growth over several years is more than the growth of one, so it stays.
    """
    chosen = LIST.match(sql)
    if chosen is None or NOT_PLAIN.search(sql) or len(set(YEAR.findall(question))) > 1:
        return sql
    found = [one for table in _used(sql, tables).values() for one in table.of_kind("number")]
    columns = {one.name.lower(): one.name for one in found}
    shares = {one.name.lower() for one in found if one.unit == "%"}
    asked = {SAME_WORDS.get(word, word) for word in stems(question)}
    parts = [part.strip() for part in split_list(chosen[1])]
    kept = []
    for part in parts:
        head, given = GIVEN_NAME.sub(" ", part), GIVEN_NAME.search(part)
        name = given[0].split()[-1].lower() if given else ""
        used = [one for one in columns if one in _words(head)]
        whole = [one for one in used if RATIOS & set(stems(one)) and _is_named_whole(one, asked)]
        adding = AGGREGATE.search(head)
        if adding and used and name in columns and name not in used:
            kept.append(f"{adding[1]}({columns[name]})")
            continue
        is_made = COMPUTES.search(head) and not adding
        is_made = is_made and not OWN_NUMBER.search(head)
        if is_made and name in columns and name not in used:
            part = columns[name]
        elif is_made and len(whole) == 1 and len(parts) == 1:
            part = columns[whole[0]]
        elif is_made and len(parts) == 1 and len(used) > 1 and not DIFFERS.search(head):
            named = [one for one in used if set(stems(one)) <= asked]
            # A share of another share is what nobody asks for by naming only one of them.
            part = columns[named[0]] if len(named) == 1 and shares.issuperset(used) else part
        kept.append(part)
    return f"{sql[: chosen.start(1)]}{', '.join(kept)}{sql[chosen.end(1) :]}"


def _is_named_whole(column: str, asked: set[str]) -> bool:
    words = {SAME_WORDS.get(word, word) for word in stems(column)}
    return len(words) > 1 and words <= asked


def _inner_queries(sql: str) -> Iterator["re.Match[str]"]:
    """Yields the inner queries that stand for a single value."""
    for found in INNER.finditer(sql):
        if not LISTED.search(sql[max(0, found.start() - 20) : found.start()]):
            yield found


def _rows_of(inner: "re.Match[str]", tables: Mapping[str, Table]) -> int:
    """Returns how many rows an inner query finds, or 1 if its conditions are not plain."""
    table = {name.lower(): one for name, one in tables.items()}.get(inner[2].lower())
    conditions = re.split(r"\s{1,9}AND\s{1,9}", (inner[3] or "").strip(), flags=re.IGNORECASE)
    plain = [IS_VALUE.fullmatch(one.strip()) for one in conditions if one]
    if table is None or not all(plain):
        return 1
    rows = list(range(len(table.rows)))
    for found in filter(None, plain):
        names = [one.name for one in table.columns if one.name.lower() == found[1].lower()]
        if not names:
            return 1
        values = table.values(names[0])
        wanted = found[2] if found[2] is not None else found[3]
        rows = [row for row in rows if str(values[row]) == wanted]
    return len(rows)


def _with_outer_conditions(sql: str, tables: Mapping[str, Table]) -> str:
    """Adds the outer query's conditions to an inner query that finds several rows."""
    for inner in list(_inner_queries(sql)):
        table = {name.lower(): one for name, one in tables.items()}.get(inner[2].lower())
        if table is None or _rows_of(inner, tables) < 2:
            continue
        outside = sql.replace(inner[0], " ")
        changed = inner[0]
        for match in IS_VALUE.finditer(INNER.sub(" ", outside)):
            held = [one.name for one in table.columns if one.name.lower() == match[1].lower()]
            wanted = match[2] if match[2] is not None else match[3]
            values = {str(one) for one in table.values(held[0])} if held else set()
            is_asked = match[1].lower() in _words(inner[3] or "")
            if wanted in values and not is_asked:
                changed = _with_condition(changed, inner[2], match[0])
        now = INNER.fullmatch(changed)
        if now is not None and _rows_of(now, tables) == 1:
            sql = sql.replace(inner[0], changed)
    return sql


def with_months(sql: str, tables: Mapping[str, Table]) -> str:
    """Months are compared with months: a day is never equal to one."""
    lengths: dict[str, set[int]] = {}
    for table in _used(sql, tables).values():
        for one in table.of_kind("date"):
            days = (str(day) for day in table.values(one.name) if day is not None)
            lengths.setdefault(one.name.lower(), set()).update(map(len, days))
    months = {name for name, found in lengths.items() if found == {len("2026-01")}}

    def cut(found: "re.Match[str]") -> str:
        if found[2].lower() not in months:
            return found[0]
        return f"{found[1]}'" + (f"{found[3]}'" if found[3] else "")

    return LAST_OF_MONTH.sub(cut, sql) if months else sql


def _without_unasked_time(sql: str, question: str, tables: Mapping[str, Table]) -> str:
    """Drops a span of time that the question does not name and that has no rows."""
    plain = in_plain_dates(question)
    if POINT.search(plain) or left_over(plain) or RELATIVE & set(stems(question)) - PLAIN:
        return sql
    for found in list(WITHIN.finditer(sql)):
        days = _days(found[1], sql, tables)
        if days and not any(found[2] <= day <= found[3] for day in days):
            sql = re.sub(rf"\s{{1,9}}AND\s{{1,9}}{re.escape(found[0])}", "", sql)
            sql = re.sub(
                rf"(\bWHERE\s{{1,9}}){re.escape(found[0])}\s{{1,9}}AND\s{{1,9}}", r"\1", sql
            )
            sql = re.sub(rf"\s{{1,9}}WHERE\s{{1,9}}{re.escape(found[0])}", "", sql)
    return sql


def _in_the_year(sql: str, question: str, tables: Mapping[str, Table], today: date) -> str:
    """Restricts a query that lists all rows to the only year that the question asks for."""
    if "(" in sql or YEAR.search(with_sums(sql)) or re.search(r"\bORDER\b", sql, re.IGNORECASE):
        return sql
    try:
        span = read(question, today).span
    except Unclear:
        return sql
    if span is None or span.is_open or not _asks_for_one_year(question, sql, tables):
        return sql
    year = span.start.year
    if (span.start, span.end) != (date(year, 1, 1), date(year + 1, 1, 1)):
        return sql
    branches = re.split(r"(\bUNION(?:\s{1,9}ALL)?\b)", sql, flags=re.IGNORECASE)
    for place, branch in enumerate(branches[::2]):
        for held in _held(branch, question, tables):
            is_shown = held.column.name.lower() in _words(branch)
            if not _is_text(held) and str(year) in held.named and is_shown:
                condition = f"{held.column.name} = {year}"
                branches[2 * place] = _with_condition(branch, held.table, condition).rstrip() + " "
    return "".join(branches).strip()


def _asks_for_one_year(question: str, sql: str, tables: Mapping[str, Table]) -> bool:
    """Whether the question names one year, and otherwise only names of tables and rows.

    "Revenue in 2024" does. "Revenue in 2024 against the year before" needs more than that year.
    """
    if len(set(YEAR.findall(question))) != 1:
        return False
    used = _used(sql, tables)
    named = [form for held in _held(sql, question, tables) for form in held.named.values()]
    columns = [column.name for table in used.values() for column in table.columns]
    known = set(stems(" ".join([*used, *columns, *named]))) | FILLERS
    if len(used) > 1:
        known |= COMPARING
    return not {word for word in stems(question) if not word.isdecimal()} - known


def _used(sql: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    words = _words(sql)
    return {name: table for name, table in tables.items() if name.lower() in words}


def _words(sql: str) -> set[str]:
    return set(re.findall(r"\w+", sql.lower()))


def _held(sql: str, question: str, tables: Mapping[str, Table]) -> Iterator[Held]:
    """Yields the columns with several values, of which the question names some."""
    years = set(YEAR.findall(question))
    for name, table in _used(sql, tables).items():
        for column in table.columns:
            values = frozenset(str(one) for one in table.values(column.name) if one is not None)
            if len(values) < 2:
                continue
            named: dict[str, str] = {}
            if column.kind == "number" and years and _are_years(values):
                named = {one: one for one in values if one in years}
            elif column.kind == "text" and len(values) <= MOST_VALUES:
                named = named_values(values, question)
            if named:
                yield Held(name, column, values, named)


def named_values(values: frozenset[str], text: str) -> dict[str, str]:
    """Returns the values that a text names, as written there, without parts of longer ones."""
    found: dict[str, str] = {}
    for value in sorted(values, key=lambda one: (-len(one), one)):
        form = find_value(value, text)
        if form and not any(form.lower() in other.lower() for other in found.values()):
            found[value] = form
    return found


def _are_years(values: frozenset[str]) -> bool:
    numbers = [one.removesuffix(".0") for one in values]
    return all(one.isdecimal() and YEARS[0] <= int(one) <= YEARS[1] for one in numbers)


def _is_text(held: Held) -> bool:
    return held.column.kind == "text"


def _written(held: Held, value: str) -> str:
    return f"'{value}'" if _is_text(held) else value


def with_sums(sql: str) -> str:
    """Returns the query with its sums computed: "2024 - 1" asks for 2023 and not for 2024."""
    outside = sql.split("'")
    outside[::2] = [SUM.sub(_add_up, part) for part in outside[::2]]
    return "'".join(outside)


def _add_up(found: "re.Match[str]") -> str:
    left, sign, right = found.groups()
    return str(int(left) + int(right) if sign == "+" else int(left) - int(right))


def _days(column: str, sql: str, tables: Mapping[str, Table]) -> list[str]:
    """Returns the days in a column of dates, in order."""
    for table in _used(sql, tables).values():
        for one in table.of_kind("date"):
            if one.name.lower() == column.lower():
                return sorted({str(value) for value in table.values(one.name) if value is not None})
    return []


def _between(question: str, today: date, days: Sequence[str]) -> str:
    """Returns a condition for the question's time; "" if it is a day or without rows."""
    try:
        span = read(question, today).span
    except Unclear:
        return ""
    if span is None or span.is_open or (span.end - span.start).days < 2:
        return ""
    first, last = span.start.isoformat(), (span.end - timedelta(days=1)).isoformat()
    length = min(map(len, days), default=0)
    first, last = first[:length], last[:length]  # a month is compared with months
    within = [day for day in days if first <= day[:length] <= last]
    return f"BETWEEN '{first}' AND '{last}'" if within else ""


def _bare_column(sql: str, tables: Mapping[str, Table]) -> str:
    """Returns a plain column beside aggregates: SQLite takes its value from any row.

    Beside a single MIN or MAX it is of the right row, and a column with one value always is.
    """
    chosen = LIST.match(sql)
    if chosen is None or NOT_PLAIN.search(sql):
        return ""
    parts = [part.strip() for part in split_list(chosen[1])]
    made = [one.lower() for part in parts for one in AGGREGATE.findall(part)]
    if not made or (len(made) == 1 and made[0] in ("min", "max")):
        return ""
    plain = (part.split()[0] for part in parts if NAME.fullmatch(part))
    return next((name for name in plain if _varies(name, sql, tables)), "")


def _from_its_owner(sql: str, tables: Mapping[str, Table]) -> str:
    """Takes all columns from the only other table that has them, if the query's own lacks some."""
    used = list(_used(sql, tables))
    words = _words(TEXT.sub(" ", sql))
    columns = {name: {one.name.lower() for one in table.columns} for name, table in tables.items()}
    wanted = words & set().union(*columns.values())
    if len(used) != 1 or wanted <= columns[used[0]]:
        return sql
    owners = [name for name in tables if wanted <= columns[name] and _holds_all(name, sql, tables)]
    owner = _in_all(owners, tables)
    return re.sub(rf"\b{re.escape(used[0])}\b", owner, sql, flags=re.IGNORECASE) if owner else sql


def _in_all(names: Sequence[str], tables: Mapping[str, Table]) -> str:
    """Returns the table whose rows all these have, or "". A widget's table goes by two names."""
    rows = {name: {tuple(row) for row in tables[name].rows} for name in names}
    least = min(names, key=lambda one: len(tables[one].rows), default="")
    return least if all(rows[least] <= rows[name] for name in names) else ""


def _holds_all(table: str, sql: str, tables: Mapping[str, Table]) -> bool:
    """Whether the columns of a table hold the texts that the query asks for in them."""
    return all(match[2] in _texts(table, match[1], tables) for match in EQUALS.finditer(sql))


def _with_foreign(sql: str, tables: Mapping[str, Table]) -> str:
    """Takes plain columns from the other table that has them, under the same conditions.

    Nothing is changed unless these find one row there.
    """
    chosen = LIST.match(sql)
    is_plain = chosen and not NOT_PLAIN.search(sql) and not JOINS.search(sql)
    if chosen is None or not is_plain or TAKES_ROWS.search(sql) or UNION_OR_LIMIT.search(sql):
        return sql
    used = list(_used(sql, tables))
    where = re.search(r"\sWHERE\s", sql, re.IGNORECASE)
    if len(used) != 1 or where is None:
        return sql
    conditions = sql[where.end() :].strip("; \n\t")
    own = {one.name.lower() for one in tables[used[0]].columns}
    kept = []
    for part in (one.strip() for one in split_list(chosen[1])):
        name = _plain_name(part)
        if name and name not in own:
            inner = {one: f"(SELECT {name} FROM {one} WHERE {conditions})" for one in tables}
            owners = [one for one in tables if _has_one_row(inner[one], name, one, tables)]
            owner = _in_all(owners, tables)
            part = f"{inner[owner]} AS {name}" if owner else part
        kept.append(part)
    return f"{sql[: chosen.start(1)]}{', '.join(kept)}{sql[chosen.end(1) :]}"


def _has_one_row(query: str, column: str, table: str, tables: Mapping[str, Table]) -> bool:
    """Whether an inner query with plain conditions finds one row of a table with this column."""
    inner = INNER.fullmatch(query)
    if inner is None or column not in {one.name.lower() for one in tables[table].columns}:
        return False
    conditions = re.split(r"\s{1,9}AND\s{1,9}", inner[3] or "", flags=re.IGNORECASE)
    known = {one.name.lower() for one in tables[table].columns}
    plain = [IS_VALUE.fullmatch(one.strip()) for one in conditions]
    return all(one and one[1].lower() in known for one in plain) and _rows_of(inner, tables) == 1


def _without_foreign(sql: str, tables: Mapping[str, Table]) -> str:
    """Drops plain columns of other tables than the query's, if it has columns of its own.

    Models often take the figures of two widgets from one of them.
    """
    chosen = LIST.match(sql)
    if chosen is None or NOT_PLAIN.search(sql) or "." in chosen[1]:
        return sql
    used = _used(sql, tables)
    own = {column.name.lower() for table in used.values() for column in table.columns}
    every = {column.name.lower() for table in tables.values() for column in table.columns}
    parts = [part.strip() for part in split_list(chosen[1])]
    kept = [part for part in parts if (name := _plain_name(part)) in own or name not in every]
    if not used or not kept or len(kept) == len(parts):
        return sql
    return f"{sql[: chosen.start(1)]}{', '.join(kept)}{sql[chosen.end(1) :]}"


def _plain_name(part: str) -> str:
    """Returns the column that an item of a list names, or "" if it computes something."""
    return part.split()[0].lower() if NAME.fullmatch(part) else ""


def _varies(name: str, sql: str, tables: Mapping[str, Table]) -> bool:
    """Whether a column holds several values in the tables of the query, or is not theirs.

    Where the query asks for one value of it, it holds that one.
    """
    column = name.rpartition(".")[2].lower()
    if any(found[1].lower() == column for found in IS_VALUE.finditer(sql)):
        return False
    held = [
        set(map(str, table.values(own.name)))
        for table in _used(sql, tables).values()
        for own in table.columns
        if own.name.lower() == column
    ]
    return not held or any(len(values) > 1 for values in held)


def _with_one_extreme(sql: str, tables: Mapping[str, Table]) -> str:
    """Keeps only the first MIN or MAX beside plain columns, so that they are of its row."""
    chosen = LIST.match(sql)
    if chosen is None or not _bare_column(sql, tables):
        return sql
    parts = [part.strip() for part in split_list(chosen[1])]
    extreme = next((part for part in parts if EXTREME.fullmatch(part)), "")
    kept = [part for part in parts if NAME.fullmatch(part)]
    if not extreme:
        return sql
    return f"SELECT {', '.join([*kept, extreme])}{sql[chosen.end(1) :]}"


def row_of_extreme(sql: str, answer: Answer) -> str:
    """Returns a query for the rows of which another gives the highest or the first value only.

    Whoever asks which ship is the oldest wants its name; small models often select the year alone.
    """
    chosen = LIST.match(sql)
    if chosen is None or NOT_PLAIN.search(sql) or JOINS.search(sql) or len(answer.rows) != 1:
        return ""
    rest = sql[chosen.end(1) :].strip("; \n")
    if FIRST_ROW.search(rest):
        return f"SELECT * {rest}" if not AGGREGATE.search(chosen[1]) else ""
    extreme = EXTREME.fullmatch(chosen[1].strip())
    value = answer.rows[0][0]
    if extreme is None or value is None or UNION_OR_LIMIT.search(rest):
        return ""
    column = extreme[0].partition("(")[2].partition(")")[0].strip()
    wanted = "'" + value.replace("'", "''") + "'" if isinstance(value, str) else value
    return f"SELECT * FROM (SELECT * {rest}) WHERE {column} = {wanted}"


def split_list(text: str) -> list[str]:
    """Splits a list at the commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _unlabelled(sql: str, question: str, tables: Mapping[str, Table], answer: Answer) -> str:
    """Says what to take, if the query gives several numbers without names for them."""
    is_bare = len(answer.rows) > 1 and len(answer.columns) == 1
    if not is_bare or UNION_OR_LIMIT.search(sql):
        return ""
    if add_up(sql, question, tables, answer) != sql:
        return f"The question asks for a total; the query gives its {len(answer.rows)} parts."
    wanted = set(stems(question))
    for table in _used(sql, tables).values():
        for column in table.of_kind("text"):
            values = dict.fromkeys(str(one) for one in table.values(column.name) if one)
            if column.name.lower() in _words(sql) or not 1 < len(values) <= MOST_VALUES:
                continue
            scores = {one: len(wanted & set(stems(one))) / len(stems(one) or "-") for one in values}
            best = max(scores, key=lambda one: scores[one])
            if scores[best] and list(scores.values()).count(scores[best]) == 1:
                return f"It takes all rows. Say which is meant: WHERE {column.name} = '{best}'."
    return ""
