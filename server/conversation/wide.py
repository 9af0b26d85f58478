"""Reports with a column for each year: a question names a row and years, and one cell or a few
of them answer it. Silent unless the row, the columns and the computation use up every word."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from server.conversation.ranking import stem, stems
from server.conversation.tables import YEAR, Cell, Table
from server.conversation.time_words import MONTHS
from server.flows.cells import as_number, is_missing, reads_as_number, unit

MONTH = re.compile(
    rf"\b({'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?\s?\d{{0,2}}(?:st|nd|rd|th)?(?!\d)",
    re.IGNORECASE,
)
DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?=\x00)")
NOTE = re.compile(r"\(\s*(?:notes?\s*)?[\d,a-e]{1,4}\s*\)|(?<=[a-z]{4})\d{1,2}\b|[*†‡§]+")
"""Marks of a footnote at a name."""
OPTIONAL = re.compile(r"\([^()]*\)")
SCALE = re.compile(
    r"(?P<thousand>thousands?\b|['\u2019]?\b000s?\b)|(?P<million>\b(?:dollars)?millions?\b|[$€£]\s?m\b)"
    r"|(?P<billion>\bbillions?\b|[$€£]\s?bn\b)",
    re.IGNORECASE,
)
UNSCALED = re.compile(r"per\b|rate|ratio|percent|%|years?\b|number|shares|margin|yield", re.I)
RANGE = re.compile(
    r"\x01\s*(?:-|\u2013|\u2014|to|through|until|till)\s*\x01|\bbetween\s+\x01\s+and\s+\x01"
)
ALSO = frozenset(
    "between during over both respective respectively much many each through until till".split()
)
TIME_STEMS = frozenset(map(stem, "year years fiscal financial calendar ended ending end fy".split()))
UNIT_STEMS = frozenset(
    map(stem, "in thousands millions billions million thousand billion dollars us usd u.s m k bn 000 "
    "amounts amount except percentages per share data note notes rmb nt hk week weeks".split())
)  # fmt: skip
FILLERS = TIME_STEMS | frozenset(
    map(stem, "amount value figure number company group nominal period total_of".split())
)
UPWARDS = "highest larger largest higher greater greatest most bigger biggest maximum"
DOWNWARDS = "lowest lower smaller smallest least fewest minimum"
COMPARING = frozenset(map(stem, "larger higher greater bigger lower smaller".split()))
WORDS = {
    "percent": "percentage percent",
    "change": "change increase decrease growth difference",
    "mean": "average mean",
    "sum": "total sum combined",
    "last": "latest newest recent current",
    "max": UPWARDS,
    "min": DOWNWARDS,
}
STEMS = {name: frozenset(map(stem, words.split())) for name, words in WORDS.items()}
WHICH_YEAR = re.compile(r"\b(?:which|what)\s+(?:fiscal\s+|financial\s+)?year\b", re.IGNORECASE)
PERCENT_CHANGE = re.compile(
    r"(?:percent(?:age)?|%)\s+(?:change|increase|growth)"
    r"|\b(?:change|increase|growth)\s+(?:in\s+|as\s+a\s+)?(?:percent(?:age)?\b|%)(?!\s+of)",
    re.IGNORECASE,
)
BOTH_WAYS = re.compile(r"\([^()]*(?:loss|used|benefit|decrease|expense|deficit|outflow)[^()]*\)", re.I)
MOST_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Group:
    """Columns that differ in nothing but their year; `words` tell them from other groups."""

    words: frozenset[str]
    places: dict[int, int]
    months: frozenset[int]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
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
    """Words that may stand in a question and tell nothing apart."""
    scale: str
    sections: int


@dataclass(frozen=True, slots=True)
class Wish:
    """A question with its times taken out: `years` in the order in which they are named."""

    words: tuple[str, ...]
    years: tuple[int, ...]
    months: frozenset[int]
    is_range: bool
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """The cells of one row that answer a question; `number` is the row's, from 0."""

    operation: str
    label: str
    number: int
    places: tuple[int, ...]
    years: tuple[int, ...]
    values: tuple[float, ...]
    unit: str
    scale: str


def read_wide(table: Table, about: str = "") -> Wide | None:
    """None unless the first texts name the rows and at least two columns are years."""
    if len(table.rows) > MOST_ROWS or not table.columns:
        return None
    named = [(place, _years(column.name)) for place, column in enumerate(table.columns)]
    periods = [(place, years[0]) for place, years in named if place and len(years) == 1]
    if len({year for _, year in periods}) < 2:
        return None
    labels, told = _labels(table, periods[0][0])
    if not labels:
        return None
    names = [table.columns[place].name for place, _ in periods]
    common = frozenset.intersection(*(_qualifiers(name) for name in names))
    groups = _groups(table, periods, common)
    rows = tuple(_rows(table, labels, [place for place, _ in periods]))
    heads = [*(table.columns[place].name for place in labels), table.heading, table.name, *told]
    title = common | {word for text in [*heads, about] for word in stems(text)}
    scale = _scale(" ".join([*names[:1], *heads, *_remarks(table)]))
    sections = len({row.section for row in rows if row.section})
    return Wide(tuple(groups), rows, frozenset(title), scale, sections)


