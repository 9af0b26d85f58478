"""Tests how TAT-QA is measured, on a small set of the same form."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.evaluate import tatqa
from tests.evaluate.tatqa import answer, draw, is_right, measure, rows_of
from tests.evaluate.tatqa_oracle import Question

GRID = [
    ["", "", "Years Ended December 31,"],
    ["(in millions)", "2019", "2018"],
    ["Sales", "$ 120", "$ 100"],
    ["Costs", "(80)", "(70)"],
]


def asked(
    text: str, answers: tuple[str, ...], kind: str = "arithmetic", scale: str = ""
) -> Question:
    return Question(text, kind, answers, scale, GRID)


@pytest.mark.parametrize(
    ("figure", "question", "right"),
    [
        ("Change of Sales: 20 million (20%), from 100 to 120", asked("", ("20",)), True),
        ("Change of Sales: -20 million", asked("", ("20",)), False),
        ("Sum of Sales: 220", asked("", ("100",)), False),
        ("Average Sales: 12.346", asked("", ("12.35",)), True),
        ("Highest Sales: 120 (2019)", asked("", ("2019",), "span"), True),
        ("Sales: 120 (2019); 100 (2018)", asked("", ("120", "100"), "multi-span"), True),
        ("Costs in 2018: -70 million", asked("", ("(70)",), "span"), True),
    ],
)
def test_a_figure_is_right_by_its_value(figure: str, question: Question, right: bool) -> None:
    assert is_right(figure, question) is right


@pytest.mark.parametrize("form", tatqa.FORMS)
def test_the_product_answers_from_each_form_of_a_table(form: str) -> None:
    question = asked("What was the change in Sales from 2018 to 2019?", ("20",), scale="million")
    said = asyncio.run(answer(question, form))
    (score, _) = measure(iter([(question, said)])).values()
    assert (score.spoken, score.right) == (1, 1), said


def test_what_the_rules_do_not_know_they_do_not_say() -> None:
    question = asked("What is the sum of all sales carryforwards?", ("1",))
    assert "**" not in asyncio.run(answer(question, "grid"))


def test_the_halves_do_not_overlap(tmp_path: Path) -> None:
    questions = [
        {"question": str(number), "answer": number, "answer_type": "arithmetic", "scale": "",
         "answer_from": "table"}
        for number in range(tatqa.COUNT + 50)
    ]  # fmt: skip
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([{"table": {"table": GRID}, "questions": questions}]), "utf-8")
    tune, measured = draw(path, "tune"), draw(path, "measured")
    assert not {one.text for one in tune} & {one.text for one in measured}
    assert [*tune, *measured] == draw(path, "all")


def test_header_rows_become_names() -> None:
    assert list(rows_of(GRID, "records")[0]) == [
        "(in millions)", "Years Ended December 31, 2019", "Years Ended December 31, 2018",
    ]  # fmt: skip


RATES = [
    ["(in millions)", "2019", "2018"],
    ["Cash", "$ 120", "$ 100"],
    ["Loss", "(80)", "(70)"],
    ["Loss rate", "4.5%", "3.5%"],
    ["", "$ 40", "$ 30"],
]


@pytest.mark.parametrize("form", tatqa.FORMS)
@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question("How far did the loss grow?", "arithmetic", ("14.29",), "percent", RATES,
                  "(80 - 70)/70"), "14.29%"),
        (Question("How far is it from there?", "arithmetic", ("50",), "million", RATES,
                  "$-70 - (120) = 50"), "50 million"),
        (Question("What does all of it weigh?", "arithmetic", ("7",), "", RATES, "3 + 4"),
         "The data does not hold the answer."),
        (Question("Which loss rates are there?", "multi-span", ("4.5%", "3.5%"), "", RATES),
         "4.5%; 3.5%"),
        (Question("How many things stand below?", "count", ("2",), "", RATES, "Cash##Loss"), "2"),
        (Question("Where was the loss largest?", "span", ("2019",), "", RATES, "80 > 70"), "2019"),
    ],
)  # fmt: skip
def test_the_oracle_takes_numbers_from_queries_and_words_from_sight(
    question: Question, said: str, form: str
) -> None:
    found = asyncio.run(answer(question, form, by_oracle=True))
    assert found.partition("\n")[0] == said
