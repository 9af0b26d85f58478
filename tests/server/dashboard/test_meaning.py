"""A question that is completed, translated, or meant for a tool."""

import pytest

from server.dashboard.meaning import ask_for_english, completed, names_tool, translated
from server.dashboard.query import Query, Said

BEFORE = "What is the total debt of Amazon in 2025?"


def whole(message: str, found: str, before: str = BEFORE) -> str:
    return completed(Query((Said("user", message, 2),), message, 2), {"question": found}, before)


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("And its cash?", "What is the cash of Amazon in 2025?"),
        ("And the year before?", "What is the total debt of Amazon in 2024?"),
        ("铜呢?", "铜2026年10月28日的价格是多少?"),
    ],
)
def test_what_the_model_completes_is_taken(message: str, found: str) -> None:
    assert whole(message, found) == found


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("And its cash?", BEFORE),
        ("So what is the net debt?", "So what is the net debt of Saudi Arabia?"),
        ("And what is Apple's?", "What does beta mean?"),
    ],
)
def test_a_short_message_that_was_not_completed_stands_behind_the_question(
    message: str, found: str
) -> None:
    assert whole(message, found) == f"{BEFORE} {message}"


def test_a_question_of_its_own_stands_alone() -> None:
    message = "How many people without work were counted in Spain during the summer of 2024?"
    assert whole(message, BEFORE) == message


@pytest.mark.parametrize(
    ("question", "english", "is_kept"),
    [
        ("Was kosteten Gold und Kupfer 2026?", "What did gold and copper cost in 2026?", True),
        ("Was kosteten Gold und Kupfer 2026?", "What did gold and copper cost?", False),
        ("EUR/USD im Mai 2026 ist wie hoch?", "How high is the euro in May 2026?", False),
        ("¿Cómo creció el PIB de España en 2024?", "How did the GDP of Spain grow in 2024?", True),
        ("苹果2024年的利润是多少?", "What was Apple's profit in 2024?", True),
    ],
)
def test_a_translation_keeps_years_and_pairs(question: str, english: str, is_kept: bool) -> None:
    assert ask_for_english(question) is not None
    assert bool(translated(question, {"english": english})) is is_kept


def test_english_is_not_translated() -> None:
    assert ask_for_english("What was the revenue of Nestlé in 2024?") is None
    assert translated("What?", None) == ""


def test_a_question_with_the_words_of_a_tool_is_for_the_tool() -> None:
    assert names_tool("Convert 250 EUR with the currency tool.", ["lab_convert_currency"])
    assert not names_tool("What is a currency?", ["lab_convert_currency"])


def test_the_time_of_a_short_message_counts() -> None:
    message = "And on the first of September?"
    before = "What was EUR/USD on 2026-10-01?"
    assert whole(message, "EUR/USD?", before) == f"What was EUR/USD on ? {message}"
