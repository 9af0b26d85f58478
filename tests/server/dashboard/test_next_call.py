import json
from dataclasses import replace
from datetime import date
from typing import Any

from server.asking.ask import Means
from server.dashboard.next_call import Step, ToolUse, choose_skill, choose_tool, next_step
from server.dashboard.query import (
    MAX_HOPS,
    Element,
    Item,
    OfferedTool,
    Param,
    Query,
    Result,
    Skill,
    Source,
    Widget,
)
from server.errors import BadSchema
from server.events import Piece
from tests.contract.openbb.talking import TalkingEngine
from tests.kit.engines import ScriptedEngine, says

TODAY = date(2025, 6, 20)
SYMBOL = Param("symbol", "ticker", "Ticker", "ACME", has_value=True)
PRICES = Widget("o", "prices", "Price History", "Closing prices", uuid="u1", params=(SYMBOL,))
NEWS = Widget("o", "news", "Company News", "Headlines", uuid="u2")
DATA = (Element((Item('[{"a": 1}]'),)),)


def primary(*widgets: Widget) -> tuple[Widget, ...]:
    return tuple(replace(widget, tier="primary") for widget in widgets)


def fetched(widget: Widget, turn: int, elements: Any = DATA, **arguments: Any) -> Result:
    source = Source(widget.origin, widget.id, widget.uuid, arguments)
    return Result("get_widget_data", {}, (source,), elements, turn)


async def step(query: Query) -> Step | None:
    return await next_step(query, Means(TalkingEngine()), TODAY)


async def sources(query: Query) -> list[tuple[str, dict[str, Any]]]:
    found = await step(query)
    assert found is not None
    listed = found.call.arguments["data_sources"]
    return [(one["id"], one["input_args"]) for one in listed]


async def test_what_the_user_pointed_at_is_read_in_one_call() -> None:
    query = Query((), "Relate them", 1, primary(PRICES, NEWS))
    assert await sources(query) == [("prices", {"symbol": "ACME"}), ("news", {})]


async def test_a_widget_named_besides_what_was_pointed_at_is_read_too() -> None:
    query = Query((), "Relate it to Company News", 1, (*primary(PRICES), NEWS))
    assert [name for name, _ in await sources(query)] == ["prices", "news"]


async def test_state_carries_what_the_next_request_lacks() -> None:
    skill = Skill("s", "", "Be brief.")
    query = Query((), "q", 1, primary(PRICES), timezone="Asia/Tokyo", skills=(skill,))
    found = await step(query)
    assert found is not None
    state = found.call.arguments["state"]
    assert (state["hop"], state["tz"]) == (1, "Asia/Tokyo")
    assert state["skills"] == [{"slug": "s", "description": "", "text": "Be brief."}]
    assert state["chosen"] == [["u1", "o", "prices"]]


async def test_what_is_here_is_not_read_again() -> None:
    widgets = primary(PRICES)
    assert await step(Query((), "q", 1, widgets, (fetched(PRICES, 1),))) is None
    earlier = (fetched(PRICES, 1, symbol="ACME"),)
    assert await step(Query((), "q", 2, widgets, earlier)) is None
    assert await sources(Query((), "MSFT?", 2, widgets, earlier)) == [
        ("prices", {"symbol": "MSFT"})
    ]
    assert await sources(Query((), "Refresh it", 2, widgets, earlier))
    assert await sources(Query((), "Bitte aktualisieren", 2, widgets, earlier))


async def test_what_failed_in_an_earlier_turn_is_tried_again() -> None:
    failed = (fetched(PRICES, 1, (Element(problem="HTTP 502"),), symbol="ACME"),)
    assert await sources(Query((), "q", 2, primary(PRICES), failed))


async def test_a_widget_that_the_client_renewed_since_is_read_again() -> None:
    (shown,) = primary(replace(PRICES, updated="1"))
    found = await step(Query((), "q", 1, (shown,)))
    assert found is not None
    earlier = (replace(fetched(PRICES, 1, symbol="ACME"), state=found.call.arguments["state"]),)
    assert await step(Query((), "q", 2, (shown,), earlier)) is None
    assert await sources(Query((), "q", 2, (replace(shown, updated="2"),), earlier))


async def test_the_dashboard_is_read_when_nothing_was_pointed_at() -> None:
    query = Query((), "Which headlines are there?", 1, (PRICES, NEWS))
    assert await sources(query) == [("news", {})]
    assert await step(replace(query, asked="Hello!")) is None
    assert await step(replace(query, results=(fetched(NEWS, 1),))) is None


async def test_widgets_off_the_dashboard_need_another_function() -> None:
    extra = replace(NEWS, tier="extra", uuid=None)
    found = await step(Query((), "Which headlines are there?", 1, (PRICES, extra)))
    assert found is not None
    assert found.call.name == "get_extra_widget_data"


async def test_arguments_that_failed_are_tried_once_more_as_shown() -> None:
    failed = (Element(problem="HTTP 404"),)
    widgets = primary(PRICES)
    query = Query((), "MSFT?", 1, widgets, (fetched(PRICES, 1, failed, symbol="MSFT"),))
    assert await sources(query) == [("prices", {"symbol": "ACME"})]
    again = (*query.results, fetched(PRICES, 1, failed, symbol="ACME"))
    assert await step(replace(query, results=again)) is None


