from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.dashboard.checked_text import (
    AgreeingText,
    CheckedText,
    KnownNumbers,
    filtered,
    read_numbers,
)
from server.dashboard.results import Computed, Results
from server.data.sql import Answer
from server.events import Finished, Pieces, ReasoningDelta, TextDelta

ROWS = [("AAPL", 391035.0, 0.0753), ("MSFT", 245122.0, -0.1)]


def results() -> Results:
    answer = Answer(("symbol", "revenue", "growth"), ROWS, total=2)
    return Results("?", 500, computed=[Computed("q1", "SELECT", answer)])


def checked(text: str, *asked: str) -> str:
    found = results()
    checker = CheckedText(found, KnownNumbers.of(found.cells(), asked))
    return checker.feed(text) + checker.end()


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It was {{q1.revenue}}.", "It was 391,035."),
        ("It was {{q1[2].Revenue}}.", "It was 245,122."),
        ("It was {{q1}}.", "It was (no such result)."),
        ("{{q1[0].revenue}} and {{q1[1].revenue}}", "391,035 and 245,122"),
        ("It was {{q9.revenue}}.", "It was (no such result)."),
        ("It was {{q1[7].revenue}}.", "It was (no such result)."),
        ("It was **391035**.", "It was 391035."),
    ],
)
def test_placeholders_are_filled_in_and_nothing_is_bold(written: str, shown: str) -> None:
    assert checked(written) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Revenue of 391,035 in 2024.",
        "391.035 Umsatz",
        "391k",
        "about 0.39 million",
        "growth of 7.5%",
        "growth of 7.53 percent",
        "a fall of 10 %",
        "the 3 largest",
        "es stieg um 7,5 %",
        "the filing LAB-98765-X",
        "$391,035B as the table says",
    ],
)
def test_numbers_of_the_data_stand(text: str) -> None:
    assert checked(text) == text


def test_a_number_from_nowhere_is_marked() -> None:
    assert checked("Revenue was 391,036 then.") == "Revenue was 391,036 [not in the data] then."
    assert checked("It grew 8.1% then.") == "It grew 8.1% [not in the data] then."


def test_a_number_of_the_question_stands() -> None:
    assert checked("Above 4711 then.", "Is it above 4711?") == "Above 4711 then."


@given(st.lists(st.integers(1, 60), max_size=8))
def test_it_does_not_matter_how_the_text_is_cut(cuts: list[int]) -> None:
    text = "It was {{q1.revenue}} or 391,036 and 8.1 percent, **bold 7.5%**, in 2024."
    found = results()
    checker = CheckedText(found, KnownNumbers.of(found.cells(), ()))
    parts, at = [], 0
    for cut in [*cuts, len(text)]:
        parts.append(checker.feed(text[at : at + cut]))
        at += cut
    parts += [checker.feed(text[at:]), checker.end()]
    assert "".join(parts) == checked(text)


def test_bold_marks_are_taken_out_wherever_the_stream_is_cut() -> None:
    text = "It is **2.5** or 3*4, **so** *far*"
    for cut in range(len(text)):
        plain = CheckedText(results(), KnownNumbers.of([2.5], []))
        found = plain.feed(text[:cut]) + plain.feed(text[cut:]) + plain.end()
        assert found == "It is 2.5 or 3*4, so *far*"


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_placeholder_with_spaces_in_it_is_filled_in_however_it_comes(size: int) -> None:
    answer = Answer(("revenue / eps",), [(391035.0,)], total=1)
    found = Results("?", 500, computed=[Computed("q1", "SELECT", answer)])
    checker = CheckedText(found, KnownNumbers.of(found.cells(), []))
    written = "It is {{q1.revenue / eps}} for now."
    parts = [written[at : at + size] for at in range(0, len(written), size)]
    assert "".join(map(checker.feed, parts)) + checker.end() == "It is 391,035 for now."


