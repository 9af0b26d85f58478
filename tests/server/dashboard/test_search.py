"""Where the first widgets have no word of the question, more are looked into."""

import json
from dataclasses import replace

from server.chat import Json
from server.dashboard.plan import Planner
from server.dashboard.query import Element, Item, Query, Result, Said, Source, Widget
from tests.kit.engines import ScriptedEngine
from tests.server.dashboard.new_domains import TODAY

NAMES = ("Fleet", "Capital", "Fixtures", "Deposits", "Rates", "Bunker", "Traffic", "Stock")
WIDGETS = tuple(
    Widget("o", f"w{place}", name, uuid=f"u{place}") for place, name in enumerate(NAMES)
)
QUESTION = "What is the berth occupancy of Hamburg?"
ROWS = [{"month": "2026-09", "amount": 4}]
BERTHS = [{"port": "Hamburg", "berth_occupancy": 69}]


def planned(*steps: tuple[str, list[str]], of_traffic: list[Json] = ROWS) -> Planner:
    """The state after these reads and searches, the last of which brought the newest data."""
    plan: list[Json] = []
    results: list[Result] = []
    for kind, names in steps:
        meant = [WIDGETS[NAMES.index(name)] for name in names]
        plan.append({kind: [{"widget": one.name.lower(), "parameters": {}} for one in meant]})
        sources = tuple(Source("o", one.id, one.uuid, {}) for one in meant)
        rows = [of_traffic if one.name == "Traffic" else ROWS for one in meant]
        elements = tuple(Element((Item(json.dumps(one)),)) for one in rows)
        results.append(Result("get_widget_data", {}, sources, elements, 1, {"plan": [*plan]}))
    query = Query((Said("user", QUESTION, 1),), QUESTION, 1, WIDGETS)
    query = replace(query, results=tuple(results), state=results[-1].state)
    return Planner(query, ScriptedEngine(), TODAY)


async def test_all_others_are_looked_into_if_the_first_few_have_nothing() -> None:
    first, few = ("read", ["Fleet"]), ["Capital", "Fixtures", "Deposits"]
    step = await planned(first, ("search", few)).resume()
    assert step
    assert step.call
    called = json.dumps(step.call.arguments)
    others = [one for one in WIDGETS if one.name not in (*few, "Fleet")]
    assert all(str(one.uuid) in called for one in others)
    assert not any(f'"{one.uuid}"' in called for one in WIDGETS if one not in others)


async def test_the_one_that_has_the_words_is_told() -> None:
    steps = (("read", ["Fleet"]), ("search", ["Capital"]), ("search", ["Rates", "Traffic"]))
    planner = planned(*steps, of_traffic=BERTHS)
    assert await planner.resume() is None
    assert "berth_occupancy" in planner.done[-1].outcome
    assert "Nothing in it speaks of what is asked for." in planner.done[0].outcome


async def test_after_all_others_nothing_is_searched_again() -> None:
    steps = (("read", ["Fleet"]), ("search", ["Capital"]), ("search", ["Rates", "Traffic"]))
    planner = planned(*steps)
    assert await planner.resume() is None
    assert planner.done[-1].outcome == ""
