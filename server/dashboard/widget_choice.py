"""Chooses widgets to read: by rank if code chooses, and with a second look if the model does."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from server.asking.ask import Means, ask_json
from server.chat import Json
from server.dashboard.figures.operations import operation
from server.dashboard.figures.question import FILLERS
from server.dashboard.inventory import Inventory
from server.dashboard.meaning import NAME, RELATIVE, SIGNS, Asked, small_question
from server.dashboard.query import Query, Widget
from server.dashboard.symbols import find_symbols
from server.dashboard.tickers import is_ticker
from server.language.dates import POINT, in_plain_dates
from server.language.ranking import RELATED, Ranked, rank, stems
from server.language.words import goes_on, language_of
from server.schemas.bounded import closed

SHOWN = 8
SHOWN_TO_ABLE = 16
CHOSEN = 3
CLEAR_LEAD = 1.5
"""A widget whose score is this many times that of the next is taken without asking."""
LEAST_SCORE = 0.6
TIE = 0.9
"""Widgets scored at least this share of the best are read too."""
NEAR = 0.6
"""Widgets scored below this share of the best are not offered to the model."""
WORD = re.compile(r"[^\W_]+")
GREETINGS = (
    r"hi|hello|hey|thanks?|thank you|good (?:morning|evening|afternoon)|bye",
    r"hallo|guten (?:tag|morgen|abend)|danke\w*|vielen dank|tschüss",
    r"bonjour|bonsoir|salut|merci|au revoir",
    r"hola|gracias|buen[oa]s (?:días|tardes|noches)|adiós",
)
SMALL_TALK = re.compile(
    rf"^\W*(?:say )?(?:{'|'.join(GREETINGS)})\b\D{{0,40}}$|^\W*(?:你好|您好|谢谢|再见)\D{{0,20}}$",
    re.IGNORECASE | re.DOTALL,
)
OTHER_MATTER = re.compile(
    r"^\W*(my name is|who are you|what can you do|translate\b"
    r"|(please )?(write|compose|tell)( me| us)?( an?| the)?( \w+)? (story|poem|joke|song|essay)\b"
    r"|was kannst du\b|wer bist du\b|que (peux-tu|sais-tu) faire\b|qué puedes hacer\b|你能做什么)",
    re.IGNORECASE,
)
WHAT = r"[^?.]{1,80}"
EXPLANATIONS = (
    rf"what (?:does|do) {WHAT} mean|define {WHAT}",
    rf"(?:what is|explain) the (?:meaning|definition) of {WHAT}",
    rf"(?:what is|explain) the difference between an? {WHAT} and an? {WHAT}",
    rf"was (?:bedeutet|heißt|versteht man unter) {WHAT}",
    rf"erkläre? (?:mir )?den unterschied zwischen eine[mr] {WHAT} und eine[mr] {WHAT}",
    rf"que (?:signifie|veut dire) {WHAT}|explique la différence entre une? {WHAT} et une? {WHAT}",
    rf"qué significan? {WHAT}|explica la diferencia entre una? {WHAT} y una? {WHAT}",
    rf"什么是{WHAT}|{WHAT}是什么意思",
)
EXPLAINED = re.compile(rf"^\W*(?:{'|'.join(EXPLANATIONS)})\W*$", re.IGNORECASE)
"""Questions that ask for nothing but the meaning of a word."""
SHOWN_AS = re.compile(
    r"\b(?:draw|plot|show|line|bar|area|chart|graph|diagram|table|visuali[sz]e|compar|versus)\w*"
    r"|\b(?:vs|give|make|list|tell|much|many)\b",
    re.IGNORECASE,
)
"""Words for what to do with the data and how to show it. They are not a question's subject."""
ENTITY = "compan{}|firm{}|stock{}|coin{}|token{}|cryptocurrenc{}|issuer{}|securit{}"
ONE, MANY = ("y", "", "", "", "", "y", "", "y"), ("ies", "s", "s", "s", "s", "ies", "s", "ies")
ACROSS = re.compile(
    rf"\b(?:which|what|each|every)\s+(?:\w+\s+)?(?:{ENTITY.format(*ONE)})\b"
    rf"|\b(?:{ENTITY.format(*MANY)})\b",
    re.IGNORECASE,
)
"""Words for many companies, none of which is named."""
ENTITIES = frozenset(stems(ENTITY.format(*ONE).replace("|", " ")))
"""Words for what a row is about. Any widget about companies may contain them."""
RIVALS = 3
LEAST_SHARED = 2
"""The fewest words that a question must share with a widget to oppose the model's choice."""
MOST_OPTIONS = 60
MOST_PLACES = 3
"""The most widgets to look into at first. Each is a request to the user's own data server."""
MOST_PLACES_AT_LAST = 16
"""The most to look into if none of the first has the words of the question."""
MOST_BY_WORDS = 3
MOST_PICKED = 2
LONG_WORD = 6
LEAST_LETTERS = 5
"""The fewest letters of a word that says something, where common words are not known."""
BETWEEN = "Which widget holds what the question asks for?"
BETWEEN_EXAMPLES = (
    (
        "What was the profit of Shell in 2023?",
        (
            "- annual_accounts: Annual Accounts. Sales, costs and profit of a company by year",
            "- profit_by_country: Profit by Country. Profit in each country",
            "- share_price: Share Price. Daily prices of a stock",
        ),
        "annual_accounts",
    ),
    (
        "Which oil firm has the most staff?",
        (
            "- firm_facts: Firm Facts. Staff, seat and founding year of a firm parameters: "
            "symbol=XOM (ticker)",
            "- sector_table: Sector Table. All firms side by side: staff, sales, value",
            "- staff_history: Staff History. Staff of a firm by year parameters: symbol=XOM "
            "(ticker)",
        ),
        "sector_table",
    ),
    (
        "How busy are the ports?",
        (
            "- monthly_indicators: Monthly Indicators parameters: series=port_traffic|car_sales",
            "- port_operators: Port Operators. Shares of listed operators",
            "- trade_calendar: Trade Calendar. Days on which figures are published",
        ),
        "monthly_indicators",
    ),
    (
        "Wie hoch ist die Miete in Rom?",
        (
            "- hotel_prices: Hotels. Price of a night by city parameters: city=Paris",
            "- rent_index: Rents. Rents by city parameters: city=Paris",
        ),
        "rent_index",
    ),
)
SYSTEM = (
    "You choose which widgets of a dashboard hold the data that a question needs. "
    "Answer with the numbers of the needed widgets, best first; none if none helps."
)


