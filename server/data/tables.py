"""Makes tables of rows of any shape. Columns get types; numbers and dates become comparable."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Literal

from server.data.cells import (
    SWAPPED,
    as_number,
    find_measure,
    is_missing,
    is_one_unit,
    is_shortened,
    reads_as_number,
    unit,
)
from server.system.limits import without_halves

Kind = Literal["number", "date", "text", "empty"]
Cell = str | int | float | None
MAX_ROWS = 200_000
MAX_COLUMNS = 200
MAX_CELLS = 5_000_000
"""The most cells of a table: the wider it is, the fewer rows are taken."""
MOST_HEADER_ROWS = 5
PLACEHOLDER = re.compile(r"^(?:unnamed\b.*|column\W?\d*|[\W_]*\d{0,3})$", re.IGNORECASE)
"""A placeholder that exports write for a missing column name: "Unnamed: 0", "Column1", "3"."""
YEAR = re.compile(r"(?<!\w)(?:(?:19|20)\d{2}|fy?\W?\d{2,4})(?!\d)", re.IGNORECASE)
DEEPEST = 100
"""The most levels of lists and objects in a cell."""
ISO_DATE = re.compile(r"^\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?$")
TIME_WORDS = frozenset({
    "date", "dates", "datetime", "time", "times", "timestamp", "updated", "period", "day", "days",
    "eta", "etd", "created", "deadline", "due", "expiration", "expires", "expiry", "maturity",
    "datum", "zeitpunkt", "f\u00e4lligkeit", "\u00e9ch\u00e9ance", "fecha", "vencimiento",
})  # fmt: skip
"""In a column's name, these words show that its large numbers are timestamps."""
AMOUNT_WORDS = frozenset({
    "amount", "balance", "cap", "count", "number", "price", "sales", "shares", "total", "turnover",
    "units", "value", "volume",
})  # fmt: skip
"""In a column's name, these words show that its large numbers are amounts."""
WORD = re.compile(r"[A-Z]+(?![a-z\u00df-\u00ff])|[A-Z\u00c0-\u00de]?[a-z\u00df-\u00ff]+")
LARGEST = 2**1000
"""A larger number does not fit into our tables: it is an identifier, not an amount."""
EARLIEST, LATEST = 946_684_800, 2_208_988_800
"""The starts of the years 2000 and 2040, in seconds since 1970."""
EPOCHS = (((10**11, 10**13), 1000), ((EARLIEST, LATEST), 1))
"""The ranges of timestamps in milliseconds and in seconds, and their ticks per second."""
FEWEST_SECONDS = 3
MOST_LEVELS = 4
"""The levels of objects in a cell that become columns. Deeper objects stay one text."""
MOST_NESTED = 60
"""The most values of an object that becomes columns. A bigger one is a dictionary."""
MOST_JOINED = 100
FIELDS = ("field", "value")
"""The columns of a table that is made of a single object."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    kind: Kind
    decimals: int = 0
    unit: str = ""
    """The sign or unit beside its amounts: a currency, percent, or a measure such as "t"."""
    is_scaled: bool = False
    """Whether its amounts came as $3.4T rather than in full."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    rows: list[tuple[Cell, ...]]
    cut: int = 0
    """The number of rows that were left out."""
    cut_columns: int = 0
    heading: str = ""
    """The text above the header."""

    def of_kind(self, kind: Kind) -> list[Column]:
        return [column for column in self.columns if column.kind == kind]

    def values(self, name: str) -> list[Cell]:
        index = [column.name for column in self.columns].index(name)
        return [row[index] for row in self.rows]

    def cells(self) -> Iterator[Cell]:
        return chain.from_iterable(self.rows)

    def records(self, rows: Iterable[tuple[Cell, ...]] | None = None) -> list[dict[str, Cell]]:
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in (self.rows if rows is None else rows)]


def from_json(found: Any, name: str) -> Table | None:
    """Reads row objects, rows below a header, columns, or a Plotly figure; else returns None."""
    made = _from_json(found, name)
    return made if made is not None and made.columns else None