def _labels(table: Table, first: int) -> tuple[list[int], list[str]]:
    """The columns before the years whose texts name a row, and what all rows have in common."""
    varied, common = [], []
    for place, column in enumerate(table.columns[:first]):
        values = {str(value) for value in table.values(column.name) if value is not None}
        if column.kind == "text" and len(values) == 1 and len(table.rows) > 1:
            common += values
        elif column.kind == "text" and not any(map(reads_as_number, values)):
            varied.append(place)
    return varied, common


def _remarks(table: Table) -> Iterator[str]:
    """What stands above the first amount, such as '(in thousands)'."""
    for row in table.rows[:3]:
        if any(_amount(cell) for cell in row[1:]):
            return
        yield from (str(cell) for cell in row if cell is not None)


def _years(text: str) -> list[int]:
    """FY19 and F19 are 2019; what lies between two years is not one year."""
    found = []
    for match in YEAR.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        found.append(int(digits) if len(digits) == 4 else 2000 + int(digits[-2:]))
    return found


def _months(text: str) -> frozenset[int]:
    return frozenset(MONTHS[match[1].lower()] for match in MONTH.finditer(text))


def _qualifiers(name: str) -> frozenset[str]:
    """The words of a column's name that are neither its time nor its unit."""
    plain = MONTH.sub(" ", YEAR.sub(" ", name.replace("%", " percent "))).replace("_", " ")
    words = {word for word in stems(plain) if not word.isdecimal()}
    return frozenset(words - TIME_STEMS - UNIT_STEMS - {stem("number")})


def _groups(
    table: Table, periods: Sequence[tuple[int, int]], common: frozenset[str]
) -> Iterator[Group]:
    """A group in which a year stands twice is none: nothing tells its columns apart."""
    found: dict[frozenset[str], list[tuple[int, int]]] = {}
    for place, year in periods:
        own = _qualifiers(table.columns[place].name) - common
        found.setdefault(own, []).append((place, year))
    for words, places in found.items():
        if len({year for _, year in places}) == len(places):
            names = tuple(table.columns[place].name for place, _ in places)
            months = _months(" ".join(names) + table.columns[0].name)
            yield Group(words, {year: place for place, year in places}, months, names)


def _rows(table: Table, labels: Sequence[int], places: Sequence[int]) -> Iterator[Row]:
    section: frozenset[str] = frozenset()
    for number, cells in enumerate(table.rows):
        label = " ".join(str(cells[place]) for place in labels if cells[place] is not None)
        is_filled = any(cells[place] is not None for place in places)
        if label and not is_filled:
            section = frozenset(stems(NOTE.sub(" ", label)))
        elif label:
            plain = NOTE.sub(" ", label.replace("%", " percent "))
            full = frozenset(stems(plain))
            core = frozenset(stems(OPTIONAL.sub(" ", plain))) or full
            yield Row(label.strip(" :"), core, full, section, cells, number)


