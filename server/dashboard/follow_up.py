"""Reads a short message as a change of the question before: another company, option or time.

Nothing here is guessed. A message with a subject of its own is left to the model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from server.chat import Json
from server.dashboard.actions import Read
from server.dashboard.arguments import named_options, spoken_names
from server.dashboard.conditions import named_values
from server.dashboard.inventory import Inventory
from server.dashboard.materials import Material
from server.dashboard.meaning import LINKING_SIGNS, meaning_from
from server.dashboard.query import Param, Query, Result, Source, Widget
from server.dashboard.symbols import Named, find_symbols
from server.dashboard.tickers import is_ticker
from server.dashboard.widget_choice import Place, pick_places
from server.dashboard.wishes import named_wish, without_wish
from server.language.dates import POINT, Span, Unclear, in_plain_dates, read
from server.language.words import stem
from server.system.limits import ends

LONGEST = 120
MOST_READS = 3
MOST_VALUES = 200
QUESTION_CHARACTERS = 400
READERS = ("get_widget_data", "get_extra_widget_data", "get_params_options")
LINKS_TEXT = """
a about an and also are at be but by for from had has have how in is it its of on one or ones please
s same so that the their then there they this those to was were what with would
aber am an auch bei beim da dann das dem den denn der des die dort ein eine einer es für im in ist
mit oder sein seine sieht sind und von vom war waren was wie zu
à au aussi aux avec c ce celle celui chez d dans de des du en est et était il l la le les mais ou
pour qu que quel quelle quoi sur un une
al como con cuál cuánto de del el ella en era es eso fue la las lo los o para pero por qué según si
también un una y
che com da do e ed em era foi gli i il lo na nel no o os per qual quale quanto são sono
"""
LINKS = frozenset(LINKS_TEXT.split())
"""Words that join a message to the question before it, in the languages that are read here."""
COMPARED = re.compile(
    r"\b(?:compar\w*|versus|vs|against|vergleich\w*|gegenüber|frente)\b|比较|相比|对比|比起",
    re.IGNORECASE,
)
BOTH = re.compile(
    r"\b(?:differences?|gap|spread|apart|together|combined|in total|of both|ratio"
    r"|unterschied\w{0,2}|differenz|abstand|auseinander|zusammen|insgesamt|beide[nr]?|verhältnis"
    r"|différences?|écart|ensemble|au total|les deux|rapport"
    r"|diferencias?|brecha|juntos|juntas|en total|amb[oa]s|proporción)\b"
    r"|差[别距额值]?|相差|一共|总共|合计|加起来|两者",
    re.IGNORECASE,
)
"""Words that ask about the last two questions together."""
FILLING = re.compile(
    r"\b(?:big|large|wide|far|much|many|show|give|me|tell|us|all|make"
    r"|groß|hoch|weit|viel|zeig\w{0,2}|gib|mir|mach\w{0,2}"
    r"|grand\w?|combien|montre\w{0,2}|donne\w{0,2}|moi|fais"
    r"|grande|cuánt[ao]s?|mucho|muestra\w{0,3}|dame|haz)\b|多[大少]|显示|给我|请",
    re.IGNORECASE,
)
BACK = (
    r"before|earlier|previous|prior|preceding|davor|vorher|zuvor|früher|vorig\w*|vorherig\w*"
    r"|avant|précédent\w*|plus tôt|antes|anterior(?:es)?|previ[oa]s?"
)
AHEAD = (
    r"after|later|next|following|danach|später|darauf|folgend\w*|nächst\w*|après|suivant\w*"
    r"|plus tard|después|siguientes?|más tarde"
)
UNITS = {
    "day": "days?|tage?s?|jours?|días?",
    "month": "months?|monate?s?|mois|mes(?:es)?",
    "quarter": "quarters?|quartale?s?|trimestres?",
    "year": "years?|jahre?s?|ans?|années?|años?",
}
COUNTS = {"two": 2, "three": 3, "zwei": 2, "drei": 3, "deux": 2, "trois": 3, "dos": 2, "tres": 3}
COUNTED = "|".join(COUNTS)
CHINESE_UNITS = {"天": "day", "个月": "month", "月": "month", "季度": "quarter", "年": "year"}
CHINESE_STEP = re.compile("([前上后下])一?(天|个月|月|季度|年)|一(天|个月|季度|年)([前后])")
MONTHS = {"month": 1, "quarter": 3, "year": 12}
LONGEST_MONTH, LONGEST_QUARTER, LONGEST_YEAR = 31, 92, 366
"""The most days of a month, a quarter and a year."""
QUARTER_FIRST = re.compile(r"(q)[1-4]([\s/-]*)\d{4}", re.IGNORECASE)
YEAR_FIRST = re.compile(r"\d{4}([\s/-]?)(q)[1-4]", re.IGNORECASE)
YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
WORD = re.compile(r"[^\W_]+")
ENDING = "?\uff1f. "


@dataclass(frozen=True, slots=True)
class Change:
    """The question before, changed by the message, and the reads that answer it."""

    question: str
    """Empty if only the reads are known, because the old question does not name what changed."""
    reads: tuple[Read, ...]


Made = tuple[str, Widget, Json]
"""A read that was made: the widget's alias, the widget, and its arguments."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The question before, and what was read for it."""

    question: str
    reads: tuple[Made, ...] = ()
    values: tuple[frozenset[str], ...] = ()
    """Sets of values: one for each column of text that was read, and one of each table's
    figures."""
    first: "Earlier | None" = None
    """The question before that one."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Another option for a parameter, and how the message writes it."""

    param: Param
    old: object
    new: object
    form: str


