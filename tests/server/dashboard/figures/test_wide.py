"""Reports with a column for each year, as filings have them."""

from datetime import date
from typing import Any

import pytest

from server.dashboard.figures.compute import compute
from server.data.tables import Table, from_json

TODAY = date(2026, 8, 5)
REPORT = [
    ["", "", "Fiscal", ""],
    ["", "2019", "2018", "2017"],
    ["", "", "(in millions)", ""],
    ["Transportation:", "", "", ""],
    ["Sensors (1)", "$  914", "$  918", "$  814"],
    ["Appliances", "680", "774", "676"],
    ["Total Transportation", "1,594", "1,692", "1,490"],
    ["Industrial:", "", "", ""],
    ["Energy", "699", "712", "685"],
    ["Net gain (loss)", "(20)", "12", "—"],
    ["Interest expense", "(30)", "(10)", "(8)"],
    ["Tax rate", "21.5%", "20.0%", "35.0%"],
    ["Total", "2,243", "2,394", "2,167"],
]


def report(rows: Any = REPORT) -> Table:
    table = from_json(rows, "Segments")
    assert table is not None
    return table


def text(question: str, table: Table | None = None, about: str = "") -> str | None:
    figure = compute(question, table or report(), TODAY, about)
    return figure.text if figure else None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Appliances in 2019?", "Appliances in 2019: 680 million"),
        ("What is the amount of sensors in fiscal 2018?", "Sensors (1) in 2018: $918 million"),
        ("What is the latest energy?", "Energy in 2019: 699 million"),
        (
            "What was the change in Appliances from 2018 to 2019?",
            "Change of Appliances from 2018 to 2019: -94 million (-12.14%), "
            "from 774 million to 680 million",
        ),
        (
            "What was the percentage change in Appliances in 2019 from 2018?",
            "Change of Appliances from 2018 to 2019: -12.14%, from 774 million to 680 million",
        ),
        ("average energy for 2018 and 2019", "Average Energy (2018, 2019): 705.5 million"),
        ("average Energy from 2017 to 2019", "Average Energy (2017, 2018, 2019): 698.67 million"),
        ("sum of energy in 2018 and 2019", "Sum of Energy (2018, 2019): 1411 million"),
        ("In which year was Sensors the largest?", "Highest Sensors (1): $918 million (2018)"),
        (
            "What were Appliances in 2019 and 2018, respectively?",
            "Appliances: 680 million (2019); 774 million (2018)",
        ),
        (
            "What were Appliances and Energy in 2019?",
            "In 2019: 680 million (Appliances); 699 million (Energy)",
        ),
        (
            "What is the difference between Energy and Appliances in 2019?",
            "Difference between Energy and Appliances in 2019: 19 million",
        ),
        ("ratio of Energy to Appliances in 2019", "Ratio of Energy to Appliances in 2019: 1.03"),
        ("What was the total in 2019?", "Total in 2019: 2243 million"),
        ("total transportation in 2018", "Total Transportation in 2018: 1692 million"),
        ("interest expense in 2018", "Interest expense in 2018: -10 million"),
        (
            "change in tax rate from 2018 to 2019",
            "Change of Tax rate from 2018 to 2019: 1.5 percentage points (7.5%), from 20% to 21.5%",
        ),
    ],
)
def test_rows_and_years_that_are_named_answer(question: str, expected: str) -> None:
    assert text(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What was Appliances in 2016?",  # no such year
        "What was Appliances?",  # which year?
        "What was the appliance margin in 2019?",  # a word too many
        "What was Acme's Appliances in 2019?",  # another company
        "What is the 2019 average Energy?",  # of its beginning and its end?
        "total energy in 2019",  # there is no such total
        "total industrial in 2019",  # the total below is that of all sections
        "What was the increase in Appliances from 2018 to 2019?",  # there was none
        "What was the change in Energy from 2019 to 2018?",  # backwards
        "average interest expense for 2018 and 2019",  # is an expense in brackets negative?
        "percentage change in net gain (loss) from 2018 to 2019",  # of a change of sign
        "change in net gain (loss) from 2017 to 2018",  # a cell is empty
        "sum of tax rate in 2018 and 2019",  # percentages
        "In which year was Energy less than 700?",
        "Appliances as a percentage of the total in 2019",
        "highest in 2019",
        "sum of 2019",
        "Wie hoch war Energy 2019?",
        "2019 年 Energy 是多少",
        "Energy in March 2019",  # the table tells no month
    ],
)
def test_what_is_not_named_for_certain_stays_out(question: str) -> None:
    assert text(question) is None


def test_columns_of_the_same_year_are_told_apart_by_their_heads() -> None:
    grid = [
        ["", "Revenues", "", "Income", ""],
        ["(in thousands)", "2019", "2018", "2019", "2018"],
        ["Tankers", "943,917", "776,493", "123,883", "7,204"],
    ]
    table = report(grid)
    assert text("Revenues of Tankers in 2019", table) == "Tankers in 2019: 943,917 thousand"
    assert text("Income of Tankers in 2018", table) == "Tankers in 2018: 7204 thousand"
    assert text("Tankers in 2019", table) is None


def test_rows_of_the_same_name_are_told_apart_by_their_section() -> None:
    grid = [
        ["", "2019", "2018"],
        ["Domestic", None, None],
        ["Films", "7", "10"],
        ["International", None, None],
        ["Films", "3", "1"],
    ]
    assert text("Films in 2019", report(grid)) is None
    assert text("International films in 2019", report(grid)) == "Films in 2019: 3"


def test_a_year_that_ended_in_january_may_be_called_by_another_number() -> None:
    grid = [["", "January 31, 2020", "February 1, 2019"], ["Term", "0.6", "0.8"]]
    assert text("Term in 2019", report(grid)) is None
    assert text("Term as of February 1, 2019", report(grid)) == "Term in 2019: 0.8"


def test_what_was_read_explains_the_name_of_a_company() -> None:
    rows = [{"item": "Revenue", "2023": 383, "2024": 391}, {"item": "Costs", "2023": 1, "2024": 2}]
    assert text("AAPL revenue in 2024", report(rows), "AAPL") == "Revenue in 2024: 391"
    assert text("TSLA revenue in 2024", report(rows), "AAPL") is None
    several = [{"symbol": name, **row} for name in ("AAPL", "MSFT") for row in rows]
    several[0]["2024"] = 7
    assert text("AAPL revenue in 2024", report(several)) == "AAPL Revenue in 2024: 7"
    assert text("revenue in 2024", report(several)) is None


def test_a_word_of_a_computation_in_a_title_is_not_used_up_by_it() -> None:
    rows = [["Average shares", None, None], ["Basic", "10", "20"], ["Diluted", "30", "40"]]
    table = report([["", "2019", "2018"], *rows])
    assert text("total basic shares in 2018 and 2019", table) == "Sum of Basic (2018, 2019): 30"
    assert text("average total basic shares in 2018 and 2019", table) is None


def test_the_sign_of_a_column_is_that_of_its_amounts() -> None:
    rates = report([["", "2019 %", "2018 %"], ["Discount rate", "2.9", "3.8"], ["Yield", "2", "1"]])
    assert text("discount rate in 2019", rates) == "Discount rate in 2019: 2.9%"
    mean = "Average Discount rate (2019, 2018): 3.35%"
    assert text("average discount rate in 2019 and 2018", rates) == mean
    other = report([["", "2019 ($m, except %)", "2018 ($m, except %)"], ["Sales", "9", "8"]])
    assert "%" not in (text("Sales in 2019", other) or "")