def _from_json(found: Any, name: str) -> Table | None:
    if isinstance(found, list):
        return _from_list(found, name)
    if not isinstance(found, dict):
        return None
    if isinstance(found.get("columns"), list) and isinstance(found.get("data"), list):
        return _from_split(found["columns"], found["data"], name)
    if isinstance(found.get("data"), list) and isinstance(found.get("layout"), dict):
        return _from_traces(found["data"], name)
    return _from_map(found, name)


def _from_map(found: dict[str, Any], name: str) -> Table | None:
    """Reads an object of equally long lists, of one list, of equal objects, or of plain values."""
    lists = {key: value for key, value in found.items() if isinstance(value, list)}
    same_length = len({len(value) for value in lists.values()}) == 1
    if len(lists) > 1 and len(lists) == len(found) and same_length:
        return from_grid(list(lists), list(zip(*lists.values(), strict=True)), name)
    if len(lists) == 1:
        return _from_list(next(iter(lists.values())), name)
    inner = [value for value in found.values() if isinstance(value, dict)]
    if len(inner) == len(found) > 1 and len({tuple(value) for value in inner}) == 1:
        label = next(title for title in ("name", "key", "") if title not in inner[0])
        return _from_records([{label: key, **value} for key, value in found.items()], name)
    flat = _flatten(found)
    is_wrapper = len(found) == len(inner) <= 1
    if is_wrapper or any(isinstance(value, dict | list) for value in flat.values()):
        return None
    return from_grid(FIELDS, list(flat.items()), name)


def from_grid(
    header: Sequence[Any], rows: Sequence[Sequence[Any]], name: str, cut: int = 0
) -> Table:
    """Makes a table of a header and rows. Cells beyond the header become columns too. `cut` is the
    number of rows that the caller has left out."""
    header, rows = _with_header_rows(header, rows)
    width = len(header)
    beyond = {
        place for row in rows for place in range(width, len(row)) if row[place] not in (None, "")
    }
    places = [*range(width), *sorted(beyond)]

    def column(number: int, count: int) -> list[Any]:
        place = places[number]
        return [row[place] if place < len(row) else None for row in rows[:count]]

    return _build([*header, *(None for _ in beyond)], column, name, len(rows), cut)


def _with_header_rows(
    header: Sequence[Any], rows: Sequence[Sequence[Any]]
) -> tuple[Sequence[Any], Sequence[Sequence[Any]]]:
    """Joins a header of several rows, as reports have, into one row of full names."""
    if not _is_incomplete(header):
        return header, rows
    count = 0
    while count < min(MOST_HEADER_ROWS, len(rows) - 1) and _is_header(rows[count]):
        count += 1
    if not count:
        return header, rows
    parts: list[list[str]] = [[] for _ in header]
    lines = [["" if PLACEHOLDER.match(str(name or "")) else name for name in header], *rows[:count]]
    for number, line in enumerate(lines):
        for part, text in zip(parts, _spread(line, is_last=number == count), strict=False):
            part += [text] if text else []
    return [" ".join(part) for part in parts], rows[count:]


def _spread(line: Sequence[Any], *, is_last: bool) -> list[str]:
    """Repeats the texts of a header row over the columns that they head. A single text heads all
    columns. Of several, each heads the columns up to the next."""
    first, *others = (str(cell).strip() if cell is not None else "" for cell in line)
    filled = [text for text in others if text]
    if len(filled) == 1 and len(others) > 1 and not (is_last and YEAR.search(filled[0])):
        others = filled * len(others)
    elif not is_last and others and others[0]:
        for place, text in enumerate(others):
            others[place] = text or others[place - 1]
    return [first, *others]


def _is_incomplete(header: Sequence[Any]) -> bool:
    """Whether names of the header are missing or equal, so that a row below completes them."""
    names = [str(name or "").strip().lower() for name in header]
    return any(map(PLACEHOLDER.match, names[1:])) or len(set(names)) < len(names)


