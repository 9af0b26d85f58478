"""Finds out what the user means: completes the question, and decides if it needs data at all."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from server.chat import Json, Message
from server.dashboard.query import Query
from server.dashboard.symbols import Named
from server.language.dates import POINT, in_plain_dates, left_over
from server.language.ranking import stems
from server.language.words import language_of, stem, terms
from server.schemas.bounded import closed
from server.system.limits import ends

QUESTION_CHARACTERS = 400
LONGEST = 300
SORT = "Say what is asked for."
KINDS = (
    ("What does EBITDA mean?", "meaning of a word"),
    ("What was the EBITDA of Siemens in 2023?", "figure"),
    ("How much is 12 times 31?", "arithmetic"),
    ("Wie hoch war die Inflation in Polen?", "figure"),
    ("Was ist Inflation?", "meaning of a word"),
    ("Which of my funds did best?", "figure"),
    ("Danke, das war alles!", "greeting or thanks"),
    ("Draw the price of oil since May.", "chart or table"),
    ("Why do central banks raise rates?", "general explanation"),
    ("Why did the shares of BP fall in May?", "news"),
    ("什么是市盈率?", "meaning of a word"),
    ("苹果的市值是多少?", "figure"),
    ("How do you say 'profit' in Italian?", "translation"),
    ("¿Cuánto ganó Repsol en 2022?", "figure"),
    ("Qui es-tu ?", "the assistant itself"),
    ("Any news on Shell?", "news"),
    ("Add a tab for bonds.", "change of the dashboard"),
)
"""Examples, given as turns of a chat: small models follow them better than a description."""
TALK = frozenset({
    "meaning of a word", "arithmetic", "greeting or thanks", "general explanation", "translation",
    "the assistant itself",
})  # fmt: skip
"""The kinds of questions that need no data from the dashboard."""
SORTED = tuple(dict.fromkeys(kind for _, kind in KINDS))
COMPLETE = (
    "The user asks one question and then another that leaves out what was said before. Write the "
    "second one in full. What it says replaces what the first one says; all else stays."
)
FIRST = "What was the revenue of Shell in 2023?"
COMPLETED = (
    (FIRST, "And for BP?", "What was the revenue of BP in 2023?"),
    (FIRST, "And in 2021?", "What was the revenue of Shell in 2021?"),
    (FIRST, "And the year before?", "What was the revenue of Shell in 2022?"),
    (FIRST, "And its debt?", "What was the debt of Shell in 2023?"),
    (FIRST, "As a chart, please.", "Draw a chart of the revenue of Shell."),
    (FIRST, "Compare that with BP.", "Compare the revenue of Shell and BP in 2023."),
    (FIRST, "Thanks!", "Thanks!"),
    ("Wie teuer war Gold am 3.5.2026?", "Und Silber?", "Wie teuer war Silber am 3.5.2026?"),
    ("沙特2024年的石油产量是多少?", "伊朗呢?", "伊朗2024年的石油产量是多少?"),
)
RELATIVE_TEXT = """
before earlier later previous prior next after ago one two same there both other
day week month quarter year days weeks months quarters years
tag woche monat quartal jahr davor danach vorher zuvor
heute hoy now current currently latest newest aktuell aujourd
jour semaine mois trimestre année précédente précédent avant après
día semana mes trimestre año anterior antes después
"""
RELATIVE = frozenset(map(stem, RELATIVE_TEXT.split()))
"""Words for a time relative to another. The completed question has that time itself."""


TRANSLATE = "Translate the question into English."
TRANSLATED = (
    (
        "Wie hoch war die Bruttomarge von Siemens im Jahr 2022?",
        "What was the gross margin of Siemens in 2022?",
    ),
    (
        "¿Qué país creció más en 2021, Italia o Grecia?",
        "Which country grew more in 2021, Italy or Greece?",
    ),
    ("比较壳牌和BP 2023年的现金流。", "Compare the cash flow of Shell and BP in 2023."),
    ("Quels sont les taux de la BCE ?", "What are the ECB's rates?"),
)
MOST_NEW = 3
"""A message with at most this many new words refers to the question before it."""
NAME = re.compile(r"(?<![.?!:\s])\s+([A-Z][\w&'\u2019.-]+)")
"""A word with a capital that does not begin a sentence."""
KEPT = re.compile(r"(?<![\w-])(?:19|20)\d\d(?!\w)|(?<!\w)[A-Z]{2,6}[-/][A-Z]{3,4}(?!\w)")
"""Years and pairs such as EUR/USD, which a translation must keep."""
LEAST_OF_TOOL = 2
OPERAND = re.compile(r"(?<![\w.,])\d[\d.,]*")
LEAST_OPERANDS = 2
LINKING_SIGNS = re.compile("[那么的呢吗和与跟在是又还有换成再看个之]+")
SIGNS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
UNSURE = frozenset({"arithmetic", "the assistant itself"})
"""Kinds that small models also give to figures. With a company or a day, data is needed."""
NOT_DRAWN = frozenset({"figure", "news"})


@dataclass(frozen=True, slots=True)
class Meaning:
    question: str
    needs_data: bool = True
    kind: str = ""
    """What the model takes the question to ask for, or "" if the model was not asked."""
    english: str = ""
    """The question in English, if it is in another language. Widgets and columns are in English."""

    @property
    def may_draw(self) -> bool:
        """Whether the user may want a chart or a table."""
        return self.kind not in NOT_DRAWN

    def to_json(self) -> Json:
        found: Json = {"question": self.question, "needs_data": self.needs_data}
        return found | {"kind": self.kind, "english": self.english}


def meaning_from(state: Json) -> Meaning | None:
    """Returns the meaning that an earlier request of this turn has found, or None."""
    found = state.get("meaning")
    if not isinstance(found, dict) or not isinstance(found.get("question"), str):
        return None
    kind = found.get("kind") if found.get("kind") in SORTED else ""
    needs_data = found.get("needs_data") is not False
    question = ends(found["question"], QUESTION_CHARACTERS)
    english = ends(str(found.get("english") or ""), QUESTION_CHARACTERS)
    return Meaning(question, needs_data, str(kind), english)


Asked = tuple[tuple[Message, ...], Json]
"""The messages of a small question to the model, and the schema of its answer."""


def ask_for_completion(query: Query, before: str) -> Asked | None:
    """Returns the prompt that completes a question by the one before, or None if there is none."""
    if not before or len(query.asked) > LONGEST:
        return None
    text: Json = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    examples = [(_pair(one, other), {"question": whole}) for one, other, whole in COMPLETED]
    return small_question(COMPLETE, examples, _pair(before, query.asked), {"question": text})


def ask_for_kind(query: Query, question: str) -> Asked | None:
    """Returns the prompt that asks for a question's kind; None if it may be about an attachment."""
    if _has_material(query) or query.is_task:
        return None
    kinds: Json = {"enum": list(SORTED)}
    examples = [(said, {"asks_for": kind}) for said, kind in KINDS]
    return small_question(SORT, examples, ends(question, QUESTION_CHARACTERS), {"asks_for": kinds})