@dataclass(frozen=True, slots=True)
class Choice:
    widgets: tuple[Widget, ...]
    by: str
    """How it was decided: 'name', 'rank' or 'model'."""


def ranked(question: str, widgets: Sequence[Widget]) -> list[Ranked]:
    return rank(question, [_document(widget) for widget in widgets])


async def choose(query: Query, means: Means, widgets: Sequence[Widget]) -> Choice:
    """Returns at most `CHOSEN` widgets, best first, and no widget for small talk."""
    question = query.question
    if not widgets or _needs_no_data(question):
        return Choice((), "rank")
    by_name = named(question, widgets)
    if by_name:
        return Choice(tuple(by_name[:CHOSEN]), "name")
    order = [one for one in ranked(question, widgets) if one.score >= LEAST_SCORE]
    if await means.is_able():
        return await _chosen_by_model(means, question, widgets, [one.index for one in order])
    if not order:
        return Choice((), "rank")
    if len(order) == 1 or order[0].score >= CLEAR_LEAD * order[1].score:
        return Choice((widgets[order[0].index],), "rank")
    near = [one for one in order[:SHOWN] if one.score >= NEAR * order[0].score]
    picked = await _ask(means, question, [widgets[one.index] for one in near])
    # A small model may add to what the ranking is sure of, but not take it away. Reading one
    # widget too many is cheaper than reading the wrong one.
    sure = [widgets[one.index] for one in near if one.score >= TIE * order[0].score]
    together = [*sure, *(widget for widget in picked or () if widget not in sure)]
    return Choice(tuple(together[:CHOSEN]), "model")


