"""Makes charts and tables from fetched rows. Code takes the rows; a model may choose columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from server.artifacts import MOST_ROWS, ROUND, Kind
from server.asking.ask import Means, ask_json
from server.dashboard.figures.question import best_column
from server.dashboard.wishes import named_kind
from server.data.tables import Cell, Column, Table
from server.events import Artifact
from server.language.ranking import stems
from server.schemas.bounded import closed

MOST_SLICES = 12
MOST_SERIES = 8
SYSTEM = "You choose how to chart a table for a question: the kind and the columns."


@dataclass(frozen=True, slots=True)
class Chart:
    kind: Kind
    x: str
    y: tuple[str, ...]
    rows: list[dict[str, Cell]]
    name: str
    of_rows: int
    """The number of all rows, with those that were thinned out or left out before."""
    is_added: bool = False
    """Whether the values of rows with the same name were added up."""

    @property
    def artifact(self) -> Artifact:
        drawn = {"kind": self.kind, "x": self.x, "y": list(self.y)}
        return Artifact("chart", self.name, self.about, {"rows": self.rows, "chart": drawn})

    @property
    def about(self) -> str:
        drawn = f"{', '.join(self.y)} by {self.x}" + (", added up" if self.is_added else "")
        is_whole = len(self.rows) == self.of_rows
        return drawn if is_whole else f"{drawn}, {len(self.rows)} of {self.of_rows} rows"


async def draw(means: Means, question: str, table: Table) -> Chart | None:
    """Draws a chart for the question, or returns None if the table has nothing to draw."""
    numbers = table.of_kind("number")
    if not numbers or not table.rows:
        return None
    kind = named_kind(question)
    series = _pivoted(table, question) if kind not in ROUND else None
    if series is not None:
        day, *names = (column.name for column in series.columns)
        return build(series, kind or "line", day, names)
    named = _named(numbers, question)
    x = _across(table, question, named, is_round=kind in ROUND)
    ys = [column for column in named or numbers if column.name != x.name]
    if not named and kind is None and len(ys) > 1 and len(ys) <= 20:
        kind, ys = await _ask(means, question, table, ys)
    kind = kind or ("line" if x.kind == "date" else "bar")
    return build(table, kind, x.name, [column.name for column in ys[:MOST_SERIES]])


def build(table: Table, kind: Kind, x: str, ys: Sequence[str]) -> Chart | None:
    """Builds a chart: rows sorted along x and thinned, each y a number or None. Returns None if x
    or all of y are not columns of the table."""
    known = {column.name: column for column in table.columns}
    ys = [y for y in ys if y in known and known[y].kind == "number"]
    if x not in known or not ys:
        return None
    names = [x, *ys]
    rows = [{name: record[name] for name in names} for record in table.records()]
    rows = [row for row in rows if row[x] is not None and row[ys[0]] is not None]
    is_added = False
    if kind in ROUND:
        ys = ys[:1]
        added = _added(rows, x, ys[0])
        is_added = len(added) < len(rows)
        rows = _slices(added, x, ys[0])
    elif known[x].kind in ("date", "number"):
        rows = sorted(rows, key=lambda row: row[x])  # type: ignore[arg-type,return-value]
    if not rows:
        return None
    drawn = [{name: row[name] for name in [x, *ys]} for row in thinned(rows)]
    return Chart(kind, x, tuple(ys), drawn, table.name, len(rows) + table.cut, is_added)


def _added(rows: list[dict[str, Cell]], x: str, y: str) -> list[dict[str, Cell]]:
    """Adds up the rows of each name, so that each name has one slice."""
    sums: dict[Cell, float] = {}
    for row in rows:
        value = row[y]
        sums[row[x]] = sums.get(row[x], 0) + (value if isinstance(value, int | float) else 0)
    return [{x: name, y: value} for name, value in sums.items()]


def _slices(rows: list[dict[str, Cell]], x: str, y: str) -> list[dict[str, Cell]]:
    """Returns the largest slices, and all others added up as one, so that the total stays."""
    rows = sorted(rows, key=lambda row: -float(row[y] or 0))
    if len(rows) <= MOST_SLICES:
        return rows
    kept, others = rows[: MOST_SLICES - 1], rows[MOST_SLICES - 1 :]
    values = [row[y] for row in others]
    return [*kept, {x: "Other", y: sum(one for one in values if isinstance(one, int | float))}]


def thinned(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """Returns at most `MOST_ROWS` rows, evenly spread, with the first and the last."""
    if len(rows) <= MOST_ROWS:
        return rows
    step = (len(rows) - 1) / (MOST_ROWS - 1)
    return [rows[round(number * step)] for number in range(MOST_ROWS)]


def show(table: Table) -> Artifact:
    """Returns the table as it is shown. Its description says how many of its rows these are."""
    rows, total = thinned(table.records()), len(table.rows) + table.cut
    about = f"{len(rows)} rows" if len(rows) == total else f"{len(rows)} of {total} rows"
    return Artifact("table", table.name, about, {"rows": rows})


def _named(columns: Sequence[Column], question: str) -> list[Column]:
    """Returns the columns whose whole name is in the question, else the one that fits it best."""
    asked = set(stems(question))
    whole = [one for one in columns if (name := set(stems(one.name))) and name <= asked]
    best = best_column(question, columns)
    return whole or ([best] if best else [])


def _across(table: Table, question: str, named: Sequence[Column], *, is_round: bool) -> Column:
    """Returns the column along the x axis: time, else names, else a number; for a pie, names
    first."""
    dates, texts = table.of_kind("date"), table.of_kind("text")
    if dates and not (is_round and texts):
        return best_column(question, dates) or dates[0]
    if texts:
        return best_column(question, texts) or max(
            texts, key=lambda column: len(set(table.values(column.name)))
        )
    others = [column for column in table.of_kind("number") if column not in named[1:]]
    return others[0]


def _pivoted(table: Table, question: str) -> Table | None:
    """Returns a long table of several entities over time with a column for each, else None."""
    dates, texts, numbers = (table.of_kind(kind) for kind in ("date", "text", "number"))
    if not dates or not texts or not numbers:
        return None
    times = table.values(dates[0].name)
    days = dict.fromkeys(times)
    if len(days) == len(table.rows):
        return None
    entity = next((one for one in texts if _tells_apart(table.values(one.name), times)), None)
    if entity is None:
        return None
    value = best_column(question, numbers) or numbers[0]
    names = [str(name) for name in dict.fromkeys(table.values(entity.name))]
    cells: dict[tuple[Cell, str], Cell] = {}
    for record in table.records():
        cells[(record[dates[0].name], str(record[entity.name]))] = record[value.name]
    columns = (dates[0], *(Column(name, "number", value.decimals) for name in names))
    rows = [(day, *(cells.get((day, name)) for name in names)) for day in days]
    return Table(f"{table.name} {value.name}", columns, rows, table.cut)


def _tells_apart(names: Sequence[Cell], times: Sequence[Cell]) -> bool:
    """Whether the names are few and no name occurs twice at the same time."""
    pairs = set(zip(names, times, strict=True))
    return 1 < len(set(names)) <= MOST_SERIES and len(pairs) == len(names)


async def _ask(
    means: Means, question: str, table: Table, ys: Sequence[Column]
) -> tuple[Kind | None, list[Column]]:
    by_name = {column.name: column for column in ys}
    columns = {"type": "array", "items": {"enum": list(by_name)}, "minItems": 1, "maxItems": 3}
    schema = closed({"kind": {"enum": list(get_args(Kind))}, "columns": columns})
    text = f"Table: {table.name}\nColumns: {', '.join(by_name)}\nQuestion: {question}"
    answer = await ask_json(means, (SYSTEM, text), schema, max_tokens=60) or {}
    kind, names = answer.get("kind"), answer.get("columns")
    chosen = [by_name[name] for name in dict.fromkeys(names or ()) if name in by_name]
    return (kind if kind in get_args(Kind) else None), chosen or [ys[0]]
