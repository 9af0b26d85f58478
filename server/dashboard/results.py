"""Collects what a plan has brought so far: tables under plain names, query results, charts."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from server.chat import Json
from server.dashboard import charts
from server.dashboard.conditions import explain_column, row_of_extreme
from server.dashboard.inventory import ALIAS_CHARACTERS, DESCRIPTION_CHARACTERS, slug
from server.dashboard.materials import Material
from server.dashboard.prompt import Prompt, document_text
from server.dashboard.tickers import is_ticker
from server.data.cells import CURRENCIES, as_number, is_shortened, reads_as_number, unit
from server.data.describe import rounded, short
from server.data.periods import with_days
from server.data.sql import Answer, Refused, query
from server.data.tables import Cell, Column, Table, from_grid, unique_names
from server.events import Artifact
from server.language.ranking import stems
from server.system.limits import one_line

NAME_CHARACTERS = 48
LONGEST_HEADER = 400
SQL_CHARACTERS = 700
ROWS_TOLD = 20
MOST_LINES = 200
FIRST_ROWS = 3
MOST_CELLS = 12
"""A row with more cells is not told beside the figure that was taken from it."""
MOST_COLUMNS = 40
VALUES_TOLD = 12
LEAST_CHARACTERS = 400
DECIMALS, DIGITS = 2, 4
YEARS = (1900, 2100)
UNION = re.compile(r"\bUNION(?:\s+ALL)?\b", re.IGNORECASE)
SELECTED = re.compile(r"\s{0,99}SELECT\s(?!\s{0,99}DISTINCT\b)", re.IGNORECASE)
INNER_SELECT = re.compile(r"\(\s{0,99}SELECT\b", re.IGNORECASE)
FROM_TABLE = re.compile(r"\sFROM\s{1,9}(\w{1,200})", re.IGNORECASE)
TABLE_READ = re.compile(r"\b(?:FROM|JOIN)\s{1,9}(\w{1,200})", re.IGNORECASE)
WORD = re.compile(r"'[^']*'|\w{1,200}|[<>=!]{1,2}")
GIVEN_NAME = re.compile(r"\bAS\s{1,9}\w{1,80}", re.IGNORECASE)
ORDERED = re.compile(r"\bORDER\s+BY\b", re.IGNORECASE)
UNIT = re.compile(rf"[(\[]([^()\[\]]{{1,20}})[)\]]\s*$|([{CURRENCIES}%])")
HEADER = re.compile(r"'[^']*'|\"([^\"]{1,200})\"|`([^`]{1,200})`|\[([^\[\]]{1,200})\]")
"""A text, which stays as it is, or a name in quotes of any kind."""
COMPARED = re.compile(r"(?:[=<>(,]|\b(?:LIKE|IN|GLOB))\s{0,9}$", re.IGNORECASE)
"""What follows this is a text, whatever its quotes: name = "Net Income"."""
LONGEST_COMPARISON = 20
LONGEST_BEFORE = 60
REAL_DIVISION = "* 1.0 /"
QUOTED_OR_DIVISION = re.compile(
    r"'[^']*'|\"[^\"]*\"|/(?!\s{0,9}(\d{1,9})\s{0,9}\)?\s{0,9}\*\s{0,9}\1\b)"
)
"""Whoever writes 2014 / 10 * 10 wants the decade."""
WHOLE = re.compile(r"\bAS\s{1,9}INT(?:EGER)?\s{0,9}\)[^'\"/,]{0,40}$", re.IGNORECASE)
"""Before a division: what was made a whole number. A month is so made a quarter."""
ASCENDING = re.compile(
    r"(\bORDER\s{1,9}BY\s{1,9}[\w.]{1,160})(?:\s{1,9}ASC)?(\s{1,9}LIMIT\b)", re.IGNORECASE
)
"""An order by one column from the lowest on, of which only the first rows are taken."""
AGGREGATED = re.compile(r"(sum|total|avg|min|max|count)\s?\(\s*(\w{1,80}|\*)\s*\)", re.IGNORECASE)
MADE_BY = {
    "sum": "sum of", "total": "sum of", "avg": "average", "min": "lowest", "max": "highest",
    "count": "number of",
}  # fmt: skip
LONGEST_LABEL = 60
QUOTED_OR_COMMENT = re.compile(r"'[^']*'|\"[^\"]*\"|--[^\n]*|/\*[^*]*\*/")


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of a query, under the name that later steps use for it."""

    name: str
    sql: str
    answer: Answer

    def line(self, row: tuple[Cell, ...]) -> str:
        """Writes a row for people: each value behind its column's name."""
        cells = zip(self.answer.columns, row, strict=True)
        return ", ".join(f"{_label(name)}: {write_value(cell)}" for name, cell in cells)


