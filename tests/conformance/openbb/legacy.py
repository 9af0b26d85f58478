"""The protocol as clients of 2024 and of early 2025 speak it."""

import json
import uuid
from functools import partial
from typing import Any

from tests.conformance.openbb.client import Json
from tests.conformance.openbb.current import FOOD_QUESTION, PATIENT, tell
from tests.conformance.openbb.material import LEGACY_WIDGET, ROWS, ai, fetch, human, price_widget
from tests.conformance.openbb.player import Player, text_of
from tests.conformance.verdicts import Cases, need, shorten

CASES: Cases[Player] = Cases()
case = CASES.case
OFFERED = {LEGACY_WIDGET["uuid"]}
TABLE = json.dumps(ROWS)
STOCK = human("What is the current stock price of ACME?")


def expect_text(player: Player, *messages: Json, **more: Any) -> str:
    return player.expect_text({"messages": list(messages), **more}, legacy=True)


@case("legacy/plain-chat")
def chat(player: Player) -> str:
    return expect_text(player, human("what is 1 + 1?"))


@case("legacy/conversation")
def go_on_in_a_talk(player: Player) -> str:
    return expect_text(player, human("what is 1 + 1?"), ai("2"), human("what is 2 + 2?"))


@case("legacy/context-text")
def take_a_text(player: Player) -> str:
    food = {"name": "favourite_food", "description": "The user's favourite food"}
    given = {"uuid": str(uuid.uuid4()), **food, "data": {"content": "pizza"}}
    return expect_text(player, FOOD_QUESTION, context=[given])


@case("legacy/context-json")
def take_a_table(player: Player) -> str:
    prices = {"name": "Prices", "description": "Prices of ACME", "data": {"content": TABLE}}
    given = {"uuid": str(uuid.uuid4()), **prices, "metadata": {"symbol": "ACME"}}
    question = human("What was the last close?")
    return expect_text(player, question, use_docs=False, context=[given])


@case("legacy/context-plain-string")
def take_a_bare_text(player: Player) -> str:
    return expect_text(player, FOOD_QUESTION, context="The favourite food is pizza.")


@case("legacy/widget-call")
def ask_for_the_widget(player: Player) -> str:
    body = {"messages": [STOCK], "widgets": [LEGACY_WIDGET]}
    _, events = player.ask(body, legacy=True, offered=OFFERED)
    calls = [event.data for event in events if event.name == "copilotFunctionCall"]
    if not calls and player.options.allow_no_call:
        return "no call, which is allowed"
    need(calls, "a fitting widget is on the dashboard, and there is no call")
    return shorten(calls[0], 110)


def fetch_and_answer(player: Player, result: Json) -> str:
    body = {"messages": [STOCK], "widgets": [LEGACY_WIDGET]}
    calls, events = player.drive(body, lambda _call: result, legacy=True, offered=OFFERED)
    need(calls or player.options.allow_no_call, "it answered without the widget's data")
    return tell(calls, text_of(events))


for _name, _result in {
    "content": {"content": TABLE},
    "data": {"data": {"content": TABLE}},
    "both": {"content": "", "data": {"content": TABLE}},
}.items():
    case(f"legacy/round-trip-{_name}")(partial(fetch_and_answer, result=_result))


@case("legacy/double-encoded-call")
def take_a_call_encoded_twice(player: Player) -> str:
    arguments = {"widget_uuid": LEGACY_WIDGET["uuid"]}
    call = {"function": "get_widget_data", "input_arguments": arguments}
    result = {"role": "tool", "function": "get_widget_data", "content": TABLE}
    body = {
        "messages": [STOCK, ai(json.dumps(json.dumps(call))), result],
        "widgets": [LEGACY_WIDGET],
    }
    calls, _ = player.drive(
        body, lambda _call: {"content": TABLE}, legacy=True, offered=OFFERED, **PATIENT
    )
    return tell(calls)


@case("legacy/2025-form")
def take_the_form_of_early_2025(player: Player) -> str:
    """Widgets are in groups already, and data has no 'items' yet."""
    box = price_widget()
    source = {"origin": box["origin"], "id": box["widget_id"], "input_args": {"symbol": "ACME"}}
    call = {
        "function": "get_widget_data",
        "input_arguments": {"data_sources": [source]},
        "copilot_function_call_arguments": {},
    }
    body = {
        "messages": [
            human("What was the last close?"),
            ai(json.dumps(call)),
            {"role": "tool", **call, "data": [{"content": TABLE}]},
        ],
        "widgets": {"primary": [box], "secondary": [], "extra": []},
    }
    calls, _ = player.drive(body, fetch, offered=[box], is_sdk_valid=False, **PATIENT)
    return tell(calls)