def find_change(message: str, earlier: Earlier, today: date) -> Change | None:
    """Returns what the message changes, or None if it is more than a change, or says nothing."""
    if not earlier.question or not earlier.reads or len(message) > LONGEST:
        return None
    return (
        _find_part(message, earlier, today)
        or _find_row(message, earlier)
        or _find_both(message, earlier)
    )


def _find_part(message: str, earlier: Earlier, today: date) -> Change | None:
    """Returns the change of a company, an option or a time, perhaps with the wish for a chart."""
    is_compared = COMPARED.search(message) is not None
    plain, rest = in_plain_dates(earlier.question), in_plain_dates(message)
    shifted, rest = _shifted_time(rest, plain, today)
    choices = list(_new_choices(f"{rest} {shifted}", earlier))
    symbols = _new_symbols(rest, earlier, is_choice=bool(choices))
    if not (shifted or choices or symbols) or (shifted and is_compared):
        return None
    used = [one.words for one in symbols] + [one.form for one in choices]
    wish = named_wish(message)
    if _has_own_subject(COMPARED.sub(" ", without_wish(rest)), used, earlier.question):
        return None
    question = _with_time(plain, shifted) if shifted else earlier.question
    if symbols:
        question = _with_symbols(question, symbols, is_compared=is_compared)
    for one in choices:
        question = _with_choice(question, one, is_compared=is_compared)
    if symbols and not question:
        return None
    reads = list(_changed_reads(earlier, symbols, choices))
    if is_compared:
        reads = [*(Read(alias, dict(given)) for alias, _, given in earlier.reads), *reads]
    if wish and question:
        question = f"{wish}: {question}"
    return Change(ends(question, QUESTION_CHARACTERS), tuple(reads[:MOST_READS]))


def _find_row(message: str, earlier: Earlier) -> Change | None:
    """Returns the change to another row or column than the one asked about: And Utilities?"""
    for values in earlier.values:
        old = named_values(values, earlier.question)
        new = named_values(values, message) or _named_in_part(values, message)
        if len(old) != 1 or not new or set(new) & set(old):
            continue
        (form,) = old.values()
        rest = COMPARED.sub(" ", message)
        if _has_own_subject(rest, list(new.values()), earlier.question):
            continue
        named = [form, *new] if COMPARED.search(message) else list(new)
        question = earlier.question.replace(form, ", ".join(named))
        return Change(ends(question, QUESTION_CHARACTERS), _same_reads(earlier))
    return None


