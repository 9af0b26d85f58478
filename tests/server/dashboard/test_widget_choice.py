import json

import pytest

from server.asking.ask import Means
from server.dashboard.inventory import take_inventory
from server.dashboard.query import Param, Query, Widget
from server.dashboard.widget_choice import (
    Choice,
    Place,
    choose,
    find_partner,
    find_rivals,
    pick_places,
    speaks_of,
)
from tests.kit.engines import ScriptedEngine, fails_trial, passes_trial, says

WIDGETS = (
    Widget("o", "prices", "Price History", "Prices of the past"),
    Widget("o", "news", "Company News", "Headlines about a company and its price"),
    Widget("o", "targets", "Price Targets", "Prices that brokers expect"),
)


async def chosen(
    question: str, *answers: object, able: bool = False
) -> tuple[Choice, ScriptedEngine]:
    scripts = (says(json.dumps(answer)) for answer in answers)
    engine = ScriptedEngine(*scripts)
    query = Query((), question, 1, WIDGETS)
    means = Means(engine, can_plan=passes_trial if able else fails_trial)
    return await choose(query, means, WIDGETS), engine


@pytest.mark.parametrize(
    "question", ["Hello!", "Thanks a lot", "", "What is 2 + 2?", "Write a long story"]
)
async def test_small_talk_and_other_matters_read_nothing(question: str) -> None:
    choice, engine = await chosen(question)
    assert choice.widgets == ()
    assert engine.requests == []


@pytest.mark.parametrize(
    "question",
    [
        "What does a price target mean?",
        "Explain the difference between a price and a target.",
        "Danke, das hilft mir sehr!",
        "Was bedeutet Price Target?",
        "Merci !",
        "Que signifie price target ?",
        "Hola",
        "¿Qué significa price target?",
        "谢谢",
        "什么是price target?",
    ],
)
async def test_thanks_and_the_meaning_of_words_read_nothing_in_any_language(question: str) -> None:
    choice, engine = await chosen(question)
    assert choice.widgets == ()
    assert engine.requests == []


@pytest.mark.parametrize(
    "question",
    [
        "Hi, price targets of 2024?",
        "What is the difference between the price and the target of Apple?",
        "What does the price of 2024 mean?",
    ],
)
async def test_a_question_with_a_time_or_a_company_is_more_than_talk(question: str) -> None:
    choice, _ = await chosen(question, {"widgets": ["W1"]})
    assert choice.widgets


async def test_a_widget_named_in_full_needs_no_model() -> None:
    choice, _ = await chosen("What does Company News say about prices?")
    assert (choice.by, [one.id for one in choice.widgets]) == ("name", ["news"])


async def test_a_clear_lead_needs_no_model() -> None:
    choice, _ = await chosen("Which headlines are there?")
    assert (choice.by, [one.id for one in choice.widgets]) == ("rank", ["news"])


async def test_where_the_ranking_is_unsure_the_model_adds_by_alias() -> None:
    choice, engine = await chosen("Which prices are there?", {"widgets": ["W3", "W3", "W9"]})
    assert choice.by == "model"
    assert [one.id for one in choice.widgets] == ["prices", "targets", "news"]
    prompt = engine.requests[0].messages[-1].content
    assert "W1: " in prompt
    assert "uuid" not in prompt


async def test_a_model_cannot_take_away_what_the_ranking_found() -> None:
    choice, _ = await chosen("Which prices are there?", {"widgets": []})
    assert {one.id for one in choice.widgets} == {"prices", "targets"}


async def test_an_able_model_sees_the_dashboard_also_where_no_word_fits() -> None:
    question = "Am I overpaying?"
    choice, engine = await chosen(question, {"widgets": ["W3"]}, able=True)
    assert [one.id for one in choice.widgets] == ["targets"]
    assert "W3: Price Targets" in engine.requests[0].messages[-1].content
    choice, _ = await chosen(question, "nonsense", able=True)
    assert choice.widgets == ()


async def test_an_able_model_decides_even_for_nothing() -> None:
    question = "Which headlines are there?"
    choice, _ = await chosen(question, {"widgets": []}, able=True)
    assert choice == Choice((), "model")
    choice, _ = await chosen(question, {"widgets": ["W1"]}, able=True)
    assert [one.id for one in choice.widgets] == ["news"]
    choice, _ = await chosen(question, "nonsense", able=True)
    assert [one.id for one in choice.widgets] == ["news"]