def _is_header(row: Sequence[Any]) -> bool:
    """Whether the row belongs to the header: it has texts or years, but no amounts. A row of data
    has a name and an amount."""
    cells = [str(cell).strip() for cell in row[1:] if cell is not None and str(cell).strip()]
    if not cells or any(not isinstance(cell, str | None) for cell in row):
        return False
    has_name = bool(row and row[0] is not None and row[0].strip())
    years = [cell for cell in cells if YEAR.search(cell)]
    amounts = [cell for cell in cells if cell not in years and reads_as_number(cell)]
    return not amounts and (bool(years) or not has_name)


def _from_records(rows: list[dict[str, Any]], name: str) -> Table:
    total = len(rows)
    rows = [_flatten(row) for row in rows[:MAX_ROWS]]
    keys: dict[str, None] = {}
    for row in rows:
        keys.update(dict.fromkeys(row))
    header = list(keys)
    if _is_incomplete(header):
        grid = [[row.get(key) for key in header] for row in rows]
        return from_grid(header, grid, name, total - len(rows))

    def column(place: int, count: int) -> list[Any]:
        key = header[place]
        return [row.get(key) for row in rows[:count]]

    return _build(header, column, name, total)


def _flatten(row: dict[str, Any]) -> dict[str, Any]:
    """Turns objects in cells into columns such as price.last, and plain lists into texts."""
    if not any(isinstance(value, dict | list) for value in row.values()):
        return row
    found: dict[str, Any] = {}
    for key, value in row.items():
        is_group = isinstance(value, dict) and not _is_deep(value)
        for path, inner in _paths(key, value, MOST_LEVELS) if is_group else [(key, value)]:
            name = path
            while name in found or (name != key and name in row):
                name += "_2"
            found[name] = _join(inner) if isinstance(inner, list) else inner
    return found


def _paths(path: str, value: Any, levels: int) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict) or not levels or not 0 < len(value) <= MOST_NESTED:
        yield path, value
        return
    for key, inner in value.items():
        yield from _paths(f"{path}.{key}", inner, levels - 1)


def _join(values: list[Any]) -> Any:
    """Joins a list of plain values to a text. Returns any other list unchanged."""
    if not all(item is None or isinstance(item, str | int | float) for item in values):
        return values
    texts = [str(item) for item in map(_cell, values[:MOST_JOINED]) if item is not None]
    return ", ".join([*texts, *(["…"] if len(values) > MOST_JOINED else [])]) or None


def _build(
    header: Sequence[Any],
    column: Callable[[int, int], list[Any]],
    name: str,
    total: int,
    cut: int = 0,
) -> Table:
    """Builds a table column by column, and only what fits: the data may be far bigger. `column`
    returns the first cells of a column. `total` is the number of rows that there are."""
    kept = header[:MAX_COLUMNS]
    names = unique_names([str(title) if title not in (None, "") else "column" for title in kept])
    count = min(total, MAX_ROWS, MAX_CELLS // max(len(names), 1))
    typed = [_find_type(title, column(place, count)) for place, title in enumerate(names)]
    rows: list[tuple[Cell, ...]] = list(zip(*(cells for _, cells in typed), strict=True))
    columns = tuple(column for column, _ in typed)
    return Table(name, columns, rows, total - count + cut, len(header) - len(kept))


def _from_list(found: list[Any], name: str) -> Table | None:
    if not found:
        return None
    if all(isinstance(row, dict) for row in found):
        return _from_records(found, name)
    if len(found) > 1 and all(isinstance(row, list) for row in found):
        return _from_split(found[0], found[1:], name)
    return None


def _from_split(header: list[Any], rows: list[Any], name: str) -> Table | None:
    if not all(isinstance(row, list | tuple) for row in rows):
        return None
    return from_grid(header, rows, name)


def _from_traces(traces: list[Any], name: str) -> Table | None:
    """Turns the points of a Plotly figure's traces into rows."""
    rows = []
    for trace in traces:
        if isinstance(trace, dict):
            xs, ys = trace.get("x") or trace.get("labels"), trace.get("y") or trace.get("values")
            if isinstance(xs, list) and isinstance(ys, list):
                label = str(trace.get("name") or "value")
                rows += [(x, y, label) for x, y in zip(xs, ys, strict=False)]
    return from_grid(["x", "y", "series"], rows, name) if rows else None


def unique_names(names: Iterable[str]) -> list[str]:
    """Makes each name unique by a number that makes no other name of them. SQL does not distinguish
    upper and lower case."""
    plain = [without_halves(name) for name in names]
    given, taken = {name.lower() for name in plain}, set[str]()
    result = []
    for name in plain:
        unique, number = name, 1
        while unique.lower() in taken or (number > 1 and unique.lower() in given):
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique.lower())
        result.append(unique)
    return result


