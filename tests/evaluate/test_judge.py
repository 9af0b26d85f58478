from typing import Any

import pytest

from tests.evaluate.judge import Played, is_in, judge, judge_bold, numbers
from tests.evaluate.questions import Turn, load


def turn(**data: Any) -> Turn:
    given = {"ask": "What was it in 2024?", "reads": ["policy_rates"], **data}
    return Turn("t", "macro", data.get("kind", "direct"), "en", given["ask"], (), given)


@pytest.mark.parametrize(
    ("text", "truth", "unit"),
    [
        ("It was 33,876,000,000 dollars.", 33_876_000_000, ""),
        ("It was $33.876B.", 33_876_000_000, ""),
        ("It was 33.9 billion.", 33_876_000_000, ""),
        ("Es waren 33,9 Milliarden US-Dollar.", 33_876_000_000, ""),
        ("Es waren 33.876.000.000 Dollar.", 33_876_000_000, ""),
        ("Es waren 1.234,56 Euro.", 1234.56, ""),
        ("Soit 33 876 000 000 dollars.", 33_876_000_000, ""),
        ("Soit 33,88 milliards.", 33_876_000_000, ""),
        ("Fueron 33,9 mil millones.", 33_876_000_000, ""),
        ("约338.76亿美元", 33_876_000_000, ""),
        ("3.46万亿", 3.46e12, ""),
        ("CHF 1'234.50", 1234.5, ""),
        ("12.5%", 12.5, "percent"),
        ("12,5 %", 12.5, "percent"),
        ("a share of 0.125", 12.5, "percent"),
        ("It fell by 3.2 %", -3.2, "percent"),
        ("(1,234)", -1234, ""),
        ("78,319 (USD millions)", 78_319, "millions"),
        ("$78.3 billion", 78_319, "millions"),
        ("it is 36.", 36, ""),
        ("180,200 t", 180_200, ""),
        ("180.2t", 180.2e12, ""),
    ],
)
def test_a_number_is_found_as_people_write_it(text: str, truth: float, unit: str) -> None:
    assert is_in(numbers(text), truth, turn(unit=unit))


@pytest.mark.parametrize(
    ("text", "truth", "unit"),
    [
        ("It was 34.9 billion.", 33_876_000_000, ""),
        ("It was 33.876 million.", 33_876_000_000, ""),
        ("It was 33.876.", 33_876_000_000, ""),
        ("12.5", 13.5, "percent"),
        ("0.125%", 12.5, "percent"),
        ("in 24h", 24, ""),
        ("3M", 3, ""),
        ("no figure", 0, ""),
    ],
)
def test_another_number_is_none(text: str, truth: float, unit: str) -> None:
    assert not is_in(numbers(text), truth, turn(unit=unit))


def test_a_bold_figure_is_held_against_the_truth() -> None:
    asked = turn(truth=["6.75"], unit="percent")
    assert judge_bold(asked, "**Policy rate: 6.75 %**") == (["Policy rate: 6.75 %"], [])
    assert judge_bold(asked, "**Policy rate: 8 %**") == ([], ["Policy rate: 8 %"])
    assert judge_bold(asked, "The rate is 8 %. **Bank of Japan**") == ([], [])


def test_dates_and_numbers_of_the_question_are_no_bold_figures() -> None:
    asked = turn(ask="What was it in 2024, in the first 3 months?", truth=["6.75"])
    assert judge_bold(asked, "**2026-09-28**, **Q3 2026**, **in 2024**, **3 months**") == ([], [])


def test_a_bold_figure_beside_the_answer_must_be_in_the_data_that_was_read() -> None:
    asked = turn(truth=["v('policy_rates', 'policy_rate', central_bank='Bank of Japan')"])
    told = "**Bank of Japan 6.75, Federal Reserve 8**"
    assert judge_bold(asked, told, [("policy_rates", {})])[0]
    assert judge_bold(asked, told)[1]
    assert judge_bold(asked, "**6.75 after 99.99**", [("policy_rates", {})])[1]


def test_one_figure_for_two_companies_is_wrong() -> None:
    asked = turn(truth=["56.5", "40.3"])
    assert judge_bold(asked, "**Apple 56.5, Microsoft 40.3**")[0]
    assert judge_bold(asked, "**Apple 56.5**")[0]
    assert judge_bold(asked, "**Apple 56.5, Microsoft 56.5**")[1]


def test_an_answer_needs_its_number_its_words_and_its_chart() -> None:
    asked = turn(truth=["5"], words=["['Japan', 'JP']"])
    assert judge(asked, Played(text="Japan: 5")).answer
    assert not judge(asked, Played(text="Japan: 6")).answer
    assert not judge(asked, Played(text="Spain: 5")).answer
    shown = {"type": "table", "content": [{"country": "JP", "value": 5}]}
    assert judge(asked, Played(text="See the table.", artifacts=[shown])).answer
    drawn = turn(truth=["5"], chart={"kind": "line", "x": "country", "y": "value"})
    assert not judge(drawn, Played(text="5", artifacts=[shown])).answer
    assert judge(drawn, Played(text="", artifacts=[{**shown, "type": "chart"}])).answer


def test_reads_are_right_with_more_than_is_needed_and_wrong_with_another_value() -> None:
    asked = turn(reads=["inflation country=spain start_date=2026-06-01 end_date=2026-06-30"])
    right = {"country": "spain", "start_date": "2026-01-01", "end_date": "2026-10-30"}
    found = judge(asked, Played(text="x", reads=[("inflation", right), ("gdp", {})]))
    assert (found.widget, found.parameters, found.junk) == (True, True, 1)
    late = judge(asked, Played(text="x", reads=[("inflation", {**right, "country": "france"})]))
    assert (late.widget, late.parameters, late.junk) == (True, False, 0)


def test_a_question_that_needs_nothing_is_wrong_when_something_is_read() -> None:
    asked = turn(kind="none", reads=[])
    assert judge(asked, Played(text="Hello")).answer
    found = judge(asked, Played(text="Hello", reads=[("gdp", {})]))
    assert (found.answer, found.widget, found.junk) == (False, False, 1)


def test_a_call_is_right_with_its_name_and_its_arguments() -> None:
    asked = turn(reads=[], call={"tool": "lab_find_filing", "arguments": {"ticker": "TSLA"}})
    given = {"tool_name": "lab_find_filing", "parameters": {"ticker": "TSLA"}}
    call = {"function": "execute_agent_tool", "input_arguments": given}
    assert judge(asked, Played(text="x", calls=[call])).answer
    assert not judge(asked, Played(text="x")).answer


def test_every_truth_can_be_computed_and_every_read_made() -> None:
    for one in (turn for conversation in load() for turn in conversation.turns):
        facts = [*one.numbers, *one.words]
        assert facts or one.reply or one.call, one.id
        for wanted in (read for listed in one.alternatives for read in listed):
            widget = one.board.widget(wanted.widget)
            assert wanted.is_met({**widget.shown, **wanted.arguments(widget)}), one.id