@dataclass(slots=True)
class Results:
    question: str
    characters: int
    """The most characters that the model is shown of each source."""
    tables: dict[str, Table] = field(default_factory=dict)
    sources: list[Material] = field(default_factory=list)
    computed: list[Computed] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    prompt: Prompt = field(default_factory=Prompt)
    """Notes what was cut, and which pages were read."""
    _by_alias: dict[str, list[str]] = field(default_factory=dict)
    """The table names of each widget. A widget that is read for several things has several."""
    _owners: dict[str, Material] = field(default_factory=dict)
    _used: list[Material] = field(default_factory=list)
    _read: list[Material] = field(default_factory=list)
    _from_zero: set[str] = field(default_factory=set)
    """Queries whose rows the text counts from 0."""

    def tell(self, material: Material, alias: str, *, is_read: bool = True) -> str:
        """Describes a source for the model, or only names it if it was described before.

        `is_read` says that it was read for this question, even if its data came earlier.
        """
        self._read += [material] if is_read else []
        if any(one is material for one in self.sources):
            return f"This is here already: {self.columns()}"
        return self.add(material, alias)

    def columns(self) -> str:
        return "; ".join(
            f"{name} ({', '.join(column.name for column in table.columns)})"
            for name, table in self.tables.items()
        )

    def read_now(self) -> list[Material]:
        """Returns what was read for this question, even if its data came in an earlier turn."""
        return [
            one for one in self.sources if one.is_new or any(one is other for other in self._read)
        ]

    def cited(self) -> list[Material]:
        """Returns what the answer is based on: sources of queries, else all that was read."""
        read = self.read_now()
        if not self._used:
            return read
        used = [one for one in self.sources if any(one is other for other in self._used)]
        return used + [one for one in read if not one.tables]

    def owner(self, table: str) -> Material | None:
        """Returns the source that a table came from."""
        return self._owners.get(table.lower())

    def unused(self) -> list[Material]:
        """Returns what was read for this question and has tables that no query has used."""
        return [
            one
            for one in self.read_now()
            if one.tables and not any(one is other for other in self._used)
        ]

    def uses_all_read(self) -> bool:
        """Whether queries have used every source that was read in this turn."""
        read = [one for one in self.sources if one.is_new and one.tables]
        return all(any(one is other for other in self._used) for one in read)

    def _note_use(self, sql: str) -> None:
        """Marks the sources of a query's tables as used, also through other queries' results."""
        queries, waiting = {one.name: one.sql for one in self.computed}, [sql]
        while waiting:
            words = set(re.findall(r"\w+", waiting.pop().lower()))
            names = {
                one for alias in words & self._by_alias.keys() for one in self._by_alias[alias]
            }
            if not words & {name.lower() for name in names}:
                words |= {name.lower() for name in names}
            self._used += [self._owners[name] for name in words & self._owners.keys()]
            waiting += [queries.pop(name) for name in words & queries.keys()]

    def add(self, material: Material, alias: str) -> str:
        """Adds the tables of a source. Returns their description for the model."""
        self.sources.append(material)
        parts = [f"Problem: {problem}" for problem in material.problems]
        base = _table_name(alias, material)
        for document in material.documents:
            for table in document.tables:
                typed = with_amounts(with_days(table))
                named = with_plain_names(with_parameters(typed, material))
                name = self._free_name(
                    base if len(material.tables) == 1 else f"{base}_{table.name}"
                )
                self.tables[name] = named
                self._owners[name.lower()] = material
                parts.append(describe_table(name, named, self.characters, self.question))
                if alias:
                    self._by_alias.setdefault(alias, []).append(name)
            without = replace(document, tables=())
            text = document_text(self.question, without, self.characters, self.prompt)
            parts += [text] if text.strip() else []
        if not parts:
            parts = ["no data came"]
        told = fenced("\n".join(parts), material.name)
        if material.tables and alias in self._joined():
            told += f"\nThe table {alias} holds the rows of all tables of this widget."
        return told

    def described(self, materials: Sequence[Material] = ()) -> list[str]:
        """Describes the tables for a prompt about SQL. A widget's tables become one if they fit.

        If `materials` is given, describes only the tables of these sources.
        """
        joined = {} if materials else self._joined()
        parts = {name for alias in joined for name in self._by_alias[alias]}
        kept = {
            name: table
            for name, table in self.tables.items()
            if name not in parts
            and (not materials or any(self._owners[name.lower()] is one for one in materials))
        }
        found = joined | kept
        told = [
            self._about(name) + describe_table(name, table, SQL_CHARACTERS, self.question)
            for name, table in found.items()
        ]
        shares = [f"table {name}: {self._share(name)}" for name in self.tables if name in parts]
        return [*told, *shares]

    def _about(self, name: str) -> str:
        """Returns a line with the description of the table's widget: often only it has the unit."""
        owner = self._owners.get(self._by_alias.get(name, [name])[0].lower())
        about = one_line(owner.widget.description) if owner and owner.widget else ""
        return f"{about[:DESCRIPTION_CHARACTERS]}:\n" if about else ""

    def _share(self, name: str) -> str:
        """Returns what distinguishes the rows of this table from others of the same widget."""
        table = self.tables[name]
        others = next(names for names in self._by_alias.values() if name in names)
        same = [
            [row[place] for one in others for row in self.tables[one].rows]
            for place, _ in enumerate(table.columns)
        ]
        told = [
            f"{column.name} = {_quoted(values.pop())}"
            for place, column in enumerate(table.columns)
            if len(values := {row[place] for row in table.rows}) == 1 and len(set(same[place])) > 1
        ]
        return f"the rows of it with {' and '.join(told[:2])}" if told else "a part of its rows"

    def _joined(self) -> dict[str, Table]:
        """Returns, by alias, the joined rows of widgets that were read for several things."""
        found: dict[str, Table] = {}
        for alias, names in self._by_alias.items():
            tables = [self.tables[name] for name in names]
            columns = {tuple(column.name for column in table.columns) for table in tables}
            if len(tables) > 1 and len(columns) == 1 and alias not in self.tables:
                rows = [row for table in tables for row in table.rows]
                cut = sum(table.cut for table in tables)
                found[alias] = replace(tables[0], name=alias, rows=rows, cut=cut)
        return found

    async def run(self, sql: str) -> str:
        """Runs a query and returns its rows as text. Raises Refused with the reason."""
        answer = await self.query(sql)
        self._note_use(sql)
        name = f"q{1 + max((int(one.name[1:]) for one in self.computed), default=0)}"
        others = await self._other_cells(sql, answer)
        self.computed.append(Computed(name, sql, answer))
        rows = [", ".join(_told(cell) for cell in row) for row in answer.rows[:ROWS_TOLD]]
        more = f"\n… {len(answer.rows)} rows in all" if len(answer.rows) > ROWS_TOLD else ""
        rows = ["(no row fits)"] if is_empty(answer) else rows
        head = ", ".join(answer.columns)
        found = f"\nThe row it is from: {others}" if others else ""
        return fenced(f"{name} ({head}):\n" + "\n".join(rows) + more + found)

    async def _other_cells(self, sql: str, answer: Answer) -> str:
        """Returns what else stands in the only row from which an extreme was taken."""
        try:
            rows = await self.query(wider) if (wider := row_of_extreme(sql, answer)) else None
        except Refused:
            return ""
        if rows is None or len(rows.rows) != 1 or len(rows.columns) > MOST_CELLS:
            return ""
        known = answer.rows[0]
        cells = zip(rows.columns, rows.rows[0], strict=True)
        others = [(name, cell) for name, cell in cells if cell is not None and cell not in known]
        return ", ".join(f"{_label(name)}: {write_value(cell)}" for name, cell in others)

    async def query(self, sql: str) -> Answer:
        """Runs SQL over all tables read and computed so far. Divisions are real: 1 / 2 is 0.5."""
        tables = self.all_tables()
        plain = with_real_division(with_plain_columns(without_comments(sql), tables))
        plain = with_unknown_last(plain)
        try:
            answer = await asyncio.to_thread(query, tables, plain)
        except Refused as error:
            more = explain_column(str(error), sql, self.tables)
            raise Refused(f"{error}{more}") from error
        columns = tuple(one.replace(REAL_DIVISION, "/") for one in answer.columns)
        return replace(answer, columns=columns)

    def with_origins(self, sql: str) -> str:
        """Rows of several tables of a widget, put together, stay in order and say whose they are.

        A plain UNION sorts them and drops what is equal, so that nobody knows whose figure it is.
        """
        branches = UNION.split(sql)
        heads = [_read_branch(branch) for branch in branches]
        names = [head.table.lower() for head in heads if head]
        same = [one for one in self._by_alias.values() if set(names) <= set(map(str.lower, one))]
        if len(branches) == 1 or len(names) < len(branches) or INNER_SELECT.search(sql):
            return sql
        values = _different_values(branches) if len(set(names)) == 1 else []
        if not values and (not same or len(set(names)) < len(branches)):
            return sql
        found = []
        for place, (head, branch) in enumerate(zip(heads, branches, strict=True)):
            whose = values[place] if values else self._whose(head.table) if head else ""
            if head is None or not whose:
                return sql
            found.append(f"SELECT {_quoted(whose)} AS whose, {branch[head.columns_at :]}")
        return " UNION ALL ".join(found)

    def _whose(self, name: str) -> str:
        """Returns the argument by which the table differs from the others of its widget."""
        owner = self._owners[name.lower()]
        shown = owner.source.arguments if owner.source else {}
        others = next(names for names in self._by_alias.values() if name in names)
        sources = [self._owners[one.lower()].source for one in others]
        for key, value in shown.items():
            if len({str(one.arguments.get(key)) for one in sources if one}) == len(others):
                return str(value)
        return ""

    def of_newest(self, sql: str, question: str) -> str:
        """Takes the table that was read for this question, if the query takes an earlier one's.

        Both are of one widget, and the question does not name what the earlier one is of.
        """
        used = [name for name in self.tables if re.search(rf"\b{re.escape(name)}\b", sql, re.I)]
        if len(used) != 1:
            return sql
        now = self.read_now()
        same = next((names for names in self._by_alias.values() if used[0] in names), [])
        new = [name for name in same if any(self._owners[name.lower()] is one for one in now)]
        if len(new) != 1 or new == used or self._whose(used[0]).lower() in question.lower():
            return sql
        return re.sub(rf"\b{re.escape(used[0])}\b", new[0], sql, flags=re.IGNORECASE)

    def is_repeated(self) -> bool:
        """Takes the last query away again, if an earlier one asked for the same and found it.

        Two queries with other values or other tables are about other things, whatever they find.
        """
        *earlier, last = self.computed
        same = [one for one in earlier if one.answer.rows == last.answer.rows]
        if all(self._subject(one.sql) != self._subject(last.sql) for one in same):
            return False
        self.computed.pop()
        return True

    def _subject(self, sql: str) -> tuple[set[str], list[list[tuple[Cell, ...]]]]:
        """Returns a query without the names it gives, and the rows of the tables it reads."""
        tables = {name.lower(): table.rows for name, table in self.all_tables().items()}
        words = {one.lower() for one in WORD.findall(GIVEN_NAME.sub(" ", sql))}
        read = sorted({name.lower() for name in TABLE_READ.findall(sql)} & tables.keys())
        return words - set(read), [tables[name] for name in read]

    async def draw(self, given: Json) -> str:
        """Draws a chart of a query's rows. Raises Refused if it cannot be drawn."""
        table = await self._queried(given)
        columns = {column.name.lower(): column.name for column in table.columns}
        x = columns.get(str(given.get("x")).lower(), "")
        ys = [
            columns[str(one).lower()] for one in given.get("y", []) if str(one).lower() in columns
        ]
        x = x or next((one.name for one in table.columns if one.name not in ys), "")
        ys = ys or [one.name for one in table.of_kind("number") if one.name != x]
        chart = charts.build(table, given.get("kind", "line"), x, ys)
        if chart is None:
            names = ", ".join(columns.values())
            raise Refused(f"A chart needs x and y among {names}; y must hold numbers.")
        self._note_use(str(given.get("sql", "")))
        self.artifacts.append(chart.artifact)
        return f"The chart {fence(table.name)} is drawn: {chart.about}."

    async def show(self, given: Json) -> str:
        table = await self._queried(given)
        self._note_use(str(given.get("sql", "")))
        self.artifacts.append(charts.show(table))
        return f"The table {fence(table.name)} is shown: {self.artifacts[-1].description}."

    def cells(self) -> Iterator[Cell]:
        """Yields every cell that was computed or read."""
        for one in self.computed:
            yield from chain.from_iterable(one.answer.rows)
        for table in self.tables.values():
            yield from table.cells()

    def value(self, name: str, row: int | None, column: str) -> Cell:
        """Returns a cell of a query's rows, counted from 1. A row's only number has any name.

        Once a text asks for row 0, rows count from 0. Raises LookupError if there is no such cell.
        """
        found = next(one for one in reversed(self.computed) if one.name == name)
        names = [one.lower() for one in found.answer.columns]
        if row == 0:
            self._from_zero.add(name)
        is_first = row is None or row == 0
        place = 0 if is_first else int(row or 0) - (name not in self._from_zero)
        cells = found.answer.rows[place]
        if column.lower() in names:
            return cells[names.index(column.lower())]
        numbers = [cell for cell in cells if isinstance(cell, int | float)]
        if len(numbers) != 1:
            raise LookupError(column)
        return numbers[0]

    def names(self, name: str, column: str) -> list[str]:
        """Returns the different texts in a column of a query's rows; [] if the rows are in
        order."""
        found = next(one for one in reversed(self.computed) if one.name == name)
        columns = [one.lower() for one in found.answer.columns]
        if column.lower() not in columns or ORDERED.search(found.sql):
            return []
        cells = [row[columns.index(column.lower())] for row in found.answer.rows]
        return list(dict.fromkeys(cell for cell in cells if isinstance(cell, str)))

    async def _queried(self, given: Json) -> Table:
        sql, title = str(given.get("sql", "")), str(given.get("title", "")).strip()
        answer = await self.query(sql)
        if not answer.rows:
            raise Refused("The query finds no rows.")
        return from_grid(answer.columns, answer.rows, title or "Result")

    def all_tables(self) -> dict[str, Table]:
        """Returns what was read and computed, so that a query can use the result of another."""
        found = {**self._joined(), **self.tables}
        for alias, names in self._by_alias.items():
            if len(names) == 1 and alias not in found:
                found[alias] = self.tables[names[0]]
        for one in self.computed:
            if one.answer.rows and one.name not in found:
                found[one.name] = from_grid(one.answer.columns, one.answer.rows, one.name)
        return found

    def _free_name(self, name: str) -> str:
        plain = slug(name, NAME_CHARACTERS) or "data"
        return unique_names([*self.tables, plain])[-1]