def _needs_no_data(question: str) -> bool:
    """Whether it is small talk, another matter, or a word's meaning without time and company."""
    if SMALL_TALK.match(question) or OTHER_MATTER.match(question):
        return True
    is_general = not any(map(str.isdigit, question)) and not find_symbols(question)
    return is_general and EXPLAINED.match(question) is not None


async def _chosen_by_model(
    means: Means, question: str, widgets: Sequence[Widget], order: list[int]
) -> Choice:
    """Asks an able model. It may choose no widget, and knows words that ranking does not."""
    best = [widgets[index] for index in order]
    near = [one for one in widgets if one.tier != "extra" and one not in best]
    shown = [*best[:SHOWN], *near][: max(SHOWN_TO_ABLE, len(best[:SHOWN]))]
    picked = await _ask(means, question, shown) if shown else []
    if picked is None:
        return Choice(tuple(best[:1]), "rank")
    return Choice(tuple(picked[:CHOSEN]), "model")


async def _ask(means: Means, question: str, widgets: Sequence[Widget]) -> list[Widget] | None:
    """Returns the widgets that the model picks, or None if it gave no answer."""
    aliases = {f"W{number}": widget for number, widget in enumerate(widgets, 1)}
    lines = [f"{alias}: {_line(widget)}" for alias, widget in aliases.items()]
    schema: Json = closed(
        {"widgets": {"type": "array", "items": {"enum": list(aliases)}, "maxItems": CHOSEN}}
    )
    text = "Widgets:\n" + "\n".join(lines) + f"\n\nQuestion: {question}"
    answer = await ask_json(means, (SYSTEM, text), schema, max_tokens=40)
    names = answer.get("widgets") if answer else None
    if not isinstance(names, list):
        return None
    return [aliases[name] for name in dict.fromkeys(names) if name in aliases]


def find_rivals(question: str, alias: str, inventory: Inventory) -> list[str]:
    """Returns widgets that the question's words favour over this one, together with it.

    Returns [] if the words agree with the choice. "Revenue by Segment" is not a rival if all of the
    revenue is asked for, and a widget for one company is not if many are compared.
    """
    widgets = inventory.widgets
    if _is_for_one(widgets[alias]) and ACROSS.search(question) and not find_symbols(question):
        many = [one for one in _by_words(question, inventory) if not _is_for_one(widgets[one])]
        if many:
            return sorted(many[:RIVALS])
    best = [one for one in _by_words(question, inventory) if one != alias][:RIVALS]
    parts = [one for one in [alias, *best] if _is_part(question, widgets[one])]
    if parts and _subjects(question):
        wholes = [one for one in widgets if _is_whole(question, widgets[one], widgets[parts[0]])]
        if wholes:
            order = [one for one in _by_words(question, inventory) if one in wholes][:RIVALS]
            return [] if alias in wholes else order or wholes[:RIVALS]
    top = _by_words(question, inventory)[:1]
    is_sure = bool(top) and _shared(question, widgets[top[0]]) >= LEAST_SHARED
    if top and not is_sure and not _shared(question, widgets[alias], RELATED):
        is_sure = _shared(question, widgets[top[0]], RELATED) >= LEAST_SHARED
    return sorted([alias, *best]) if is_sure and top != [alias] else []


def _is_for_one(widget: Widget) -> bool:
    """Whether the widget shows one company or coin at a time."""
    return any(is_ticker(param) and not param.several for param in widget.params)


def find_partner(question: str, alias: str, inventory: Inventory) -> str:
    """Returns the widget that is asked for beside the chosen one, or "" if one has all words.

    Its name has the words that the other lacks: net income here, operating cash flow there.
    """
    widgets = inventory.widgets
    subjects, own = _subjects(question), _own_words(widgets[alias])
    missing = subjects - own
    if len(missing) < LEAST_SHARED or len(subjects & own) < LEAST_SHARED:
        return ""
    found = [one for one, widget in widgets.items() if missing <= set(stems(widget.name))]
    same = {param.name for param in widgets[alias].params if is_ticker(param)}
    takes = [{param.name for param in widgets[one].params if is_ticker(param)} for one in found]
    return found[0] if len(found) == 1 and takes[0] == same else ""


