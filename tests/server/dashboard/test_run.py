import json
from dataclasses import replace
from typing import Any

import pytest

from server.asking.ask import TRYING_OUT, Means
from server.dashboard.citations import SPEECHLESS
from server.dashboard.links import AllowedFiles
from server.dashboard.query import Element, Entry, Item, Query, Result, Said, Source, Widget
from server.dashboard.run import converse
from server.data import tables
from server.egress import Egress
from server.engine.base import ModelFacts
from server.errors import EngineCrashed
from server.events import (
    Artifact,
    Citations,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    PromptProgress,
    ReasoningDelta,
    StatusNote,
    Suggestions,
    TextDelta,
)
from server.flows.base import Flow, Step
from server.plugins.answering import PluginTalk
from server.settings import NetworkSettings
from tests.kit.engines import ScriptedEngine, ScriptedTrial, says
from tests.kit.plugin_kits import PlainKit

ROWS = [{"date": f"2025-01-0{day}", "close": 100.0 + day} for day in range(1, 6)]
PRICES = Widget("o", "prices", "Prices", uuid="u1", tier="primary")


def with_data(question: str, element: Element, **more: Any) -> Query:
    result = Result("get_widget_data", {}, (Source("o", "prices", "u1"),), (element,), 1)
    return Query((), question, 1, (PRICES,), (result,), **more)


def rows(found: Any = ROWS) -> Element:
    return Element((Item(json.dumps(found)),))


async def events(query: Query, engine: ScriptedEngine) -> list[Event]:
    found = [event async for event in converse(query, Means(engine))]
    return [one for one in found if not isinstance(one, PromptProgress)]  # type: ignore[misc]


async def test_first_the_data_is_asked_for() -> None:
    found = await events(Query((), "The last close?", 1, (PRICES,)), ScriptedEngine())
    assert [type(one) for one in found] == [StatusNote, ClientToolCall, Finished]
    assert found[-1] == Finished("tool_calls")


async def test_who_waits_for_the_trial_of_a_model_is_told_so_and_only_once() -> None:
    trial = ScriptedTrial(able=False, known=False)
    for notes in ([TRYING_OUT, "Reading Prices"], ["Reading Prices"]):
        query, means = Query((), "The last close?", 1, (PRICES,)), Means(ScriptedEngine())
        found = [one async for one in converse(query, replace(means, can_plan=trial))]
        assert [one.message for one in found if isinstance(one, StatusNote)] == notes


async def test_who_waits_for_the_trial_without_a_dashboard_is_told_so_too() -> None:
    async def flows() -> list[Flow]:
        return [Flow("p", "list_books", "List the books on the shelf", (Step("start", "none"),))]

    talk = PluginTalk(flows, lambda _flow, _chat: PlainKit(), lambda: True)
    asked = "Welche Romane stehen bei mir?"
    query, trial = Query((Said("user", asked, 1),), asked, 1), ScriptedTrial(True, known=False)
    means = Means(ScriptedEngine(says("1")), plugins=talk, can_plan=trial)
    found = [one async for one in converse(query, means)]
    notes = [one.message for one in found if isinstance(one, StatusNote)]
    assert notes[:2] == [TRYING_OUT, "Using p/list_books"]


async def test_then_the_number_is_computed_and_the_model_speaks_after_it() -> None:
    engine = ScriptedEngine([ReasoningDelta("hm"), *says("\n It", " rose.")])
    found = await events(with_data("What was the last close?", rows()), engine)
    assert found[0] == StatusNote(
        "Computed over Prices",
        details={
            "SQL": 'SELECT "date", "close" FROM data WHERE "close" IS NOT NULL '
            'ORDER BY "date" DESC LIMIT 1'
        },
    )
    assert found[1:3] == [
        TextDelta("**Latest close: 105 (2025-01-05)** (Prices)\n\n"),
        TextDelta("It rose."),
    ]
    assert [type(one) for one in found[3:]] == [Citations, Suggestions, Finished]
    assert "Latest close: 105" in engine.requests[0].messages[-1].content


async def test_a_small_model_says_nothing_beside_a_sure_figure_that_contradicts_it() -> None:
    engine = ScriptedEngine(says("It closed at 105. ", "Before, it was", " at 104.\nIt rose."))
    found = await events(with_data("What was the last close?", rows()), engine)
    text = "".join(one.text for one in found if isinstance(one, TextDelta))
    assert text.partition("\n\n")[2] == "It closed at 105. It rose."