def with_plain_names(table: Table) -> Table:
    """Returns the table with column names that need no quotes in SQL."""
    names = _plain_names([column.name for column in table.columns])
    columns = [
        replace(column, name=name, unit=column.unit or _unit_in(column.name))
        for name, column in zip(names, table.columns, strict=True)
    ]
    return replace(table, columns=tuple(columns))


def _plain_names(headers: Sequence[str]) -> list[str]:
    """Returns names for SQL. Of long headers that would be cut to the same name, each keeps the
    words in which it differs, such as its year."""
    cut = [slug(header) or "column" for header in headers]
    whole = [slug(header, LONGEST_HEADER).split("_") for header in headers]
    same: dict[str, list[list[str]]] = {}
    for name, words in zip(cut, whole, strict=True):
        same.setdefault(name, []).append(words)
    shared = {name: _shared_words(group) for name, group in same.items()}
    found = []
    for name, words in zip(cut, whole, strict=True):
        first, last = shared[name]
        own = "_".join(words[first : len(words) - last])[-NAME_CHARACTERS // 2 :].strip("_")
        found.append(f"{name[: ALIAS_CHARACTERS - len(own) - 1].strip('_')}_{own}" if own else name)
    return unique_names(found)


def _shared_words(names: Sequence[Sequence[str]]) -> tuple[int, int]:
    """Returns how many words all names begin with, and with how many others they end."""
    most = min(map(len, names))
    differ = [len(set(words)) > 1 for words in zip(*names, strict=False)]
    first = differ.index(True) if True in differ else most
    ends = [len({name[-place] for name in names}) > 1 for place in range(1, most - first + 1)]
    return first, ends.index(True) if True in ends else len(ends)


def with_amounts(table: Table) -> Table:
    """Makes amounts in several units numbers, with which SQL can compute: 4.5% below $1,200.

    A last column has the unit of each row, if there is one. Tables with a single column of amounts
    stay as they are: their rows are looked up and not compared.
    """
    places = [place for place, _ in enumerate(table.columns) if _has_mixed_amounts(table, place)]
    numeric = len(table.of_kind("number"))
    units = [{unit(str(row[place])) for place in places} - {""} for row in table.rows]
    if not places or len(places) + numeric < 2 or any(len(one) > 1 for one in units):
        return table
    columns = [
        replace(column, kind="number") if place in places else column
        for place, column in enumerate(table.columns)
    ]
    rows = [
        (*(as_number(cell) if place in places and isinstance(cell, str) else cell
           for place, cell in enumerate(row)), "".join(own) or None)
        for row, own in zip(table.rows, units, strict=True)
    ]  # fmt: skip
    return replace(table, columns=(*columns, Column("unit", "text")), rows=rows)


def _has_mixed_amounts(table: Table, place: int) -> bool:
    """Whether all texts of a column are amounts, some in percent and some in one currency or none.

    $3.4T stays a text, as it is easier to read.
    """
    cells = [row[place] for row in table.rows if row[place] is not None]
    texts = [cell for cell in cells if isinstance(cell, str)]
    if table.columns[place].kind != "text" or not texts or len(texts) < len(cells):
        return False
    units = {unit(text) for text in texts}
    is_mixed = "%" in units and len(units) > 1 and len(units - {"", "%"}) <= 1
    return is_mixed and all(reads_as_number(one) and not is_shortened(one) for one in texts)


def _unit_in(header: str) -> str:
    """Returns the unit that a header gives: Revenue ($m), Weight %."""
    found = UNIT.search(header)
    return one_line(next(filter(None, found.groups()), "")) if found else ""


def with_plain_columns(sql: str, tables: Mapping[str, Table]) -> str:
    """Replaces quoted headers, as the dashboard shows them, by the names of the columns."""
    columns = {column.name for table in tables.values() for column in table.columns}

    def write(found: re.Match[str]) -> str:
        header = next((text for text in found.groups() if text), "")
        before = sql[max(0, found.start() - LONGEST_COMPARISON) : found.start()]
        is_known = not header or header.lower() in columns or COMPARED.search(before)
        plain = slug(header)
        return found[0] if is_known or plain not in columns else plain

    return HEADER.sub(write, sql)


def with_real_division(sql: str) -> str:
    """Makes divisions real: SQLite drops the remainder of whole numbers, which ratios need."""

    def write(found: re.Match[str]) -> str:
        is_whole = WHOLE.search(sql[max(0, found.start() - LONGEST_BEFORE) : found.start()])
        return REAL_DIVISION if found[0] == "/" and not is_whole else found[0]

    return QUOTED_OR_DIVISION.sub(write, sql)


def with_unknown_last(sql: str) -> str:
    """Puts empty cells last in the rows of a LIMIT: what has no price is not the cheapest."""
    return ASCENDING.sub(r"\1 ASC NULLS LAST\2", sql)


def without_comments(sql: str) -> str:
    """Removes comments, whose apostrophes and slashes would be taken for texts and divisions."""
    return QUOTED_OR_COMMENT.sub(lambda found: found[0] if found[0][0] in "'\"" else " ", sql)


def is_empty(answer: Answer) -> bool:
    return all(cell is None for row in answer.rows for cell in row)


def has_only_numbers(answer: Answer) -> bool:
    return all(isinstance(cell, int | float) for row in answer.rows for cell in row)


def with_parameters(table: Table, material: Material) -> Table:
    """Adds what the source was read for as columns, if its rows lack it: a year, a symbol."""
    widget, source = material.widget, material.source
    if widget is None or source is None:
        return table
    names = {slug(column.name) for column in table.columns}
    added = [
        (param.name, source.arguments[param.name])
        for param in widget.params
        if (param.options or is_ticker(param))
        and isinstance(source.arguments.get(param.name), str | int | float)
        and slug(param.name) not in names
    ]
    if not added or not table.rows:
        return table
    columns = [
        Column(name, "text" if isinstance(value, str) else "number") for name, value in added
    ]
    more = tuple(value for _, value in added)
    rows = [(*row, *more) for row in table.rows]
    return replace(table, columns=(*table.columns, *columns), rows=rows)


def describe_table(name: str, table: Table, characters: int, question: str = "") -> str:
    """Describes a table for SQL: its columns with their types and values, then rows.

    Of a wide table, shows the first columns and those in the question, and only names of others.
    """
    places = _shown_columns(table, question)
    columns = [f"  {table.columns[one].name} ({_describe_column(table, one)})" for one in places]
    others = [one.name for place, one in enumerate(table.columns) if place not in places]
    columns += [f"  and, without their rows: {', '.join(others)}"] if others else []
    head = f"table {name}, {len(table.rows)} rows, columns:\n" + "\n".join(columns)
    if table.cut:
        head += f"\n({table.cut} more rows came and were left out)"

    def write(row: tuple[Cell, ...]) -> str:
        return ", ".join(_told(row[place]) for place in places)

    rows = [write(row) for row in table.rows[:MOST_LINES]]
    room = max(characters - len(head), LEAST_CHARACTERS)
    is_whole = len(table.rows) == len(rows) and sum(len(row) + 1 for row in rows) <= room
    if not is_whole:
        rows = [*rows[:FIRST_ROWS], "…", write(table.rows[-1])]
    return f"{head}\n{'all rows' if is_whole else 'some rows'}:\n" + "\n".join(rows)


def _shown_columns(table: Table, question: str) -> list[int]:
    every = range(len(table.columns))
    if len(every) <= MOST_COLUMNS:
        return list(every)
    wanted = set(stems(question))
    named = [one for one in every if wanted & set(stems(table.columns[one].name))]
    return sorted({*every[: MOST_COLUMNS // 2], *named[: MOST_COLUMNS // 2]})


def _describe_column(table: Table, place: int) -> str:
    column = table.columns[place]
    values = [row[place] for row in table.rows if row[place] is not None]
    numbers = [value for value in values if isinstance(value, int | float)]
    if column.kind == "number" and numbers:
        ends = [_told(min(numbers)), _told(max(numbers))]
        unit = f" in {column.unit}" if column.unit else ""
        return f"number{unit}: {' to '.join(dict.fromkeys(ends))}"
    texts = sorted({str(value) for value in values}) if column.kind == "date" else []
    if texts:
        return f"date: {' to '.join(dict.fromkeys([texts[0], texts[-1]]))}"
    different = list(dict.fromkeys(values))
    names = [f"'{short(value)}'" for value in different[:VALUES_TOLD]]
    more = f", … {len(different)} values" if len(different) > VALUES_TOLD else ""
    return f"text: {', '.join(names)}{more}" if names else "empty"


def fence(text: str) -> str:
    """Escapes data tags in the text, so that data cannot end the fence around it."""
    return re.sub(r"<(?=\s*/?\s*data\b)", "&lt;", text, flags=re.IGNORECASE)


def fenced(text: str, name: str = "") -> str:
    """Returns the text between data tags, which mark it as material."""
    title = f' name="{fence(one_line(name))}"' if name else ""
    return f"<data{title}>\n{fence(text)}\n</data>"


def write_value(value: Cell) -> str:
    """Writes a number for people: with thousands separators and no more decimals than needed."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return short(value)
    if isinstance(value, float):
        value = rounded(value, DECIMALS, DIGITS) if abs(value) < 1e15 else value
        value = int(value) if value.is_integer() and abs(value) < 2**53 else value
    is_year = isinstance(value, int) and YEARS[0] <= value <= YEARS[1]
    return str(value) if is_year else f"{value:,}"


def _label(column: str) -> str:
    """Returns a column's name as people write it. A computation without a name is told in words."""
    if made := AGGREGATED.fullmatch(column.strip()):
        column = f"{MADE_BY[made[1].lower()]} {made[2]}" if made[2] != "*" else "number of rows"
    elif len(column) > LONGEST_LABEL or INNER_SELECT.search(column):
        column = "result"
    words = column.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _told(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.10g}" if abs(cell) < 1e10 else f"{cell:.2f}"
    return short(cell)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A part of a UNION: where its columns begin, and the table that it reads."""

    columns_at: int
    table: str


def _read_branch(sql: str) -> _Branch | None:
    begun = SELECTED.match(sql)
    table = FROM_TABLE.search(sql, begun.end()) if begun else None
    if not begun or not table or ";" in sql[begun.end() : table.start()]:
        return None
    return _Branch(begun.end(), table[1])


def _different_values(branches: Sequence[str]) -> list[str]:
    """Returns the only text by which the parts of a UNION differ, for each part, or []."""
    texts = [re.findall(r"'([^']*)'", branch) for branch in branches]
    shapes = {" ".join(re.sub(r"'[^']*'", "?", branch).split()) for branch in branches}
    if len(shapes) > 1:
        return []
    places = [column for column in zip(*texts, strict=True) if len(set(column)) == len(branches)]
    return list(places[0]) if len(places) == 1 else []


def _quoted(value: Cell) -> str:
    return f"'{str(value).replace(chr(39), chr(39) * 2)}'" if isinstance(value, str) else str(value)


def _table_name(alias: str, material: Material) -> str:
    """Returns the alias with the values that distinguish its data: income_statement_aapl."""
    arguments = material.source.arguments if material.source else {}
    widget = material.widget
    shown = widget.arguments if widget else {}
    symbols = [
        str(value)
        for name, value in arguments.items()
        if name.lower() in ("symbol", "ticker", "symbols", "tickers") and isinstance(value, str)
    ]
    changed = [
        str(value)
        for name, value in arguments.items()
        if value != shown.get(name) and isinstance(value, str | int) and str(value) not in symbols
    ]
    return "_".join([alias or slug(material.name), *symbols, *changed])