def speaks_of(
    question: str, widgets: Collection[Widget], texts: Collection[str], own: str = ""
) -> bool:
    """Whether a widget or its data has a word of what the question is about, or a related word.

    What a widget can be read for does not count, nor its values: Hamburg is a port in many widgets.
    True if the question has no subject or is not in English. `own` is the question in the user's
    language, which the data may be in, if `question` is its English translation.
    """
    wanted = _subjects(question) - RELATIVE if language_of(question) == "English" else set()
    options = {word for widget in widgets for text in _options(widget) for word in stems(text)}
    options |= {word for one in widgets for param in one.params for word in stems(param.name)}
    wanted -= options
    wanted = wanted - ENTITIES or wanted
    if not wanted or _found_in(wanted | (_foreign(own) - options), widgets, texts):
        return True
    return any(_shared(" ".join(wanted), widget, RELATED) for widget in widgets)


@dataclass(frozen=True, slots=True)
class Place:
    """A widget in which the answer may be, and the names and texts of its data."""

    alias: str
    widget: Widget
    texts: Collection[str]


def pick_places(
    question: str, first: Sequence[Place], others: Sequence[Place], own: str = ""
) -> list[str]:
    """Returns the widgets that have more words of the question than those that were read first.

    They must have half of its words, or a name. Returns at most two that have equally many. The
    words of `own`, the question in the user's language, are tried if the English ones are nowhere.
    """
    wanted = _subjects(question) - RELATIVE
    wanted = wanted - ENTITIES or wanted
    names = {word for name in NAME.findall(question) for word in stems(name)} & wanted
    return _pick(wanted, names, first, others) or _pick(_foreign(own), set(), first, others)


def _pick(
    wanted: set[str], names: set[str], first: Sequence[Place], others: Sequence[Place]
) -> list[str]:
    found = {one.alias: _found_in(wanted, [one.widget], one.texts) for one in others}
    least = max((len(_found_in(wanted, [one.widget], one.texts)) for one in first), default=0)
    best = max(map(len, found.values()), default=0)
    if best <= least:
        return []
    picked = [one for one, words in found.items() if len(words) == best]
    is_sure = 2 * best >= len(wanted) or any(found[one] & names for one in picked)
    return picked if is_sure and len(picked) <= MOST_PICKED else []


def order_places(
    question: str, aliases: Sequence[str], inventory: Inventory, most: int
) -> list[str]:
    """Returns where the answer may be: widgets that share words, and those with unknown columns."""
    words = [one for one in _by_words(question, inventory) if one in aliases][:MOST_BY_WORDS]
    unknown = [one for one in aliases if not inventory.widgets[one].columns]
    return list(dict.fromkeys([*words, *unknown]))[:most]


def _foreign(question: str) -> set[str]:
    """Returns what may be subjects in a question that is not in English: its longer words."""
    if language_of(question) == "English":
        return set()
    words = {word for word in stems(question) if not word.isdecimal()}
    return {word for word in words if len(word) >= LEAST_LETTERS or SIGNS.fullmatch(word)}


def _found_in(wanted: set[str], widgets: Iterable[Widget], texts: Iterable[str]) -> set[str]:
    """Returns the wanted words that occur, also with another ending: volatile, volatility."""
    there = {word for widget in widgets for word in _own_words(widget)}
    there.update(word for text in texts for word in stems(text.replace(".", " ")))
    found = wanted & there
    for word in wanted - found:
        if any(_is_begun(word, other) or goes_on(word, other) for other in there):
            found.add(word)
    return found


def _is_begun(word: str, other: str) -> bool:
    are_long = min(len(word), len(other)) >= LONG_WORD
    return are_long and (other.startswith(word) or word.startswith(other))


def ask_between(question: str, aliases: Sequence[str], inventory: Inventory) -> Asked:
    """Returns a prompt to choose between few widgets, which is easier than between all."""
    lines = [inventory.line(alias) for alias in aliases]
    return small_question(
        BETWEEN,
        [(_rivals_text(one, shown), {"widget": right}) for one, shown, right in BETWEEN_EXAMPLES],
        _rivals_text(question, lines),
        {"widget": {"enum": list(aliases)}},
    )