def test_numbers_stand_right_behind_the_signs_of_a_script_without_spaces() -> None:
    assert checked("收入是391,035。") == "收入是391,035。"
    assert checked("收入是391,036。") == "收入是391,036 [not in the data]。"


def test_a_script_without_spaces_is_shown_as_it_comes() -> None:
    found = results()
    checker = CheckedText(found, KnownNumbers.of([*found.cells(), 3.5e12], []))
    parts = [checker.feed(sign) for sign in "收入是391,035元,市值3.5万亿元。"]
    assert "".join(parts[:4]) == "收入"
    assert "".join(parts) + checker.end() == "收入是391,035元,市值3.5万亿元。"


def test_a_day_of_the_question_may_be_written_out() -> None:
    text = "On October 30, 2026, it was 391,035."
    assert checked(text, "What was it on 2026-10-30?") == text


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT symbol FROM t WHERE growth > 0", "They are AAPL, MSFT."),
        ("SELECT symbol FROM t ORDER BY growth DESC", "They are AAPL."),
    ],
)
def test_names_in_no_order_are_all_told(sql: str, shown: str) -> None:
    found = results()
    found.computed[0] = Computed("q1", sql, found.computed[0].answer)
    checker = CheckedText(found, KnownNumbers.of(found.cells(), ()))
    assert checker.feed("They are {{q1.symbol}}.") + checker.end() == shown


def test_data_that_is_copied_as_a_list_is_known() -> None:
    copied = "day,close,volume\n2026-09-15,38841.33,1250,-7.5\n2026-09-16,38900.5,1300,-8"
    known = KnownNumbers.of([38841.33, 1250.0, 7.5, 38900.5, 1300.0, 8.0], ())
    checker = CheckedText(results(), known)
    assert checker.feed(copied) + checker.end() == copied
    checker = CheckedText(results(), known)
    assert checker.feed("x,38841.34,1250") + checker.end() == "x,38841.34 [not in the data],1250"
    told = KnownNumbers.of([], [copied])
    assert all(map(told.has, read_numbers("38841.33 and 1250 and 1300")))
    assert not any(map(told.has, read_numbers("388")))
    grouped = KnownNumbers.of([1.0, 234.0], ())
    assert not any(map(grouped.has, read_numbers("1,234")))


def test_a_word_that_makes_a_figure_larger_than_anything_is_left_out() -> None:
    known = KnownNumbers.of([246_765_000_000.0, 180_200.0], ())
    checker = CheckedText(results(), known)
    text = "It made 246,765,000,000 million dollars with 180,200 t and 246.765 billion."
    wanted = "It made 246,765,000,000 dollars with 180,200 t and 246.765 billion."
    assert checker.feed(text) + checker.end() == wanted


def test_a_word_behind_a_placeholder_is_read_with_its_value() -> None:
    found = results()
    answer = replace(found.computed[0].answer, columns=("revenue",), rows=[(246_765_000_000.0,)])
    found.computed[0] = Computed("q1", "SELECT 1", answer)
    checker = CheckedText(found, KnownNumbers.of([246_765_000_000.0], ()))
    pieces = ["Es waren {{q1.revenue}}", " Millionen", " Dollar."]
    told = "".join(map(checker.feed, pieces)) + checker.end()
    assert told == "Es waren 246,765,000,000 Dollar."


async def test_a_stream_is_filtered_to_its_end() -> None:
    async def pieces() -> Pieces:
        yield ReasoningDelta("It may be 7.")
        for piece in ("\n It was 391", "035.", " Or 77.", " It was not 5000"):
            yield TextDelta(piece)
        yield Finished("length")

    agreeing = AgreeingText(KnownNumbers.of([391035.0], []))
    events = [event async for event in filtered(pieces(), CheckedText.of([391035.0], []), agreeing)]
    assert events[-1] == Finished("length")
    texts = [event.text for event in events[:-1] if isinstance(event, TextDelta)]
    assert len(texts) == len(events) - 1
    assert "".join(texts) == "It was 391035. "