async def test_a_chart_is_drawn_by_code() -> None:
    found = await events(with_data("Plot the close", rows()), ScriptedEngine(says("Here.")))
    (chart,) = [one for one in found if isinstance(one, Artifact)]
    assert chart.kind == "chart"
    assert chart.content["chart"] == {"kind": "line", "x": "date", "y": ["close"]}
    assert len(chart.content["rows"]) == 5


async def test_the_largest_are_shown_as_a_table() -> None:
    found = await events(with_data("Top 2 days by close", rows()), ScriptedEngine(says("So.")))
    (table,) = [one for one in found if isinstance(one, Artifact)]
    assert (table.kind, len(table.content["rows"])) == ("table", 2)


async def test_a_widget_that_failed_is_said_to_user_and_model() -> None:
    engine = ScriptedEngine(says("Sorry."))
    found = await events(with_data("The last close?", Element(problem="HTTP 404")), engine)
    assert found[0] == StatusNote("Prices: HTTP 404", "warning")
    assert "HTTP 404" in engine.requests[0].messages[-1].content
    assert Citations(()) in found


async def test_a_silent_model_is_excused() -> None:
    found = await events(Query((), "Hello", 1), ScriptedEngine(says("", " \n")))
    assert TextDelta(SPEECHLESS) in found
    assert found[-1] == Finished("stop")


async def test_a_failing_model_fails_the_run() -> None:
    error = EngineCrashed("It died.")
    found = await events(Query((), "Hello", 1), ScriptedEngine([TextDelta("So"), error]))
    assert found == [TextDelta("So"), Failed(error)]


async def test_context_is_enough_for_an_answer() -> None:
    engine = ScriptedEngine(says("Pizza."))
    entry = Entry("Food", "", Element((Item("pizza"),)))
    await events(Query((), "What do I like?", 1, context=(entry,)), engine)
    assert '<data name="Food">\npizza\n</data>' in engine.requests[0].messages[-1].content


async def test_pictures_are_named_when_the_model_is_blind() -> None:
    picture = Element((Item("iVBORw0KGgoAAAANSUhEUg==", "png", filename="p.png"),))
    engine = ScriptedEngine(says("I see."))
    found = await events(with_data("What is this?", picture), engine)
    assert StatusNote("This model cannot see pictures; they were left out", "warning") in found
    seeing = ScriptedEngine(says("I see."))
    seeing.facts = ModelFacts(name="eyes", context_tokens=4096, sees_images=True)
    await events(with_data("What is this?", picture), seeing)
    assert len(seeing.requests[0].messages[-1].images) == 1


async def test_style_and_size_set_how_the_model_speaks() -> None:
    engine = ScriptedEngine(says("Hi."))
    await events(Query((), "Hello", 1, options={"answer-style": "precise"}), engine)
    assert engine.requests[0].sampling.temperature == 0.1
    assert engine.requests[0].max_tokens == 160


@pytest.mark.parametrize(
    ("question", "content"),
    [
        ("total price", '[{"price": 1, "trend": "Up \\ud83d", "\\ud83d": 2}]'),
        ("What is new?", '"Up \\ud83d"'),
        ("total price until 9999-12-31", '[{"date": "2025-01-01", "price": 1}]'),
        ("total price", json.dumps([{"price": 1e308}] * 100)),
        ("total price", '[{"price": 1, "deep": ' + "[" * 980 + "]" * 980 + "}]"),
    ],
)
async def test_odd_data_is_answered_like_any_other(question: str, content: str) -> None:
    engine = ScriptedEngine(says("So."))
    found = await events(with_data(question, Element((Item(content),))), engine)
    assert found[-1] == Finished("stop")
    engine.requests[0].messages[-1].content.encode()


async def test_a_table_that_is_thinned_says_so() -> None:
    many = [{"n": number, "v": number} for number in range(2000)]
    found = await events(with_data("Show it as a table", rows(many)), ScriptedEngine(says("So.")))
    (table,) = [one for one in found if isinstance(one, Artifact)]
    assert (table.description, len(table.content["rows"])) == ("500 of 2000 rows", 500)