def _scale(text: str) -> str:
    found = {match.lastgroup or "" for match in SCALE.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def read_wish(question: str) -> Wish:
    years = _years(question)
    months = _months(question)
    text = DAY.sub(" ", MONTH.sub("\x00", question).replace("%", " percent "))
    marked = YEAR.sub("\x01", text.replace("\x00", " "))
    marked = re.sub(r"(?:\bfiscal\s+|\bfinancial\s+)?(?:\byears?\s+)?(?:ended\s+,?\s*)?\x01", "\x01", marked)
    plain = re.sub(r"\bmost\s+recent\b", "latest", marked.replace("\x01", " "), flags=re.I)
    words = tuple(word for word in stems(plain) if word not in ALSO)
    return Wish(words, tuple(dict.fromkeys(years)), months, bool(RANGE.search(marked)), question)


def look_up(question: str, table: Table, about: str = "") -> Found | None:
    wide = read_wide(table, about)
    if wide is None:
        return None
    wish = read_wish(question)
    found = [one for name, words in _meanings(wish) if (one := _find(wide, wish, name, words))]
    plain = [one for one in found if not one.operation and len(one.years) == 1]
    if plain:
        found = plain
    return found[0] if len(found) == 1 else None


def _meanings(wish: Wish) -> Iterator[tuple[str, frozenset[str]]]:
    """Each word of a computation may also belong to the name of a row."""
    words = frozenset(wish.words)
    yield "", words
    for name, own in STEMS.items():
        asked = words & own
        if not asked or not _is_possible(name, asked, wish):
            continue
        if name == "percent":
            changing = words & STEMS["change"]
            is_asked = PERCENT_CHANGE.search(wish.text) is not None
            if is_asked and _is_possible("change", changing, wish):
                yield name, words - own - STEMS["change"]
        else:
            yield name, words - own


def _is_possible(name: str, asked: frozenset[str], wish: Wish) -> bool:
    """One word for it, but an increase may be followed by '(decrease)'."""
    if name in ("max", "min"):
        return WHICH_YEAR.search(wish.text) is not None and len(asked) == 1
    both = {stem("increase"), stem("decrease")}
    return len(asked) == 1 and asked != {stem("decrease")} or asked == both


def _find(wide: Wide, wish: Wish, name: str, words: frozenset[str]) -> Found | None:
    """The one row in the one group of columns that these words name."""
    fits: list[tuple[int, Row, Group]] = []
    for group in wide.groups:
        if group.words <= words and _is_of_these_months(wish, group):
            for row in wide.rows:
                known = row.full | row.section | group.words | wide.title
                if row.core and row.core <= words and words - FILLERS <= known:
                    if _is_of_its_section(row, words, wide):
                        fits.append((len((row.full | group.words) & words), row, group))
    best = max((score for score, _, _ in fits), default=0)
    kept = [(row, group) for score, row, group in fits if score == best]
    if len(kept) != 1:
        return None
    return _valued(wide, wish, name, *kept[0])


def _is_of_these_months(wish: Wish, group: Group) -> bool:
    """A year that ended in January or February is mostly called by the number before."""
    if wish.months or not wish.years:
        return wish.months <= group.months
    return not group.months & {1, 2}


def _is_of_its_section(row: Row, words: frozenset[str], wide: Wide) -> bool:
    """A total may be that of all sections, so that its section's name says nothing about it."""
    needed = words - row.full - wide.title - FILLERS
    return not needed & row.section or wide.sections == 1 or stem("total") not in row.core


def _valued(wide: Wide, wish: Wish, name: str, row: Row, group: Group) -> Found | None:
    years = _chosen(name, wish, group)
    name = "" if name == "last" else name
    cells = [row.cells[group.places[year]] for year in years]
    amounts = [_amount(cell) for cell in cells]
    if not years or any(one is None for one in amounts):
        return None
    values = tuple(value for value, _ in filter(None, amounts))
    units = {sign for _, sign in filter(None, amounts)}
    if len(units - {""}) > 1 or units == {"", "%"}:
        return None
    scale = "" if "%" in units or UNSCALED.search(row.label) else wide.scale
    places = tuple(group.places[year] for year in years)
    found = Found(name, row.label, row.number, places, years, values, "".join(units), scale)
    return found if _is_sound(found, wish) else None


def _amount(cell: Cell) -> tuple[float, str] | None:
    if isinstance(cell, str):
        if is_missing(cell) or not reads_as_number(cell):
            return None
        return as_number(cell), unit(cell)
    return None if cell is None else (cell, "")


def _chosen(name: str, wish: Wish, group: Group) -> tuple[int, ...]:
    """The years that are meant; none where that is not clear."""
    known = sorted(group.places)
    if any(year not in group.places for year in wish.years):
        return ()
    count = len(wish.years)
    if name == "last":
        return () if count else (known[-1],)
    if not count:
        is_clear = name in ("mean", "max", "min") or (name in ("change", "percent") and len(known) == 2)
        return tuple(known) if is_clear and len(known) > 1 else ()
    if name in ("change", "percent"):
        is_backwards = wish.is_range and list(wish.years) != sorted(wish.years)
        return tuple(sorted(wish.years)) if count == 2 and not is_backwards else ()
    if wish.is_range and count == 2:
        first, last = sorted(wish.years)
        within = [year for year in known if first <= year <= last]
        if len(within) != last - first + 1:
            return ()
        return tuple(within if list(wish.years) == sorted(wish.years) else reversed(within))
    if name and count < 2:
        return ()
    return wish.years


def _is_sound(found: Found, wish: Wish) -> bool:
    values, words = found.values, frozenset(wish.words)
    # Whether an expense in brackets counts as negative is a matter of the report's habit.
    if found.operation and max(values) < 0 and not BOTH_WAYS.search(found.label):
        return False
    match found.operation:
        case "":
            is_sum = words & (STEMS["sum"] | STEMS["mean"])
            is_listed = re.search(r"\brespective(?:ly)?\b|\beach\b", wish.text, re.IGNORECASE)
            return len(values) == 1 or not is_sum or bool(is_listed)
        case "sum":
            return found.unit != "%"
        case "max" | "min":
            is_pair = not words & COMPARING or len(values) == 2
            best = (max if found.operation == "max" else min)(values)
            return is_pair and min(values) >= 0 and values.count(best) == 1
        case "percent":
            return values[0] > 0 and values[1] >= 0 and _is_as_told(values, words)
        case "change":
            return _is_as_told(values, words)
    return True


def _is_as_told(values: Sequence[float], words: Iterable[str]) -> bool:
    """An increase that is none was not asked for rightly; a difference has no direction."""
    told = {stem("increase"), stem("growth"), stem("difference")} & set(words)
    if not told or stem("decrease") in words:
        return True
    return values[1] >= values[0] and min(values) >= 0