def _named_in_part(values: frozenset[str], message: str) -> dict[str, str]:
    """Returns the only value that has all words of the message but linking ones: And its cash?"""
    words = [one for one in WORD.findall(message) if one.lower() not in LINKS]
    wanted = {stem(one) for one in words}
    found = [one for one in values if wanted and wanted <= set(map(stem, WORD.findall(one)))]
    return {found[0]: " ".join(words)} if len(found) == 1 else {}


def _find_both(message: str, earlier: Earlier) -> Change | None:
    """Returns the question about the last two questions together: How big is the difference?"""
    first = earlier.first
    if first is None or not first.question or not BOTH.search(message):
        return None
    rest = FILLING.sub(" ", BOTH.sub(" ", message))
    if _has_own_subject(rest, [], f"{first.question} {earlier.question}"):
        return None
    if {alias for alias, _, _ in first.reads} != {alias for alias, _, _ in earlier.reads}:
        return None
    now = _same_reads(earlier)
    reads = [*(one for one in _same_reads(first) if one not in now), *now]
    question = f"{first.question} {earlier.question} {message}"
    return Change(ends(question, 2 * QUESTION_CHARACTERS), tuple(reads[:MOST_READS]))


def _same_reads(earlier: Earlier) -> tuple[Read, ...]:
    return tuple(Read(alias, dict(given)) for alias, _, given in earlier.reads)


def look_back(
    query: Query, inventory: Inventory, today: date, materials: Sequence[Material] = ()
) -> Earlier:
    """Returns the question before this one, as its own turn completed it, and its reads."""
    found = Earlier("")
    users = [said for said in query.said if said.role == "user"]
    for said in users[:-1]:
        states = (one.state for one in reversed(query.results) if one.turn == said.turn)
        kept = next(filter(None, map(meaning_from, states)), None)
        if kept is None:
            change = find_change(said.text, found, today)
            whole = change.question if change else ""
            question = whole or ends(said.text, QUESTION_CHARACTERS)
        else:
            question = kept.question
        reads = _last_reads(query, inventory, said.turn, materials)
        before = replace(found, first=None)
        found = Earlier(question, reads, _values_of(reads, inventory, materials), before)
    return found


def _values_of(
    reads: Sequence[Made], inventory: Inventory, materials: Sequence[Material]
) -> tuple[frozenset[str], ...]:
    """Returns what the tables of these reads hold: names of figures, and the texts of columns."""
    made = {(alias, str(given)) for alias, _, given in reads}
    found: list[frozenset[str]] = []
    for material in materials:
        source = material.source
        if source is None or (inventory.alias_of(source), str(source.arguments)) not in made:
            continue
        for table in material.tables:
            names = {one.name.replace("_", " ") for one in table.of_kind("number")}
            found.append(frozenset(names))
            for column in table.of_kind("text"):
                values = {str(one) for one in table.values(column.name) if one is not None}
                if 1 < len(values) <= MOST_VALUES:
                    found.append(frozenset(values))
    return tuple(found)


def _last_reads(
    query: Query, inventory: Inventory, turn: int, materials: Sequence[Material]
) -> tuple[Made, ...]:
    """Returns the reads of the last turn, up to this one, in which anything was read.

    If another widget was found to have the answer, reads before it do not count.
    """
    turns = [one.turn for one in query.results if one.turn <= turn and one.function in READERS]
    found: list[Made] = []
    for result in query.results:
        if result.turn == max(turns, default=0) and result.function in READERS:
            sources = sources_told(result, query, inventory, materials)
            if is_search(result) and sources:
                found.clear()
            for source in sources:
                if alias := inventory.alias_of(source):
                    found.append((alias, inventory.widgets[alias], dict(source.arguments)))
    return tuple(found[-MOST_READS:])


def is_search(result: Result) -> bool:
    """Whether this result searched other widgets, because the first lacked the question's words."""
    plan = result.state.get("plan")
    last = plan[-1] if isinstance(plan, list) and plan else None
    return isinstance(last, dict) and "search" in last


def own_choices(searched: object) -> list[str]:
    """Returns those of the searched widgets that the model itself wanted to read."""
    found = [
        one for one in (searched if isinstance(searched, list) else []) if isinstance(one, dict)
    ]
    return [str(one.get("widget")) for one in found if one.get("own") is True]


