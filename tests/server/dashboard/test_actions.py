import json
from typing import Any

import jsonschema
import pytest

from server.dashboard.actions import Action, Choices, fit_parameters, parse_action
from server.dashboard.inventory import take_inventory
from server.dashboard.query import OfferedTool, Param, Widget

WIDGET = Widget(
    "o", "inc", "Income", uuid="1",
    params=(
        Param("symbol", "ticker", value="AAPL", has_value=True),
        Param("period", options=("annual", "quarter"), labels=("Annual", "Quarterly")),
        Param("start", "date"), Param("limit", "number"), Param("all", "boolean"),
        Param("series", options=("a", "b"), several=True),
    ),
)  # fmt: skip
INVENTORY = take_inventory((WIDGET,))


def choices(**more: Any) -> Choices:
    return Choices(INVENTORY, ["income"], **more)


def is_allowed(found: Any, given: Choices) -> bool:
    return jsonschema.Draft202012Validator(given.schema()).is_valid(found)


def test_a_widget_is_read_with_values_it_can_have() -> None:
    def read(**parameters: Any) -> Any:
        return {"read": [{"widget": "income", "parameters": parameters}]}

    assert is_allowed(read(), choices())
    assert is_allowed(read(symbol="MSFT", period="quarter", start="2024-01-01"), choices())
    assert is_allowed(read(series=["a"]), choices())
    assert not is_allowed(read(period="monthly"), choices())
    assert not is_allowed(read(start="yesterday"), choices())
    assert not is_allowed(read(other=1), choices())
    assert not is_allowed({"read": [{"widget": "prices", "parameters": {}}]}, choices())
    assert not is_allowed(read(), choices(may_read=False))


def test_tables_are_needed_to_compute() -> None:
    assert not is_allowed({"query": "SELECT 1"}, choices())
    assert is_allowed({"query": "SELECT 1"}, choices(has_tables=True))
    assert not is_allowed({"query": "DROP TABLE x"}, choices(has_tables=True))


def test_the_dashboard_is_changed_only_if_that_is_allowed() -> None:
    tabs = {"call": {"tool": "manage_navigation_bar", "arguments": {}}}
    tabs["call"]["arguments"] = {"operation": "create", "tabs": ["Mine"]}
    assert is_allowed(tabs, choices(changes_dashboard=True))
    assert not is_allowed(tabs, choices())
    assert is_allowed({"note": {"title": "a", "text": "b"}}, choices(changes_dashboard=True))


def test_a_tool_is_called_with_arguments_of_its_schema() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    given = choices(tools=[OfferedTool("s", "find", "", schema)])
    assert is_allowed({"call": {"tool": "find", "arguments": {"q": "x"}}}, given)
    assert not is_allowed({"call": {"tool": "find", "arguments": {}}}, given)
    assert not is_allowed({"call": {"tool": "delete", "arguments": {}}}, given)


@pytest.mark.parametrize(
    ("given", "fitted", "left_out"),
    [
        ({"symbol": "$msft"}, {"symbol": "MSFT"}, []),
        ({"Period": "Quarterly"}, {"period": "quarter"}, []),
        ({"period": "weekly"}, {}, ["period=weekly"]),
        ({"start": "2024-01-01T00:00"}, {"start": "2024-01-01"}, []),
        ({"start": "soon"}, {}, ["start=soon"]),
        ({"limit": "5"}, {"limit": 5}, []),
        ({"series": "b"}, {"series": ["b"]}, []),
        ({"symbol": ["AAPL", "MSFT"]}, {"symbol": "AAPL,MSFT"}, []),
        ({"nothing": 1}, {}, ["nothing=1"]),
    ],
)
def test_values_are_made_to_fit(given: Any, fitted: Any, left_out: list[str]) -> None:
    assert fit_parameters(WIDGET, given) == (fitted, left_out)


def test_one_key_is_one_action() -> None:
    assert parse_action({"answer": True}) == Action("answer", given=True)
    assert parse_action({"answer": True, "ask": "?"}) is None
    assert parse_action([]) is None
    assert json.loads(Action("query", "SELECT 'ü'").to_json()) == {"query": "SELECT 'ü'"}


def test_options_may_be_anything_that_json_has() -> None:
    options = (5, True, ["a", "b"], {"k": 1}, None, ["a", "b"])
    odd = Widget("o", "odd", "Odd", params=(Param("choice", options=options),))
    inventory = take_inventory((odd,))
    given = Choices(inventory, ["odd"])
    for option in options:
        read = {"widget": "odd", "parameters": {"choice": option}}
        assert is_allowed({"read": [read]}, given)
        assert fit_parameters(odd, {"choice": option})[0].get("choice") == option
