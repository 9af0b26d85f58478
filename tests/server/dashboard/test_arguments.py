import json
from datetime import date
from typing import Any

import pytest

from server.asking.ask import Means
from server.dashboard.arguments import Filled, fill, told_options
from server.dashboard.query import Element, Item, Param, Query, Widget
from tests.kit.engines import ScriptedEngine, says

TODAY = date(2025, 6, 20)
SYMBOL = Param("symbol", "ticker", "Ticker", "ACME", has_value=True)
START = Param("start_date", "date", "First day", "2020-01-01", has_value=True)
LATE_START = Param("start_date", "date", "First day", "2025-01-01", has_value=True)
END = Param("end_date", "date", "Last day", "2025-06-20", has_value=True)
PERIOD = Param("period", "string", "Period", "annual", True, ("annual", "quarter"), ("Annual", "Q"))
BANK = Param("bank", "string", "Central bank", "Fed", has_value=True, asks_options=True)
TOPIC = Param("topic", "string", "Topic of the news", "all", has_value=True)


async def filled(
    question: str, *params: Param, told: dict[str, Any] | None = None, answer: Any = None
) -> Filled:
    engine = ScriptedEngine(says(json.dumps(answer)))
    widget = Widget("o", "w", "Widget", params=params)
    return await fill(Query((), question, 1), Means(engine), widget, TODAY, told or {})


async def test_the_dashboard_s_values_stay_unless_asked_otherwise() -> None:
    found = await filled("Describe it", SYMBOL, START, PERIOD)
    assert found.arguments == {"symbol": "ACME", "start_date": "2020-01-01", "period": "annual"}
    assert found.changed == ()


async def test_tickers_dates_and_options_come_from_the_question() -> None:
    found = await filled("MSFT since March 2025, quarter figures", SYMBOL, START, PERIOD)
    assert found.arguments == {"symbol": "MSFT", "start_date": "2025-03-01", "period": "quarter"}


async def test_several_tickers_where_several_fit() -> None:
    many = Param("symbols", "ticker", "", "A,B", has_value=True)
    listed = Param("symbols", "ticker", "", ["A"], has_value=True, several=True)
    assert (await filled("MSFT and AAPL", many)).arguments == {"symbols": "MSFT,AAPL"}
    assert (await filled("MSFT and AAPL", listed)).arguments == {"symbols": ["MSFT", "AAPL"]}
    assert (await filled("How is B?", many)).changed == ()


async def test_numbers_stand_beside_their_name() -> None:
    limit = Param("limit", "number", "Number of rows", 10, has_value=True)
    assert (await filled("with limit 50", limit)).arguments == {"limit": 50}


async def test_the_model_fills_what_the_question_speaks_of() -> None:
    found = await filled("Any news on the topic of energy?", TOPIC, answer={"topic": "energy"})
    assert found.arguments == {"topic": "energy"}


async def test_what_the_model_makes_up_is_not_taken() -> None:
    found = await filled("Any news on that topic?", TOPIC, answer={"topic": "football", "x": 1})
    assert found.arguments == {"topic": "all"}


async def test_options_that_only_the_client_knows_are_asked_for() -> None:
    assert (await filled("Which central bank cut?", BANK)).unknown == BANK
    told = {"bank": ({"label": "European Central Bank", "value": "ECB"},)}
    found = await filled("Did the central bank ECB cut?", BANK, told=told)
    assert (found.unknown, found.arguments) == (None, {"bank": "ECB"})


def test_told_options_are_read_leniently() -> None:
    content = json.dumps({"param_options": [{"param": "p", "options": [1]}, {"param": "q"}, 3]})
    items = (Item(content), Item("[]"), Item("nonsense"))
    assert told_options((Element(items),)) == {"p": (1,)}


@pytest.mark.parametrize("question", ["before 0001-01-01", "until 9999-12-31"])
async def test_the_ends_of_time_are_days_like_others(question: str) -> None:
    end = Param("end_date", "date", "Last day", "2020-01-01", has_value=True)
    assert (await filled(question, end)).arguments["end_date"] in ("2020-01-01", "2025-06-20")


@pytest.mark.parametrize(
    ("question", "arguments"),
    [
        (
            "Which earnings are due in December 2025?",
            {"start_date": "2025-12-01", "end_date": "2025-12-31"},
        ),
        (
            "Which prices were there in June 2025?",
            {"start_date": "2025-06-01", "end_date": "2025-06-20"},
        ),
        ("Which prices were there before 2024?", {"end_date": "2023-12-31"}),
        ("Which events are there since 2026?", {"start_date": "2026-01-01"}),
        ("Describe it", {"start_date": "2025-01-01", "end_date": "2025-06-20"}),
    ],
)
async def test_the_first_day_is_not_after_the_last(question: str, arguments: Any) -> None:
    assert (await filled(question, LATE_START, END)).arguments == arguments


async def test_days_shown_the_wrong_way_round_stay() -> None:
    start = Param("start_date", "date", "", "2026-01-01", has_value=True)
    assert (await filled("Describe it", start, END)).arguments == {
        "start_date": "2026-01-01",
        "end_date": "2025-06-20",
    }


@pytest.mark.parametrize(
    ("question", "period", "interval"),
    [
        ("What is the max close?", "1mo", "day"),
        ("What is the close with period max?", "max", "day"),
        ("What is the close over the max period?", "max", "day"),
        ("What was the average close last month?", "1mo", "day"),
        ("What was the close in the past month, by week?", "1mo", "week"),
        ("Show each month", "1mo", "month"),
    ],
)
async def test_words_of_the_computation_and_of_time_are_no_options(
    question: str, period: str, interval: str
) -> None:
    periods, intervals = ("1d", "1mo", "max"), ("day", "week", "month")
    found = await filled(
        question,
        Param("period", "string", "", "1mo", True, periods, periods),
        Param("interval", "string", "", "day", True, intervals, intervals),
        answer={"period": "max"},
    )
    assert found.arguments == {"period": period, "interval": interval}


async def test_tickers_left_out_are_told() -> None:
    found = await filled("Compare ACME and MSFT", SYMBOL)
    assert (found.arguments, found.notes) == (
        {"symbol": "ACME"},
        ("MSFT left out, read for ACME",),
    )
