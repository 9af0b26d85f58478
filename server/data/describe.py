"""Describes a table for a prompt: its shape, its columns, and as many rows as fit."""

import csv
import io
import math
from collections.abc import Sequence

from server.data.periods import timelines
from server.data.tables import Cell, Column, Table
from server.language.ranking import stems

DESCRIBED_COLUMNS = 30
DISTINCT_LOOKED_AT = 5000
SAMPLE_VALUES = 5
CELL_CHARACTERS = 80
FEW_ROWS = 3
MOST_DECIMALS = 6
"""A column with this many decimals or more holds tiny numbers."""
LEAST_DIGITS = 4
NOISE = 1e-12
"""Rounding errors are smaller than this. Shown as 0, unless the column holds tiny numbers."""
LEAST_GROUPED = 10_000
"""From this number on, thousands are separated by commas."""
POWERS = {12: "T", 9: "B", 6: "M", 3: "K"}


def describe(table: Table, question: str, characters: int) -> str:
    """Returns the whole table as CSV if it fits, else a summary and its first and last rows."""
    columns = _relevant(table, question)
    whole = _csv(table, columns, table.rows) if _may_fit(table, characters) else ""
    shape = f"{len(table.rows)} rows, {len(table.columns)} columns"
    is_all = len(columns) == len(table.columns)
    if whole and len(whole) <= characters and is_all and not table.cut:
        return f"{shape}, all of them:\n{whole}"
    lines = [f"{shape}. What {'these' if table.cut else 'all'} rows hold:"]
    latest = _latest(table)
    lines += [f"- {_describe_column(table, column, latest)}" for column in columns]
    if table.cut:
        lines.append(f"- {table.cut} more rows came and were left out")
    head = "\n".join(lines)
    return head + "\n" + _sample(table, columns, characters - len(head))


def _may_fit(table: Table, characters: int) -> bool:
    """Whether the table may fit, at two characters a cell. Saves writing a huge table in vain."""
    return len(table.rows) * max(len(table.columns), 1) * 2 <= characters


def _relevant(table: Table, question: str) -> list[Column]:
    if len(table.columns) <= DESCRIBED_COLUMNS:
        return list(table.columns)
    asked = set(stems(question))
    named = [column for column in table.columns if asked & set(stems(column.name))]
    others = [column for column in table.columns if column not in named]
    kept = set(map(id, (named + others)[:DESCRIBED_COLUMNS]))
    return [column for column in table.columns if id(column) in kept]


def _latest(table: Table) -> dict[str, Cell]:
    """Returns the newest row in time, or {} if there is no time or several rows are the newest."""
    line = next(iter(timelines(table)), None)
    if line is None:
        return {}
    times = [str(time or "") for time in line.starts or table.values(line.column)]
    newest = max(times, default="")
    if not newest or times.count(newest) > 1:
        return {}
    return table.records([table.rows[times.index(newest)]])[0]


def _describe_column(table: Table, column: Column, latest: dict[str, Cell]) -> str:
    values = [value for value in table.values(column.name) if value is not None]
    missing = len(table.rows) - len(values)
    gaps = f", {missing} missing" if missing else ""
    newest = latest.get(column.name) if column.kind == "number" else None
    latest_text = "" if newest is None else f", latest {newest}"
    return f"{column.name} ({column.kind}): {_facts(column, values)}{latest_text}{gaps}"


def _facts(column: Column, values: Sequence[Cell]) -> str:
    if column.kind == "number":
        numbers = [value for value in values if isinstance(value, int | float)]
        mean = rounded(_mean(numbers), column.decimals + 2, LEAST_DIGITS)
        return f"min {min(numbers)}, max {max(numbers)}, mean {mean}"
    texts = [str(value) for value in values]
    if column.kind == "date":
        return f"{min(texts)} to {max(texts)}"
    if not texts:
        return "nothing"
    distinct = dict.fromkeys(texts[:DISTINCT_LOOKED_AT])
    more = "+" if len(texts) > DISTINCT_LOOKED_AT else ""
    some = ", ".join(short(value) for value in list(distinct)[:SAMPLE_VALUES])
    return f"{len(distinct)}{more} different, such as {some}"


def _mean(numbers: Sequence[float]) -> float:
    """Returns the mean. Divides first if the sum would overflow."""
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:
        return math.fsum(number / len(numbers) for number in numbers)


def _sample(table: Table, columns: Sequence[Column], characters: int) -> str:
    """Returns as many rows as fit, half from the start and half from the end."""
    ends = (table.rows[:FEW_ROWS], table.rows[-FEW_ROWS:])
    longest = max(len(_csv(table, columns, rows, header=False)) for rows in ends)
    per_row = max(longest // FEW_ROWS, 8)
    count = min(max(characters // per_row - 1, 2), len(table.rows))
    first, last = table.rows[: (count + 1) // 2], table.rows[len(table.rows) - count // 2 :]
    text = _csv(table, columns, first) + "...\n" + _csv(table, columns, last, header=False)
    shown = len(first) + len(last)
    return f"Only {shown} of {len(table.rows)} rows follow, the first and the last:\n{text}"


def _csv(
    table: Table,
    columns: Sequence[Column],
    rows: Sequence[tuple[Cell, ...]],
    *,
    header: bool = True,
) -> str:
    names = [column.name for column in table.columns]
    places = [names.index(column.name) for column in columns]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow([column.name for column in columns])
    for row in rows:
        writer.writerow([short(row[place]) for place in places])
    return out.getvalue()


def rounded(value: float, decimals: int, digits: int) -> float:
    """Rounds to `decimals` decimals, or to more if fewer than `digits` digits would be left."""
    if value == 0 or (decimals < MOST_DECIMALS and abs(value) < NOISE):
        return 0.0
    return round(value, max(decimals, digits - 1 - math.floor(math.log10(abs(value)))))


def short(value: Cell) -> str:
    """Returns the value on one line, cut to `CELL_CHARACTERS`."""
    if value is None:
        return ""
    text = " ".join(str(value).split())
    return text if len(text) <= CELL_CHARACTERS else text[: CELL_CHARACTERS - 1] + "…"


def written(value: float, unit: str = "", *, is_scaled: bool = False) -> str:
    """Writes a number as people do: with its unit, and with commas or as 3.4T if it is large."""
    sign, size = ("-" if value < 0 else ""), abs(value)
    power = next((power for power in POWERS if is_scaled and size >= 10**power), 0)
    if power:
        text = f"{size / 10**power:.3f}".rstrip("0").rstrip(".") + POWERS[power]
    elif size < LEAST_GROUPED:
        text = str(size)
    else:
        text = f"{size:,}" if "e" not in str(size) else str(size)
    if unit[:1].isalpha():
        return f"{sign}{text} {unit}"
    return f"{sign}{text}%" if unit == "%" else f"{sign}{unit}{text}"