def ask_for_english(question: str) -> Asked | None:
    """Returns the prompt that translates a question, or None if it is in English."""
    if language_of(question) == "English":
        return None
    text: Json = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    examples = [(said, {"english": english}) for said, english in TRANSLATED]
    plain = ends(in_plain_dates(question), LONGEST)
    return small_question(TRANSLATE, examples, plain, {"english": text})


def translated(question: str, found: Json | None) -> str:
    """Returns the model's English, or "" if a year or a pair such as EUR/USD was lost."""
    english = str((found or {}).get("english") or "").strip()
    kept = KEPT.findall(in_plain_dates(question))
    return english if all(one in english for one in kept) else ""


def names_tool(question: str, tools: Iterable[str]) -> bool:
    """Whether the question has at least two words of a tool's name, and so is for the tool."""
    words = set(terms(question))
    return any(len(words & set(terms(tool))) >= LEAST_OF_TOOL for tool in tools)


def is_talk(kind: str, question: str, named: Sequence[Named]) -> bool:
    """Whether the question needs no data. One that names a company or a day is not arithmetic."""
    if kind in UNSURE and (named or (kind != "arithmetic" and POINT.search(question))):
        return False
    if kind == "arithmetic" and not _has_operands(question):
        return False
    return kind in TALK


def _has_operands(question: str) -> bool:
    """Whether the question has numbers to calculate with, apart from those of dates."""
    timeless = POINT.sub(" ", in_plain_dates(question))
    return len(OPERAND.findall(timeless)) >= LEAST_OPERANDS


def completed(query: Query, found: Json | None, before: str) -> str:
    """Returns the model's completed question, if it keeps the user's words and invents no name.

    Else a short message is appended to the question before it. If both name a time, that of the
    message counts.
    """
    if found is None:
        return query.question
    whole = str(found.get("question") or "").strip()
    new = _own_words(query.question) - RELATIVE
    if whole and new <= _own_words(whole) and not _invents(whole, f"{before} {query.question}"):
        return whole
    is_short = len(new - _own_words(before)) <= MOST_NEW and len(query.question) < len(before)
    if POINT.search(in_plain_dates(query.question)):
        before = " ".join(POINT.sub(" ", in_plain_dates(before)).split())
    return f"{before} {query.question}" if is_short else query.question


def _own_words(text: str) -> set[str]:
    """Returns its stems, and its characters without spaces but for those that only join words."""
    signs = set("".join(SIGNS.findall(LINKING_SIGNS.sub("", text))))
    return {*stems(SIGNS.sub(" ", text)), *signs}


def _invents(whole: str, said: str) -> bool:
    known = said.lower()
    return any(stem(name.partition("'")[0]) not in known for name in NAME.findall(whole))


def keeps_time(question: str) -> bool:
    """Whether the message has no word for time, so that the time of the question before stays."""
    if not question.isascii() or RELATIVE & set(stems(question)):
        return False
    return POINT.search(question) is None and not left_over(question)


def small_question(
    system: str, examples: Iterable[tuple[str, Json]], said: str, answer: Json
) -> Asked:
    messages = [Message("system", system)]
    for example, given in examples:
        messages.append(Message("user", example))
        messages.append(Message("assistant", json.dumps(given, ensure_ascii=False)))
    return (*messages, Message("user", said)), closed(answer)


def _pair(first: str, second: str) -> str:
    return f"First: {first}\nSecond: {second}"


def names_widget(query: Query, question: str) -> bool:
    """Whether the question has a widget's name. A name of one word may also be a word to
    explain."""
    asked = question.lower()
    return any(" " in one.name.strip() and one.name.lower() in asked for one in query.widgets)


def _has_material(query: Query) -> bool:
    """Whether the user pointed at a widget, a file or a skill, or there are no widgets."""
    pointed = any(widget.tier == "primary" for widget in query.widgets)
    return pointed or bool(query.context or query.skills) or not query.widgets
