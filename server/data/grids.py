"""Tables out of a file's rows: titles may stand above the header, and lines may be empty."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from server.data.cells import SWAPPED, is_missing, reads_as_number
from server.data.tables import ISO_DATE, Table, from_grid

SEARCHED = 20
"""Rows in which the header is looked for."""
COMPARED = 100
MOST_HEADING = 2000
YEARS = range(1900, 2101)
Row = Sequence[Any]


def table(rows: Sequence[Row], name: str, cut: int = 0, decimal: str = ".") -> Table | None:
    """`cut` rows more came and were left out before. None without a row below the header."""
    rows = [row for row in rows if _width(row)]
    place = _header(rows)
    if len(rows) < place + 2:
        return None
    lines = (" ".join(map(str, _filled(row))) for row in rows[:place])
    header, below = rows[place][: _width(rows[place])], rows[place + 1 :]
    made = from_grid(header, _with_points(below) if decimal == "," else below, name, cut)
    return replace(made, heading="\n".join(lines)[:MOST_HEADING])


def _with_points(rows: Sequence[Row]) -> list[Row]:
    """Columns of nothing but amounts, written as the rest of our tables are."""
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
    """The first row as wide as those below it; what is narrower may be a title above it."""
    candidates = [place for place, row in enumerate(rows[:SEARCHED]) if len(_filled(row)) > 1]
    candidates = [place for place in candidates if _width_below(rows, place) > 1]
    for place in candidates:
        is_first = place == candidates[0]
        is_wide = _width(rows[place]) >= _width_below(rows, place)
        if is_wide and (is_first or all(map(_is_name, _filled(rows[place])))):
            return place
    return candidates[0] if candidates else 0


def _width_below(rows: Sequence[Row], place: int) -> int:
    """How wide most rows are."""
    widths = Counter(_width(row) for row in rows[place + 1 : place + 1 + COMPARED])
    return widths.most_common(1)[0][0] if widths else 0


def _width(row: Row) -> int:
    return next((place + 1 for place in reversed(range(len(row))) if _is_held(row[place])), 0)


def _filled(row: Row) -> list[Any]:
    return [cell for cell in row if _is_held(cell)]


def _is_held(cell: Any) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def _is_name(cell: Any) -> bool:
    """What may head a column: words, or a year."""
    text = str(cell)
    if len(text) == 4 and text.isdecimal():
        return int(text) in YEARS
    return isinstance(cell, str) and not reads_as_number(cell) and not ISO_DATE.match(cell)