async def test_what_was_left_out_of_the_data_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    engine = ScriptedEngine(says("So."))
    found = await events(with_data("What was the average close?", rows()), engine)
    said = "Only the first 2 of 5 rows of Prices were read."
    assert found[0] == StatusNote(said, "warning")
    assert said in engine.requests[0].messages[-1].content
    assert "over all rows" not in engine.requests[0].messages[-1].content
    assert TextDelta("**Average close (over the first 2 of 5 rows): 101.5** (Prices)\n\n") in found


async def test_a_later_question_is_computed_over_the_data_not_over_our_chart() -> None:
    drawn = Entry("Prices_ab12cd", "close by date, 2 of 5 rows", rows(ROWS[:2]), is_own=True)
    fetched = with_data("What is the average close?", rows(), context=(drawn,))
    found = await events(replace(fetched, turn=2, widgets=()), ScriptedEngine(says("So.")))
    assert TextDelta("**Average close: 103** (Data)\n\n") in found


async def test_of_our_own_chart_nothing_is_computed() -> None:
    drawn = Entry("Prices_ab12cd", "close by date, 2 of 5 rows", rows(ROWS[:2]), is_own=True)
    engine = ScriptedEngine(says("So."))
    found = await events(Query((), "What is the average close?", 2, context=(drawn,)), engine)
    assert not any(isinstance(one, TextDelta) and "Average" in one.text for one in found)
    assert "3 more rows came and were left out" in engine.requests[0].messages[-1].content


def bold(found: list[Event]) -> list[str]:
    return [one.text for one in found if isinstance(one, TextDelta) and one.text.startswith("**")]


@pytest.mark.parametrize(
    ("symbol", "lead"), [("AAPL", ["**Average close: 103** (Prices)\n\n"]), ("MSFT", [])]
)
async def test_another_company_s_figure_is_not_printed(symbol: str, lead: list[str]) -> None:
    source = Source("o", "prices", "u1", {"symbol": symbol})
    result = Result("get_widget_data", {}, (source,), (rows(),), 1)
    query = Query((), "What is the average close of AAPL?", 1, (PRICES,), (result,))
    engine = ScriptedEngine(says("So."))
    assert bold(await events(query, engine)) == lead


@pytest.mark.parametrize(
    ("question", "is_warned"),
    [("What is the average close?", False), ("How did prices develop, and why?", True)],
)
async def test_an_exact_figure_comes_without_a_warning(question: str, is_warned: bool) -> None:
    many = [{"date": f"{1900 + n // 300}-01-01", "close": n / 7} for n in range(2000)]
    found = await events(with_data(question, rows(many)), ScriptedEngine(says("So.")))
    levels = {one.level for one in found if isinstance(one, StatusNote)}
    assert ("warning" in levels) is is_warned
    assert bool(bold(found)) is not is_warned


async def test_the_answer_says_which_host_must_be_allowed() -> None:
    """By code; where there is nothing else to answer from, the model makes nothing up."""
    files = AllowedFiles(Egress(NetworkSettings), NetworkSettings)
    link = Item(kind="pdf", filename="a.pdf", url="https://files.example.com/a?key=1")
    engine = ScriptedEngine(says("It rose."))
    query = with_data("What was the last close?", Element((link,)))
    found = [one async for one in converse(query, Means(engine, files=files))]
    (told,) = [one.text for one in found if isinstance(one, TextDelta)]
    assert "moat allow --files https://files.example.com" in told
    assert (engine.requests, found[-1]) == ([], Finished("stop"))
    query = with_data("What was the last close?", Element((link, *rows().items)))
    found = [one async for one in converse(query, Means(engine, files=files))]
    assert "".join(one.text for one in found if isinstance(one, TextDelta)).startswith(told)
    assert found[-1] == Finished("stop")


async def test_a_report_comes_as_a_page() -> None:
    query = with_data("Write a report about the prices", rows())
    found = await events(query, ScriptedEngine(says("They rose.")))
    (page,) = [one for one in found if isinstance(one, Artifact)]
    assert (page.kind, page.name) == ("html", "Prices")
    assert "<p>They rose.</p>" in page.content["text"]


async def test_a_number_that_a_small_model_makes_up_is_marked() -> None:
    engine = ScriptedEngine(says("It **rose** to 105", " from 99.", " That is 6.1%."))
    found = await events(with_data("Tell me about the close", rows()), engine)
    text = "".join(one.text for one in found if isinstance(one, TextDelta))
    marked = "It rose to 105 from 99 [not in the data]. That is 6.1% [not in the data]."
    assert text.endswith(marked)
