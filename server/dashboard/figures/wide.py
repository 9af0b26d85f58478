"""Answers from reports with a column for each year: a question names rows and years.

Nothing is found unless rows, columns and the computation explain every word of the question.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from server.data.cells import as_number, is_missing, reads_as_number, unit
from server.data.describe import written
from server.data.tables import YEAR, Cell, Column, Table, decimals_of
from server.language.dates import MONTHS
from server.language.ranking import stems
from server.language.words import stem

MONTH = re.compile(
    rf"\b({'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?\s?"
    r"\d{0,2}(?:st|nd|rd|th)?(?!\d)",
    re.IGNORECASE,
)
DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\s(?:of\s)?(?=\x00)")
BEFORE_YEAR = re.compile(
    r"(?:\b(?:fiscal|financial)\s)?(?:\byears?\s)?(?:\bended\s(?:,\s?)?)?\x01", re.IGNORECASE
)
NOTE = re.compile(r"\(\s?(?:notes?\s?)?[\d,a-e]{1,4}\s?\)|(?<=[a-z]{4})\d{1,2}\b|[*†‡§]+")
"""Footnote marks in a name."""
OPTIONAL = re.compile(r"\([^()]*\)")
SCALE = re.compile(
    r"(?P<thousand>thousands?\b|['\u2019]?\b000s?\b)"
    r"|(?P<million>\bmillions?\b|[$€£]\s?m\b)|(?P<billion>\bbillions?\b|[$€£]\s?bn\b)",
    re.IGNORECASE,
)
PERCENT_SIGN = re.compile(r"(?<!\S)\(?%\)?(?!\S)")
UNSCALED = re.compile(
    r"per\b|rate|ratio|percent|%|years?\b|number|shares|margin|yield", re.IGNORECASE
)
FROM_TO = re.compile("\x01\\s?(?:-|\u2013|\u2014|to|through|until|till)\\s?\x01")
BETWEEN = re.compile("\\bbetween\\s?\x01\\s?and\\s?\x01")
WHICH_YEAR = re.compile(r"\b(?:which|what)\s+(?:fiscal\s+|financial\s+)?year\b", re.IGNORECASE)
PERCENT_CHANGE = re.compile(
    r"(?:percent(?:age)?|%)\s+(?:change|increase|growth)"
    r"|\b(?:change|increase|growth)\s+(?:in\s+|as\s+a\s+)?(?:percent(?:age)?\b|%)(?!\s+of)",
    re.IGNORECASE,
)
LISTED = re.compile(r"\brespective(?:ly)?\b|\beach\b", re.IGNORECASE)
OF_TWO = {
    "difference": re.compile(r"\bdifference between\b.{3,200}\band\b", re.IGNORECASE),
    "ratio": re.compile(r"\bratio of\b.{3,200}\bto\b", re.IGNORECASE),
    "sum": re.compile(r"\b(?:sum|total|combined)\b.{3,200}\band\b", re.IGNORECASE),
    "": re.compile(r"\band\b", re.IGNORECASE),
}
BOTH_WAYS = re.compile(
    r"\([^()]{0,80}(?:loss|used|benefit|decrease|expense|deficit|outflow)", re.IGNORECASE
)
"""A name that says what a negative amount means: Net income (loss)."""


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, text.split()))


ALSO = _stems("between during over both respective respectively much many each through until till")
TIME_STEMS = _stems("year years fiscal financial calendar ended ending end fy")
UNIT_STEMS = _stems(
    "thousands millions billions thousand million billion dollars us usd u.s m k bn 000 amounts "
    "amount except percentages per share data note notes rmb nt hk week weeks number"
)
FILLERS = TIME_STEMS | _stems("amount value figure number company group nominal period")
COMPARING = _stems("larger higher greater bigger lower smaller")
GROWING = _stems("increase growth difference")
LESS, TOTAL = stem("decrease"), stem("total")
STEMS = {
    "percent": _stems("percentage percent"),
    "change": _stems("change increase decrease growth difference"),
    "mean": _stems("average mean"),
    "sum": _stems("total sum combined"),
    "last": _stems("latest newest recent current"),
    "max": _stems("highest larger largest higher greater greatest most bigger biggest maximum"),
    "min": _stems("lowest lower smaller smallest least fewest minimum"),
}
OPERATION_STEMS = frozenset[str]().union(*STEMS.values())
"""Words that ask for a computation, unless they are in the name of the row itself."""
TWO_STEMS = {
    "difference": _stems("difference"), "ratio": _stems("ratio"),
    "sum": STEMS["sum"], "": frozenset[str](),
}  # fmt: skip
MOST_ROWS = 2000
EARLY_MONTHS = {1, 2}
"""A fiscal year that ends in January or February mostly has the number of the year before."""


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that differ only in their year. `words` distinguish them from other groups."""

    words: frozenset[str]
    places: dict[int, int]
    months: frozenset[int]