def _shared(
    question: str, widget: Widget, related: Mapping[str, Collection[str]] | None = None
) -> int:
    """Returns how many words of the question the widget has: few in another language.

    If `related` is given, related words count too.
    """
    own = _own_words(widget)
    asked = {word for word in stems(question) if not word.isdecimal()}
    return sum(bool({word, *(related or {}).get(word, ())} & own) for word in asked)


def _own_words(widget: Widget) -> set[str]:
    return {word for text in _document(widget) | _options(widget) for word in stems(text)}


def _rivals_text(question: str, lines: Sequence[str]) -> str:
    return "\n".join([f"Question: {question}", *lines])


def _by_words(question: str, inventory: Inventory) -> list[str]:
    """Ranks all widgets by names, descriptions, columns and options, best first."""
    aliases = list(inventory.widgets)
    documents = [_document(one) | _options(one) for one in inventory.widgets.values()]
    return [aliases[one.index] for one in rank(question, documents)]


def _options(widget: Widget) -> dict[str, float]:
    """Returns the names of options. Leaves out numbers: every second widget offers years."""
    names = [str(one) for param in widget.params for one in (param.labels or param.options)]
    text = " ".join(name for name in names[:MOST_OPTIONS] if not name.isdecimal())
    return {text: 1.5} if text.strip() else {}


def _is_part(question: str, widget: Widget) -> bool:
    """Whether its name says by what it splits the data, and the question does not mention that."""
    _, by, parts = widget.name.lower().partition(" by ")
    return bool(by) and not set(stems(parts)) & set(stems(question))


def _is_whole(question: str, widget: Widget, part: Widget) -> bool:
    """Whether it has what the part splits, takes the same symbol, and covers the question."""
    if " by " in widget.name.lower() or widget is part:
        return False
    head = part.name.lower().partition(" by ")[0]
    own = set(stems(f"{widget.name} {widget.description} {' '.join(widget.columns)}"))
    takes = {param.name for param in widget.params if is_ticker(param)}
    if not takes >= {param.name for param in part.params if is_ticker(param)}:
        return False
    return set(stems(head)) <= own and not (_subjects(question) - own)


def _subjects(question: str) -> set[str]:
    """Returns the words of a question without names, times, commands and fillers."""
    for one in find_symbols(question):
        question = question.replace(one.words, " ")
    question = SHOWN_AS.sub(" ", POINT.sub(" ", in_plain_dates(question)))
    wanted = operation(question, set(), set())
    done = wanted.words if wanted else frozenset()
    return {word for word in stems(question) if not word.isdecimal()} - {*done, *FILLERS}


def named(question: str, widgets: Sequence[Widget]) -> list[Widget]:
    """Returns widgets whose whole name is in the question. Names of one word are too common."""
    asked = f" {' '.join(WORD.findall(question.lower()))} "
    found = []
    for widget in widgets:
        words = WORD.findall(widget.name.lower())
        if len(words) > 1 and f" {' '.join(words)} " in asked:
            found.append(widget)
    return found


def _document(widget: Widget) -> dict[str, float]:
    values = " ".join(str(param.value) for param in widget.params if param.has_value)
    params = " ".join(f"{param.name} {param.description}" for param in widget.params)
    document: dict[str, float] = {}
    for text, weight in (
        (widget.name, 3.0),
        (widget.description, 1.5),
        (" ".join(widget.columns), 1.0),
        (f"{widget.category} {widget.sub_category}", 1.0),
        (values, 1.0),
        (widget.id, 1.0),
        (params, 0.3),
        (widget.source, 0.3),
    ):
        if text.strip():
            document[text] = document.get(text, 0.0) + weight
    return document


def _line(widget: Widget) -> str:
    about = " ".join(widget.description.split())[:100]
    columns = f" [{', '.join(widget.columns[:6])}]" if widget.columns else ""
    return f"{widget.name} - {about}{columns}" if about else f"{widget.name}{columns}"


def mentions(question: str, text: str) -> bool:
    """Whether the question uses a word of this text."""
    return bool(set(stems(question)) & set(stems(text)))