def test_words_of_kin_speak_for_another_widget_where_none_speaks_for_the_choice() -> None:
    metrics = Widget("o", "metrics", "Key Metrics", "Valuation and risk ratios of a company")
    prices = Widget("o", "history", "Price History", "Daily open and close")
    inventory = take_inventory((metrics, prices))
    asked = "What is the P/E ratio of AMD?"
    assert find_rivals(asked, "price_history", inventory) == ["key_metrics", "price_history"]
    assert find_rivals(asked, "key_metrics", inventory) == []


def test_figures_of_two_widgets_are_asked_for_together() -> None:
    symbol = (Param("symbol", "ticker", value="AAPL", has_value=True),)
    income = Widget("o", "income", "Income Statement", "Operating and net income", params=symbol)
    cash = Widget("o", "cash", "Cash Flow Statement", "Operating cash flow", params=symbol)
    inventory = take_inventory((income, cash))
    asked = "Net income and operating cash flow of Shell in 2024?"
    assert find_partner(asked, "income_statement", inventory) == "cash_flow_statement"
    assert not find_partner(asked, "cash_flow_statement", inventory)
    assert not find_partner("Net income of Shell in 2024?", "income_statement", inventory)


@pytest.mark.parametrize("asked", ["Compare the revenue of Tesla and Intel.", "Revenue of Tesla?"])
def test_who_asks_for_all_gets_no_part(asked: str) -> None:
    whole = Widget("o", "income", "Income Statement", "Revenue and net income")
    part = Widget("o", "parts", "Revenue by Segment", "Revenue of each segment")
    inventory = take_inventory((whole, part))
    assert find_rivals(asked, "revenue_by_segment", inventory) == ["income_statement"]


def test_a_widget_for_one_company_has_rivals_where_many_are_compared() -> None:
    symbol = Param("symbol", "ticker", value="AAPL", has_value=True)
    value = Widget("o", "value", "Market Value", "Market value of a company", params=(symbol,))
    peers = Widget("o", "peers", "Peers", "Large companies side by side")
    weather = Widget("o", "weather", "Weather", "Rain and sun")
    inventory = take_inventory((value, peers, weather))
    for question in ("The five companies with the largest market value?", "Which company is best?"):
        assert find_rivals(question, "market_value", inventory) == ["peers"]
    for question in ("What is the market value of the company?", "Which company is Apple?"):
        assert find_rivals(question, "market_value", inventory) == []


def test_any_widget_about_companies_speaks_of_stocks() -> None:
    profile = Widget("o", "profile", "Company Profile", "What a company does")
    assert not speaks_of("What is the beta of the stock?", [profile], ["name"])
    assert speaks_of("What is the beta of the stock?", [profile], ["Beta"])
    assert speaks_of("How many jobs?", [Widget("o", "u", "Unemployment")], ["month"])


def test_words_for_coins_and_days_do_not_tell_where_the_answer_is() -> None:
    market = Widget("o", "market", "Crypto Market", "Caps and changes")
    price = Widget("o", "price", "Crypto Price", "Price of a coin by day")
    first = [Place("market", market, ["name", "change_24h"])]
    others = [Place("price", price, ["date", "close"])]
    assert pick_places("Which coin moved the most within the last day?", first, others) == []
    assert pick_places("What did the coin close at?", first, others) == ["price"]


def test_a_word_may_go_on_in_the_data() -> None:
    pay = Widget("o", "pay", "Pay")
    assert speaks_of("What do the nurses earn?", [pay], ["earnings"])
    assert not speaks_of("What do the nurses earn?", [pay], ["earthquake"])


def test_data_may_be_in_the_language_of_the_user() -> None:
    hospital, recipes = Widget("o", "w1", "Klinikum"), Widget("o", "w2", "Rezepte")
    english = "How crowded was the emergency room?"
    own = "Wie voll war es in der Notaufnahme?"
    texts = ["monat", "notaufnahme"]
    assert not speaks_of(english, [hospital], texts)
    assert speaks_of(english, [hospital], texts, own)
    assert not speaks_of(english, [recipes], ["monat"], own)
    first, others = [Place("rezepte", recipes, ["monat"])], [Place("klinikum", hospital, texts)]
    assert pick_places(english, first, others, own) == ["klinikum"]
    assert pick_places(english, others, first, own) == []
    assert not speaks_of(english, [recipes], ["monat"], english)


def test_what_a_widget_is_read_for_says_nothing_about_its_data() -> None:
    param = Param("portfolio", "text", value="growth", has_value=True, options=("growth",))
    returns = Widget("o", "w1", "Monthly returns", params=(param,))
    texts = ["month", "return", "portfolio"]
    assert not speaks_of("How volatile is the growth portfolio?", [returns], texts)
    assert speaks_of("How volatile is the growth portfolio?", [returns], [*texts, "volatility"])
    assert speaks_of("Which portfolio is it?", [returns], texts)