def sources_told(
    result: Result, query: Query, inventory: Inventory, materials: Sequence[Material]
) -> Sequence[Source]:
    """Returns the sources of a result; of a search, only those that have what was looked for."""
    if not is_search(result):
        return result.sources
    earlier = (one for one in query.results if one.turn == result.turn and not is_search(one))
    first = _places([source for one in earlier for source in one.sources], inventory, materials)
    others = _places(result.sources, inventory, materials)
    meant = meaning_from(result.state)
    own = meant.question if meant else ""
    question = (meant.english if meant else "") or own
    plan = result.state.get("plan")
    last = plan[-1] if isinstance(plan, list) and plan else {}
    picked = pick_places(question, first, others, own) or own_choices(last.get("search"))
    return [one for one in result.sources if inventory.alias_of(one) in picked]


def _places(
    sources: Sequence[Source], inventory: Inventory, materials: Sequence[Material]
) -> list[Place]:
    by_key = {one.source.key: one for one in materials if one.source is not None}
    found = [(inventory.alias_of(one), by_key.get(one.key)) for one in sources]
    return [
        Place(alias, inventory.widgets[alias], material.texts())
        for alias, material in found
        if alias and material is not None
    ]


def _shifted_time(message: str, before: str, today: date) -> tuple[str, str]:
    """Returns the time that the message names, or moves the one before; and its other words."""
    points = list(POINT.finditer(message))
    if len(points) == 1:
        text = points[0][0]
        year = YEAR.search(before)
        if year and not YEAR.search(text) and text[:1].upper() == text[:1]:
            text = f"{text} {year[0]}"
        return text, f"{message[: points[0].start()]} {message[points[0].end() :]}"
    unit, count, rest = _named_step(message)
    points = list(POINT.finditer(before))
    if not unit or len(points) != 1:
        return "", message
    try:
        span = read(before, today).span
    except Unclear:
        span = None
    moved = _moved(span, unit, count) if span and not span.is_open else ""
    return _in_form_of(points[0][0], moved), rest


def _in_form_of(before: str, moved: str) -> str:
    """Writes a quarter as the question before does, and so does the data: Q1/2025, 2025-Q1."""
    quarter, _, year = moved.partition(" ")
    if not year:
        return moved
    if found := QUARTER_FIRST.fullmatch(before):
        return f"{found[1]}{quarter[1:]}{found[2]}{year}"
    if found := YEAR_FIRST.fullmatch(before):
        return f"{year}{found[1]}{found[2]}{quarter[1:]}"
    return moved


def _named_step(message: str) -> tuple[str, int, str]:
    """Returns the unit, the count and the other words: 'the year before' is one year back."""
    if chinese := CHINESE_STEP.search(message):
        way, unit = chinese[1] or chinese[4], chinese[2] or chinese[3]
        count = -1 if way in "前上" else 1
        return CHINESE_UNITS[unit], count, message.replace(chinese[0], " ")
    way = -1 if re.search(rf"\b(?:{BACK})\b", message, re.IGNORECASE) else 1
    named = re.search(rf"\b(?:{BACK}|{AHEAD})\b", message, re.IGNORECASE)
    for unit, names in UNITS.items():
        found = re.search(rf"\b(?:(\w+)\s+)?(?:{names})\b", message, re.IGNORECASE)
        if named and found:
            said = (found[1] or "").lower()
            number = int(said) if said.isdecimal() else COUNTS.get(said, 1)
            rest = re.sub(rf"\b(?:{BACK}|{AHEAD}|{names}|{COUNTED})\b", " ", message, flags=re.I)
            return unit, way * number, rest
    return "", 0, message