async def notes(query: Query) -> list[tuple[str, str]]:
    found = await step(query)
    assert found is not None
    return [(note.level, note.message) for note in found.notes]


async def test_tickers_replaced_or_left_out_are_told() -> None:
    widgets = primary(PRICES)
    failed = fetched(PRICES, 1, (Element(problem="HTTP 404"),), symbol="MSFT")
    assert await notes(Query((), "MSFT?", 1, widgets, (failed,))) == [
        ("info", "Reading Price History"),
        ("warning", "Price History: no data for MSFT, read as the dashboard shows it"),
    ]
    assert await notes(Query((), "Compare ACME and MSFT", 1, widgets)) == [
        ("info", "Reading Price History"),
        ("warning", "Price History: MSFT left out, read for ACME"),
    ]


async def test_hops_have_an_end() -> None:
    results = tuple(fetched(NEWS, 1) for _ in range(MAX_HOPS))
    assert await step(Query((), "q", 1, primary(PRICES), results)) is None


async def test_options_are_asked_of_the_client_and_used_in_the_next_hop() -> None:
    bank = Param(
        "bank", "string", "Central bank", "Fed", True, asks_options=True,
        options_inputs=(("region", "area"),),
    )  # fmt: skip
    area = Param("area", "string", "", "EU", has_value=True)
    widget = Widget("o", "rates", "Rates", uuid="u3", params=(bank, area), tier="primary")
    query = Query((), "Did the central bank ECB cut?", 1, (widget,))
    found = await step(query)
    assert found is not None
    assert found.call.name == "get_params_options"
    assert found.call.arguments["param_options_queries"] == [
        {
            "origin": "o",
            "id": "rates",
            "param": "bank",
            "options_endpoint_input_args": {"region": "EU"},
        }
    ]
    content = '{"param_options": [{"param": "bank", "options": [{"label": "E", "value": "ECB"}]}]}'
    told = Result("get_params_options", {}, (), (Element((Item(content),)),), 1)
    assert await sources(replace(query, results=(told,))) == [
        ("rates", {"bank": "ECB", "area": "EU"})
    ]


async def test_old_clients_read_one_widget_and_nothing_else() -> None:
    tool = OfferedTool("s", "headlines_tool", "Headlines", {})
    query = Query(
        (), "Use the headlines tool for Company News and Price History", 1, (PRICES, NEWS),
        tools=(tool,), plain_calls=True,
    )  # fmt: skip
    assert len(await sources(query)) == 1
    assert await step(replace(query, results=(fetched(NEWS, 1),))) is None


async def test_a_tool_of_the_client_is_used() -> None:
    tool = OfferedTool("s", "Lab_headlines", "Finds headlines", {})
    found = await step(Query((), "Use the headlines tool", 1, tools=(tool,)))
    assert found is not None
    assert found.call.name == "execute_agent_tool"
    assert found.call.arguments["tool_name"] == "Lab_headlines"


async def test_a_named_skill_is_fetched_first() -> None:
    query = Query((), "Use the brief skill", 1, primary(PRICES), catalogue=(Skill("brief", ""),))
    found = await step(query)
    assert found is not None
    assert found.call.arguments["slug"] == "brief"


SCHEMA = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
}
LOOKUP = OfferedTool("s1", "Lab_lookup_answer", "Looks up the answer to a question", SCHEMA)
WEATHER = OfferedTool("s1", "Lab_weather", "Tells the weather of a city", {})
Script = list[Piece] | list[BadSchema]


async def used(question: str, *scripts: Any, results: tuple[Result, ...] = ()) -> ToolUse | None:
    engine = ScriptedEngine(*scripts)
    query = Query((), question, 1, results=results, tools=(LOOKUP, WEATHER))
    return await choose_tool(query, Means(engine))


async def test_a_tool_asked_for_by_name_is_used_with_arguments_under_its_schema() -> None:
    answer = says(json.dumps({"question": "everything", "extra": 1}))
    use = await used("Use the lookup tool for everything", answer)
    assert use == ToolUse(LOOKUP, {"question": "everything"})


async def test_otherwise_the_model_decides() -> None:
    question = "How is the weather in that city?"
    assert await used(question, says('{"tool": "T1"}')) == ToolUse(WEATHER, {})
    assert await used(question, says('{"tool": "none"}')) is None


async def test_a_schema_nobody_can_compile_gets_the_question_itself() -> None:
    use = await used("Use the lookup tool", [BadSchema("No.")])
    assert use == ToolUse(LOOKUP, {"question": "Use the lookup tool"})


async def test_no_tool_twice_and_none_without_need() -> None:
    done = Result("execute_agent_tool", {"tool_name": LOOKUP.name}, (), (Element(),), 1)
    assert await used("Use the lookup tool", results=(done,)) is None
    assert await used("Hello!") is None


def test_a_skill_is_fetched_when_the_question_names_it() -> None:
    catalogue = (Skill("deep-dive", "Looks closely"),)
    query = Query((), "Use the deep dive skill", 1, catalogue=catalogue)
    assert choose_skill(query) == catalogue[0]
    assert choose_skill(Query((), "How deep is it?", 1, catalogue=catalogue)) is None
    done = Result("get_skill_content", {"slug": "deep-dive"}, (), (Element(),), 1)
    again = Query((), "Use the deep dive skill", 1, results=(done,), catalogue=catalogue)
    assert choose_skill(again) is None