def _find_type(name: str, raw: list[Any]) -> tuple[Column, list[Cell]]:
    cells = [_cell(value) for value in raw]
    present = [cell for cell in cells if cell is not None]
    if not present:
        return Column(name, "empty"), cells
    if all(isinstance(cell, int | float) for cell in present):
        return _numeric(name, cells)
    if all(isinstance(cell, str) and ISO_DATE.match(cell) for cell in present):
        return Column(name, "date"), cells
    return _amounts(name, cells) or (
        Column(name, "text"),
        [cell if cell is None else _text(cell) for cell in cells],
    )


def _amounts(name: str, cells: list[Cell]) -> tuple[Column, list[Cell]] | None:
    """Reads texts that are all amounts of one unit, with decimal points or commas; else None."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if (measured := find_measure(texts)) and len(texts) == sum(cell is not None for cell in cells):
        measure, amounts = measured
        plain = iter(amounts)
        made = _amounts(name, [cell if cell is None else next(plain) for cell in cells])
        return (replace(made[0], unit=measure), made[1]) if made else None
    units = {unit(text) for text in texts}
    if len(texts) < sum(cell is not None for cell in cells):
        units.add("")
    if not is_one_unit(units):
        return None
    for decimal in (".", ","):
        if all(reads_as_number(text, decimal) for text in texts):
            numbers: list[Cell] = [
                as_number(cell, decimal) if isinstance(cell, str) else cell for cell in cells
            ]
            column, typed = _numeric(name, numbers)
            if column.kind != "number":
                return column, typed
            is_scaled = any(is_shortened(text) for text in texts)
            return replace(column, unit="".join(units), is_scaled=is_scaled), typed
    return None


def _cell(value: Any) -> Cell:
    match value:
        case None:
            return None
        case float() if not math.isfinite(value):
            return None
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _figure(value)
        case str():
            return None if is_missing(value) else without_halves(value)
        case _:
            return _as_json(value)


def _as_json(value: Any) -> str:
    if _is_deep(value):
        return "{…}" if isinstance(value, dict) else "[…]"
    return without_halves(json.dumps(value, ensure_ascii=False, default=str))


def _is_deep(value: Any) -> bool:
    """Whether the value is nested deeper than `DEEPEST`. Python's json has no fixed limit of its
    own."""
    level = [value]
    for _ in range(DEEPEST + 1):
        holders = [part for part in level if isinstance(part, dict | list | tuple)]
        if not holders:
            return False
        held = (part.values() if isinstance(part, dict) else part for part in holders)
        level = [part for parts in held for part in parts]
    return True


def _figure(value: float) -> Cell:
    if isinstance(value, float) or abs(value) < 2**62:
        return value
    return float(value) if abs(value) < LARGEST else str(value)


def _numeric(name: str, cells: list[Cell]) -> tuple[Column, list[Cell]]:
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    for (low, high), per_second in EPOCHS:
        is_within = all(low < number < high for number in numbers)
        if is_within and (_is_time(name) or _are_whole_days(numbers, per_second)):
            return Column(name, "date"), [_from_epoch(cell, per_second) for cell in cells]
    decimals = max((decimals_of(number) for number in numbers), default=0)
    return Column(name, "number", min(decimals, 6)), cells


def _are_whole_days(numbers: list[float], per_second: int) -> bool:
    """Whether the numbers are timestamps of whole days. Amounts are hardly ever all multiples of a
    day, least of all of a day in milliseconds."""
    day = 86_400 * per_second
    is_rare = per_second > 1 or len(set(numbers)) >= FEWEST_SECONDS
    return is_rare and all(
        isinstance(number, int) and EARLIEST < number / per_second < LATEST and number % day == 0
        for number in numbers
    )


def _is_time(name: str) -> bool:
    """Whether a column of this name may hold timestamps. Looks at whole words: "consolidated" is
    not a date. "Volume per day" is an amount."""
    words = [word.lower() for word in WORD.findall(name)]
    return not TIME_WORDS.isdisjoint(words) and AMOUNT_WORDS.isdisjoint(words)


def _from_epoch(cell: Cell, per_second: int) -> Cell:
    if not isinstance(cell, int | float):
        return None
    moment = datetime.fromtimestamp(cell / per_second, UTC)
    whole_day = moment.hour == moment.minute == moment.second == 0
    return moment.strftime("%Y-%m-%d" if whole_day else "%Y-%m-%d %H:%M:%S")


def decimals_of(number: float) -> int:
    if isinstance(number, int) or number.is_integer():
        return 0
    text = repr(number)
    return len(text.partition(".")[2]) if "e" not in text else 6


def _text(cell: Cell) -> str:
    return cell if isinstance(cell, str) else str(cell)


SEARCHED = 20
"""The number of first rows among which the header is looked for."""
COMPARED = 100
MOST_HEADING = 2000
YEARS = range(1900, 2101)
Row = Sequence[Any]


def table(rows: Sequence[Row], name: str, cut: int = 0, decimal: str = ".") -> Table | None:
    """Makes a table of rows whose header may stand below titles. `cut` is the number of rows that
    the caller has left out. Returns None without a row below the header."""
    rows = [row for row in rows if _width(row)]
    place = _header(rows)
    if len(rows) < place + 2:
        return None
    lines = (" ".join(map(str, _non_empty(row))) for row in rows[:place])
    header, below = rows[place][: _width(rows[place])], rows[place + 1 :]
    made = from_grid(header, _with_points(below) if decimal == "," else below, name, cut)
    return replace(made, heading="\n".join(lines)[:MOST_HEADING])


def _with_points(rows: Sequence[Row]) -> list[Row]:
    """Rewrites columns of amounts that have a decimal comma with a decimal point."""
    texts = {
        place
        for row in rows
        for place, cell in enumerate(row)
        if not is_missing(cell) and not reads_as_number(cell, ",")
    }
    return [
        [cell if place in texts else cell.translate(SWAPPED) for place, cell in enumerate(row)]
        for row in rows
    ]


def _header(rows: Sequence[Row]) -> int:
    """Finds the first row as wide as the rows below it. A narrower row above may be a title."""
    candidates = [place for place, row in enumerate(rows[:SEARCHED]) if len(_non_empty(row)) > 1]
    candidates = [place for place in candidates if _width_below(rows, place) > 1]
    for place in candidates:
        is_first = place == candidates[0]
        is_wide = _width(rows[place]) >= _width_below(rows, place)
        if is_wide and (is_first or all(map(_is_name, _non_empty(rows[place])))):
            return place
    return candidates[0] if candidates else 0


def _width_below(rows: Sequence[Row], place: int) -> int:
    """Returns the width that most of the following rows have."""
    widths = Counter(_width(row) for row in rows[place + 1 : place + 1 + COMPARED])
    return widths.most_common(1)[0][0] if widths else 0


def _width(row: Row) -> int:
    """Returns the number of cells up to the last filled one."""
    return next((place + 1 for place in reversed(range(len(row))) if _is_filled(row[place])), 0)


def _non_empty(row: Row) -> list[Any]:
    return [cell for cell in row if _is_filled(cell)]


def _is_filled(cell: Any) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _is_name(cell: Any) -> bool:
    """Whether the cell may head a column: it is a word or a year."""
    text = str(cell)
    if len(text) == 4 and text.isdecimal():
        return int(text) in YEARS
    return isinstance(cell, str) and not reads_as_number(cell) and not ISO_DATE.match(cell)