def _moved(span: Span, unit: str, count: int) -> str:
    """Returns the time moved by `count` units, or "" if it is longer than the unit."""
    days = (span.end - span.start).days
    try:
        if unit == "day":
            return (span.start + timedelta(days=count)).isoformat() if days == 1 else ""
        months = span.start.year * 12 + span.start.month - 1 + count * MONTHS[unit]
        start = date(months // 12, months % 12 + 1, span.start.day)
    except (ValueError, OverflowError):
        return ""
    if days == 1:
        return start.isoformat()
    if days <= LONGEST_MONTH:
        return f"{start:%Y-%m}"
    if days <= LONGEST_QUARTER:
        return f"Q{(start.month + 2) // 3} {start.year}" if unit != "month" else ""
    return str(start.year) if unit == "year" and days <= LONGEST_YEAR else ""


def _new_choices(text: str, earlier: Earlier) -> Iterator[Choice]:
    """Yields the options of earlier reads that the message names, one for each parameter."""
    seen: set[str] = set()
    for _, widget, given in earlier.reads:
        for param in widget.params:
            if not param.options or is_ticker(param) or param.several or param.name in seen:
                continue
            named = named_options(param, param.options, text)
            if len(named) == 1 and str(named[0]) != str(given.get(param.name, param.value)):
                seen.add(param.name)
                old = given.get(param.name, param.value)
                yield Choice(param, old, named[0], _form_in(param, named[0], text))


def _new_symbols(message: str, earlier: Earlier, *, is_choice: bool) -> list[Named]:
    has_symbol = any(is_ticker(one) for _, widget, _ in earlier.reads for one in widget.params)
    if not has_symbol:
        return []
    old = find_symbols(earlier.question)
    shown = {str(value) for _, _, given in earlier.reads for value in given.values()}
    found = find_symbols(message, shown)
    new = [one for one in found if not any(one.is_meant_by(other.symbol) for other in old)]
    return [] if is_choice and len(new) > 1 else new


def _has_own_subject(message: str, used: Sequence[str], before: str) -> bool:
    """Whether the message has a word that is neither a link nor in the question before."""
    for form in used:
        message = message.replace(form, " ")
    known = {word.lower() for word in WORD.findall(before)}
    words = [word.lower() for word in WORD.findall(LINKING_SIGNS.sub(" ", message))]
    return any(word not in LINKS and word not in known and word not in before for word in words)


def _with_time(question: str, time: str) -> str:
    points = list(POINT.finditer(question))
    if len(points) > 1:
        return ""
    if not points:
        return f"{question.rstrip(ENDING)} {time}?"
    return f"{question[: points[0].start()]}{time}{question[points[0].end() :]}"


def _with_symbols(question: str, symbols: Sequence[Named], *, is_compared: bool) -> str:
    """Puts other companies into the question. Returns "" unless it names exactly one."""
    old = find_symbols(question)
    if len(old) != 1:
        return ""
    words = [*([old[0].words] if is_compared else []), *(one.words for one in symbols)]
    return question.replace(old[0].words, ", ".join(words))


def _with_choice(question: str, choice: "Choice", *, is_compared: bool) -> str:
    """Puts another option into the question. Returns "" if it does not name the old option."""
    if choice.form and _form_in(choice.param, choice.new, question):
        return question
    old = _form_in(choice.param, choice.old, question)
    new = f"{old}, {choice.form}" if is_compared else choice.form
    return question.replace(old, new) if old else ""


def _changed_reads(
    earlier: Earlier, symbols: Sequence[Named], choices: Sequence["Choice"]
) -> Iterator[Read]:
    values = {one.param.name: one.new for one in choices}
    for alias, widget, given in earlier.reads:
        names = {param.name for param in widget.params}
        changed = given | {name: value for name, value in values.items() if name in names}
        tickers = [param for param in widget.params if is_ticker(param)]
        if not symbols or not tickers:
            yield Read(alias, changed)
        elif tickers[0].several:
            yield Read(alias, changed | {tickers[0].name: [one.symbol for one in symbols]})
        else:
            for one in symbols:
                yield Read(alias, changed | {tickers[0].name: one.symbol})


def _form_in(param: Param, value: object, text: str) -> str:
    """Returns how the text writes an option, or "" if it does not."""
    for form in spoken_names(param, value):
        flags = re.IGNORECASE if len(form) > 3 else re.NOFLAG
        if found := re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text, flags):
            return found[0]
    return ""
