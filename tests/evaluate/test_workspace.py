import json
from typing import Any

from tests.evaluate import dashboards, wire
from tests.evaluate.__main__ import play
from tests.evaluate.judge import Played
from tests.evaluate.questions import load
from tests.evaluate.serve import serving
from tests.evaluate.workspace import Workspace


def chat(board: str = "equities") -> Workspace:
    return Workspace("http://127.0.0.1:9", dashboards.dashboard(board))


def run(function: str, **arguments: Any) -> tuple[Any, Played]:
    played = Played()
    call = {"function": function, "input_arguments": arguments}
    return chat()._run(call, played), played


def read(key: str, **arguments: Any) -> tuple[Any, Played]:
    widget = dashboards.dashboard("equities").widget(key)
    return run("get_widget_data", data_sources=[{
        "widget_uuid": widget.uuid, "origin": "Lab", "id": key, "input_args": arguments,
    }])  # fmt: skip


def test_a_widget_is_read_with_its_arguments_and_what_it_shows() -> None:
    (element,), played = read("income_statement", symbol="MSFT")
    rows = json.loads(element["items"][0]["content"])
    assert {row["symbol"] for row in rows} == {"MSFT"}
    shown = {"symbol": "MSFT", "period": "annual", "limit": 5}
    assert played.reads == [("income_statement", shown)]


def test_what_the_backend_does_not_have_is_an_error() -> None:
    (element,), _ = read("income_statement", symbol="NOPE")
    assert element["error_type"] == "not_found"


def test_the_choices_of_a_parameter_are_told() -> None:
    asked = {"id": "options_chain", "param": "expiration", "origin": "Lab"}
    (element,), _ = run("get_params_options", param_options_queries=[asked])
    told = json.loads(element["items"][0]["content"])["param_options"][0]
    assert told["options"][1] == {"label": "2026-12-18", "value": "2026-12-18"}


def test_data_without_a_state_is_dropped_as_the_web_client_does() -> None:
    body = dashboards.request(dashboards.dashboard("macro"), [{"role": "human", "content": "x"}])
    asked = {"function": "get_widget_data", "input_arguments": {"data_sources": []}}
    assert chat()._follow(body, asked, Played())["messages"] == body["messages"]
    following = chat()._follow(body, {**asked, "extra_state": {"v": 1}}, Played())
    assert [one["role"] for one in following["messages"]] == ["human", "ai", "tool"]
    assert "timezone" not in following


def test_figures_come_in_awkward_forms() -> None:
    metrics = wire.read("key_metrics", {"symbol": "AAPL"})
    assert metrics["valuation"]["market_cap"] == "$3.46T"
    spent = wire.read("cash_flow", {"symbol": "AAPL", "limit": 1})[0]["capital_expenditure"]
    assert spent.startswith("(")
    assert "2023" in wire.read("balance_sheet", {"symbol": "AAPL"})[0]
    assert wire.read("dividends", {"symbol": "KO"})[0]["payment_date"] > 10**12


def test_a_served_moat_is_asked_and_every_call_of_its_model_is_logged() -> None:
    wanted = next(one for one in load() if one.id == "ma-02")
    with serving("oracle") as (address, log):
        (row,) = play(address, log, wanted)
    assert row.verdict.parameters
    assert row.verdict.answer
    assert row.played.reads == [("policy_rates", {})]
    assert row.played.model
    assert row.played.model[-1]["written"] > 0