@dataclass(frozen=True, slots=True)
class Row:
    """A row. A question must have the words `core` of its name, and may have those in `full`."""

    label: str
    core: frozenset[str]
    full: frozenset[str]
    section: frozenset[str]
    cells: tuple[Cell, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Wide:
    groups: tuple[Group, ...]
    rows: tuple[Row, ...]
    title: frozenset[str]
    """Words that a question may have, but that distinguish nothing."""
    scale: str
    sections: int
    in_percent: frozenset[int] = frozenset()
    """The columns that give all their amounts in percent, without a sign at each."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A question without its times. `years` are in the order in which it names them."""

    words: tuple[str, ...]
    years: tuple[int, ...]
    months: frozenset[int]
    is_range: bool
    is_backwards: bool
    text: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A cell: `number` is its row, from 0, and `place` its column."""

    label: str
    number: int
    place: int
    year: int
    value: float


@dataclass(frozen=True, slots=True)
class Found:
    operation: str
    cells: tuple[Taken, ...]
    unit: str
    scale: str

    @property
    def values(self) -> list[float]:
        return [cell.value for cell in self.cells]


def look_up(question: str, wide: Wide) -> Found | None:
    """Returns the cells that answer the question, or None."""
    wish = _read_wish(question)
    found = [one for name, words in _meanings(wish) if (one := _find(wide, wish, name, words))]
    plain = [one for one in found if not one.operation and len(one.cells) == 1]
    found = plain or found or _find_two(wide, wish)
    return found[0] if len(found) == 1 else None


def read_wide(table: Table, about: str = "") -> Wide | None:
    """Reads a table that `has_years` as a report. Returns None unless texts name its rows.

    `about` are words for what was read.
    """
    if len(table.rows) > MOST_ROWS:
        return None
    periods = _periods(table.columns)
    labels, told = _labels(table, periods[0][0])
    if not labels:
        return None
    names = [table.columns[place].name for place, _ in periods]
    common = frozenset.intersection(*(_qualifiers(name) for name in names))
    rows = tuple(_rows(table, labels, [place for place, _ in periods]))
    heads = [*(table.columns[place].name for place in labels), table.heading, table.name, *told]
    title = common | {word for text in [*heads, about] for word in stems(text)}
    scale = scale_in(" ".join([names[0], *heads, *_remarks(table)]))
    sections = len({row.section for row in rows if row.section})
    places = frozenset(place for place, _ in periods if _is_in_percent(table.columns[place].name))
    return Wide(tuple(_groups(table, periods, common)), rows, title, scale, sections, places)


def has_years(columns: Sequence[Column]) -> bool:
    """Whether at least two columns are of different years, as in a report."""
    return len({year for _, year in _periods(columns)}) >= 2


def _periods(columns: Sequence[Column]) -> list[tuple[int, int]]:
    """Returns the columns that are of a year, each with it. The first column names rows."""
    named = [(place, _years(column.name)) for place, column in enumerate(columns)]
    return [(place, years[0]) for place, years in named if place and len(years) == 1]


def _is_in_percent(name: str) -> bool:
    """Whether a column has only a percent sign for its unit: 2019 %, or 2019 (%)."""
    return PERCENT_SIGN.search(name) is not None and not SCALE.search(name) and unit(name) == "%"


def _labels(table: Table, first: int) -> tuple[list[int], list[str]]:
    """Returns the columns of row names before the years, and the texts that all rows share."""
    varied: list[int] = []
    common: list[str] = []
    for place, column in enumerate(table.columns[:first]):
        values = {str(value) for value in table.values(column.name) if value is not None}
        if column.kind == "text" and len(values) == 1 and len(table.rows) > 1:
            common += values
        elif column.kind == "text" and not any(map(reads_as_number, values)):
            varied.append(place)
    return varied, common


def _remarks(table: Table) -> Iterator[str]:
    """Yields the texts above the first amount, such as '(in thousands)'."""
    for row in table.rows[:3]:
        if any(_amount(cell) for cell in row[1:]):
            return
        yield from (str(cell) for cell in row if cell is not None)


def _years(text: str) -> list[int]:
    """Returns the years in the text. FY19 and F19 are 2019."""
    found = []
    for match in YEAR.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        found.append(int(digits) if len(digits) == 4 else 2000 + int(digits[-2:]))
    return found


def _months(text: str) -> frozenset[int]:
    return frozenset(MONTHS[match[1].lower()] for match in MONTH.finditer(text))


def _qualifiers(name: str) -> frozenset[str]:
    """Returns the words of a column's name that are neither its time nor its unit."""
    plain = MONTH.sub(" ", YEAR.sub(" ", name.replace("%", " percent ")))
    words = {word for word in stems(plain) if not word.isdecimal()}
    return frozenset(words - TIME_STEMS - UNIT_STEMS)


def _groups(
    table: Table, periods: Sequence[tuple[int, int]], common: frozenset[str]
) -> Iterator[Group]:
    """Yields the groups of columns, except those with two columns of the same year."""
    found: dict[frozenset[str], list[tuple[int, int]]] = {}
    for place, year in periods:
        own = _qualifiers(table.columns[place].name) - common
        found.setdefault(own, []).append((place, year))
    for words, places in found.items():
        if len({year for _, year in places}) == len(places):
            names = [table.columns[place].name for place, _ in places]
            months = _months(" ".join([*names, table.columns[0].name]))
            yield Group(words, {year: place for place, year in places}, months)


def _rows(table: Table, labels: Sequence[int], places: Sequence[int]) -> Iterator[Row]:
    section: frozenset[str] = frozenset()
    for number, cells in enumerate(table.rows):
        label = " ".join(str(cells[place]) for place in labels if cells[place] is not None)
        is_filled = any(cells[place] is not None for place in places)
        if label and not is_filled:
            section = frozenset(stems(NOTE.sub(" ", label)))
        elif label:
            plain = NOTE.sub(" ", label.replace("%", " percent "))
            full = frozenset(stems(plain)) - ALSO
            core = frozenset(stems(OPTIONAL.sub(" ", plain))) - ALSO or full
            yield Row(label.strip(" :"), core, full, section, cells, number)


def scale_in(text: str) -> str:
    """Returns "thousand", "million" or "billion" if the text has only this one."""
    found = {match.lastgroup or "" for match in SCALE.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def _read_wish(question: str) -> Wish:
    spaced = " ".join(question.replace("\x00", " ").replace("\x01", " ").split())
    dated = DAY.sub(" ", MONTH.sub("\x00", spaced.replace("%", " percent "))).replace("\x00", " ")
    marked = BEFORE_YEAR.sub("\x01", YEAR.sub("\x01", dated))
    plain = re.sub(r"\bmost\s+recent\b", "latest", marked.replace("\x01", " "), flags=re.IGNORECASE)
    words = tuple(word for word in stems(plain) if word not in ALSO)
    years = tuple(dict.fromkeys(_years(spaced)))
    is_directed = FROM_TO.search(marked) is not None
    is_range = is_directed or BETWEEN.search(marked) is not None
    is_backwards = is_directed and list(years) != sorted(years)
    return Wish(words, years, _months(spaced), is_range, is_backwards, spaced)


def _meanings(wish: Wish) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields computations and the words left for rows: a word may ask for one or be in a name."""
    words = frozenset(wish.words)
    yield "", words
    for name, own in STEMS.items():
        asked = words & own
        if name == "percent":
            asked, own = words & STEMS["change"], own | STEMS["change"]
        if asked and _is_possible(name, asked, wish):
            yield name, words - own


def _is_possible(name: str, asked: frozenset[str], wish: Wish) -> bool:
    """Whether these words ask for it: a single word, or an increase with '(decrease)' behind it."""
    if name in ("max", "min") and not WHICH_YEAR.search(wish.text):
        return False
    if name == "percent" and not PERCENT_CHANGE.search(wish.text):
        return False
    return asked == {stem("increase"), LESS} or (len(asked) == 1 and LESS not in asked)


def _find(wide: Wide, wish: Wish, name: str, words: frozenset[str]) -> Found | None:
    """Finds the cells in the only row and the only group of columns that these words name."""
    fits: list[tuple[int, Row, Group]] = []
    for group in _groups_named(wide, wish, words):
        for row in wide.rows:
            known = row.full | row.section | group.words | wide.title | FILLERS
            known -= OPERATION_STEMS - row.full - group.words
            is_named = bool(row.core) and row.core <= words <= known
            if is_named and _is_of_its_section(row, words, wide):
                fits.append((len((row.full | group.words) & words), row, group))
    best = max((score for score, _, _ in fits), default=0)
    kept = [(row, group) for score, row, group in fits if score == best]
    if len(kept) != 1:
        return None
    row, group = kept[0]
    years = _chosen(name, wish, group)
    found = _taken(wide, "" if name == "last" else name, [(row, group, year) for year in years])
    return found if found and _is_sound(found, wish) else None


def _find_two(wide: Wide, wish: Wish) -> list[Found]:
    """Finds two rows in one year, which are listed, added or compared."""
    found = []
    for name, pattern in OF_TWO.items():
        if len(wish.years) != 1 or not pattern.search(wish.text):
            continue
        words = frozenset(wish.words) - TWO_STEMS[name]
        pairs = [
            (*pair, group)
            for group in _groups_named(wide, wish, words)
            if wish.years[0] in group.places
            for pair in _pairs(wide, words, group)
        ]
        if len(pairs) == 1:
            one, two, group = pairs[0]
            order = sorted((one, two), key=lambda row: _position(row, one.full & two.full, wish))
            made = _taken(wide, name, [(row, group, wish.years[0]) for row in order])
            found += [made] if made and _is_pair_sound(made) else []
    return found


def _groups_named(wide: Wide, wish: Wish, words: frozenset[str]) -> Iterator[Group]:
    for group in wide.groups:
        is_early = bool(wish.years) and not wish.months and bool(group.months & EARLY_MONTHS)
        if group.words <= words and wish.months <= group.months and not is_early:
            yield group


def _pairs(wide: Wide, words: frozenset[str], group: Group) -> Iterator[tuple[Row, Row]]:
    """Yields pairs of rows that explain all words, each some that the other does not."""
    known = group.words | wide.title - OPERATION_STEMS | FILLERS
    named = [row for row in wide.rows if row.core and row.core <= words]
    for one, two in combinations(named, 2):
        is_apart = not one.core <= two.full and not two.core <= one.full
        if is_apart and words <= one.full | two.full | known:
            yield one, two


def _position(row: Row, shared: frozenset[str], wish: Wish) -> int:
    return min(place for place, word in enumerate(wish.words) if word in row.full - shared)


def _is_of_its_section(row: Row, words: frozenset[str], wide: Wide) -> bool:
    """Whether the row may be in the section named. A total may be over all sections."""
    needed = words - row.full - wide.title - FILLERS
    return not needed & row.section or wide.sections == 1 or TOTAL not in row.core


def _taken(wide: Wide, name: str, places: Sequence[tuple[Row, Group, int]]) -> Found | None:
    """Returns the cells, or None if one has no amount or their units differ."""
    cells: list[Taken] = []
    units: set[str] = set()
    for row, group, year in places:
        amount = _amount(row.cells[group.places[year]])
        if amount is None:
            return None
        value, sign = amount
        place = group.places[year]
        units.add(sign or ("%" if place in wide.in_percent else ""))
        cells.append(Taken(row.label, row.number, place, year, value))
    if not cells or len(units - {""}) > 1 or units == {"", "%"}:
        return None
    is_plain = "%" in units or any(UNSCALED.search(cell.label) for cell in cells)
    return Found(name, tuple(cells), "".join(units), "" if is_plain else wide.scale)


def _amount(cell: Cell) -> tuple[float, str] | None:
    if isinstance(cell, str):
        is_read = not is_missing(cell) and reads_as_number(cell)
        return (as_number(cell), unit(cell)) if is_read else None
    return None if cell is None else (cell, "")


def _chosen(name: str, wish: Wish, group: Group) -> tuple[int, ...]:
    """Returns the years that are meant, or () if that is not clear."""
    known, years = sorted(group.places), wish.years
    if not group.places.keys() >= set(years):
        return ()
    if name == "last":
        return () if years else (known[-1],)
    if not years:
        return tuple(known) if _means_all(name, known) else ()
    is_rising = list(years) == sorted(years)
    if name in ("change", "percent"):
        is_clear = len(years) == 2 and not wish.is_backwards
        return tuple(sorted(years)) if is_clear else ()
    if wish.is_range and len(years) == 2:
        within = [year for year in known if min(years) <= year <= max(years)]
        is_whole = len(within) == max(years) - min(years) + 1
        return tuple(within if is_rising else within[::-1]) if is_whole else ()
    # The average of a single year often means that of its beginning and its end.
    return () if name and len(years) < 2 else years


def _means_all(name: str, known: Sequence[int]) -> bool:
    if name in ("change", "percent"):
        return len(known) == 2
    return name in ("mean", "max", "min") and len(known) > 1


def _is_sound(found: Found, wish: Wish) -> bool:
    values, words = found.values, frozenset(wish.words)
    # Whether an expense in brackets counts as negative depends on the habit of the report.
    is_negative = max(values) < 0 and not BOTH_WAYS.search(found.cells[0].label)
    match found.operation:
        case "":
            is_more = bool(words & (STEMS["sum"] | STEMS["mean"]))
            return len(values) == 1 or not is_more or LISTED.search(wish.text) is not None
        case "sum":
            return found.unit != "%" and not is_negative
        case "max" | "min":
            best = (max if found.operation == "max" else min)(values)
            is_comparable = not words & COMPARING or len(values) == 2
            return is_comparable and min(values) >= 0 and values.count(best) == 1
        case "percent":
            return values[0] > 0 and values[1] >= 0 and _is_as_told(values, words)
        case "change":
            return not is_negative and _is_as_told(values, words)
        case _:
            return not is_negative


def _is_as_told(values: Sequence[float], words: frozenset[str]) -> bool:
    """Whether the values agree with the words: an increase must be one."""
    is_change = not words & GROWING or LESS in words
    return is_change or (values[1] >= values[0] and min(values) >= 0)


def _is_pair_sound(found: Found) -> bool:
    one, two = found.values
    match found.operation:
        case "sum":
            return found.unit != "%" and min(one, two) >= 0
        case "difference":
            return one >= two >= 0
        case "ratio":
            return one >= 0 < two
        case _:
            return True


def sentence(found: Found) -> str:
    """Writes what was found as a sentence. The value comes after the colon."""
    cells, values = found.cells, found.values
    label, first, last = cells[0].label, cells[0].year, cells[-1].year
    is_one_row = all(cell.label == label for cell in cells)
    years = ", ".join(str(cell.year) for cell in cells)
    whose = f"{label} ({years})" if is_one_row else f"{label} and {cells[-1].label} in {first}"
    match found.operation:
        case "change" | "percent":
            title, told = f"Change of {label} from {first} to {last}", _change_text(found)
        case "mean":
            title, told = f"Average {whose}", _text(found, sum(values) / len(values), 2)
        case "sum":
            title, told = f"Sum of {whose}", _text(found, sum(values))
        case "difference":
            title, told = f"Difference between {whose}", _text(found, values[0] - values[1])
        case "ratio":
            title = f"Ratio of {label} to {cells[1].label} in {first}"
            told = f"{values[0] / values[1]:.2f}"
        case "max" | "min":
            pick = max if found.operation == "max" else min
            best = pick(cells, key=lambda cell: cell.value)
            title = f"{'Highest' if pick is max else 'Lowest'} {label}"
            told = f"{_text(found, best.value)} ({best.year})"
        case _ if len(cells) == 1:
            title, told = f"{label} in {first}", _text(found, values[0])
        case _:
            title = label if is_one_row else f"In {first}"
            told = "; ".join(
                f"{_text(found, cell.value)} ({cell.year if is_one_row else cell.label})"
                for cell in cells
            )
    return f"{title}: {told}"


def _change_text(found: Found) -> str:
    first, last = found.values
    ends = f"from {_text(found, first)} to {_text(found, last)}"
    # Percentages differ by percentage points.
    amount = _text(found, last - first).replace("%", " percentage points")
    percent = f"{round((last - first) * 100 / first, 2)}%" if first > 0 else ""
    if found.operation == "percent":
        return f"{percent}, {ends}"
    return f"{amount} ({percent}), {ends}" if percent else f"{amount}, {ends}"


def _text(found: Found, value: float, more_decimals: int = 0) -> str:
    decimals = max(map(decimals_of, found.values)) + more_decimals
    value = round(value, decimals)
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return written(value, found.unit) + (f" {found.scale}" if found.scale else "")
