import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from server.asking.ask import TRYING_OUT, Means
from server.chat import ChatRequest, Json, Message, Sampling, Tool, ToolCall, ToolChoice
from server.conversation.run import MAX_TURNS, converse
from server.errors import BadRequest, ContextOverflow
from server.events import (
    CallArguments,
    CallOpened,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    OfChoice,
    Piece,
    ReasoningDelta,
    StatusNote,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStarted,
    Usage,
)
from server.flows.base import Flow, Step
from server.plugins.answering import PluginTalk
from tests.kit.engines import EndlessEngine, ScriptedEngine, ScriptedTrial, says
from tests.kit.plugin_kits import PlainKit

CALL = ToolCall("c1", "add", {"a": 2, "b": 2})
ASK = ChatRequest((Message("user", "2+2?"),))


async def add(arguments: Json) -> str:
    return str(arguments["a"] + arguments["b"])


async def refuse(_arguments: Json) -> str:
    raise BadRequest("No.")


def with_tool(run: object) -> ChatRequest:
    return ChatRequest(ASK.messages, tools=(Tool("add", "", {}, run=run),))  # type: ignore[arg-type]


async def collect(events: AsyncIterator[Event | OfChoice]) -> list[Event | OfChoice]:
    return [event async for event in events]


async def test_an_answer_passes_through():
    engine = ScriptedEngine(says("four"))
    assert await collect(converse(Means(engine), ASK)) == [TextDelta("four"), Finished("stop")]


async def test_a_server_tool_is_run_and_the_model_asked_again():
    engine = ScriptedEngine(
        [
            CallOpened(0, "c1", "add"),
            CallArguments(0, "{}"),
            ToolCallRequested(CALL),
            Finished("tool_calls", Usage(10, 0, 5)),
        ],
        [TextDelta("4"), Finished("stop", Usage(20, 10, 1))],
    )
    assert await collect(converse(Means(engine), with_tool(add))) == [
        ToolCallStarted(CALL),
        ToolCallFinished("c1", "4"),
        TextDelta("4"),
        Finished("stop", Usage(30, 10, 6)),
    ]
    assert engine.requests[1].messages[-1] == Message("tool", "4", tool_call_id="c1", name="add")


async def test_a_failing_server_tool_is_told_to_the_model():
    engine = ScriptedEngine([ToolCallRequested(CALL), Finished("tool_calls")], says("sorry"))
    events = await collect(converse(Means(engine), with_tool(refuse)))
    assert ToolCallFinished("c1", "No.", failed=True) in events
    assert engine.requests[1].messages[-1].content == "No."


async def test_a_client_tool_ends_the_run():
    script = [CallOpened(0, "c1", "add"), ToolCallRequested(CALL), Finished("tool_calls")]
    engine = ScriptedEngine(script)
    assert await collect(converse(Means(engine), with_tool(None))) == [
        CallOpened(0, "c1", "add"),
        ClientToolCall(CALL),
        Finished("tool_calls"),
    ]
    assert len(engine.requests) == 1


async def test_a_model_that_calls_for_ever_is_stopped():
    scripts = [[ToolCallRequested(CALL), Finished("tool_calls")]] * MAX_TURNS
    engine = ScriptedEngine(*scripts)
    events = await collect(converse(Means(engine), with_tool(add)))
    assert events[-1] == Finished("length")
    assert len(engine.requests) == MAX_TURNS


async def test_a_refusal_is_the_last_event():
    error = ContextOverflow(10, 5)
    assert await collect(converse(Means(ScriptedEngine([error])), ASK)) == [Failed(error)]


async def test_several_choices_each_end_once_and_differ_by_seed():
    engine = ScriptedEngine(says("a"), says("b"), says("c"))
    asked = ChatRequest(ASK.messages, choices=3, sampling=Sampling(seed=7))
    events = await collect(converse(Means(engine), asked))
    ends = [e.index for e in events if isinstance(e, OfChoice) and isinstance(e.event, Finished)]
    assert sorted(ends) == [0, 1, 2]
    assert all(request.choices == 1 for request in engine.requests)
    assert sorted(request.sampling.seed for request in engine.requests) == [7, 8, 9]


@pytest.mark.parametrize("choices", [1, 2])
async def test_closing_the_run_stops_the_engine(choices: int):
    engine = EndlessEngine()
    events = converse(Means(engine), ChatRequest(ASK.messages, choices=choices))
    await anext(events)
    await events.aclose()
    assert engine.stopped.is_set()


async def test_the_model_is_told_what_it_thought_before_a_call():
    called = [ReasoningDelta("I must "), ReasoningDelta("add."), ToolCallRequested(CALL)]
    engine = ScriptedEngine([*called, Finished("tool_calls")], says("4"))
    await collect(converse(Means(engine), with_tool(add)))
    assert engine.requests[1].messages[1].reasoning == "I must add."


async def test_the_stop_text_that_ended_an_answer_is_passed_on():
    engine = ScriptedEngine([Finished("stop", stop_text="END")])
    assert await collect(converse(Means(engine), ASK)) == [Finished("stop", stop_text="END")]


async def test_a_call_that_does_not_fit_is_handed_on_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = Tool("add", "", {"type": "object", "properties": {"a": {"type": "string"}}})
    engine = ScriptedEngine([ToolCallRequested(CALL), Finished("tool_calls")])
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(tool,))))
    assert events == [ClientToolCall(CALL), Finished("tool_calls")]
    assert "a call of add does not fit the tool's schema: 'a' breaks type" in caplog.text


def called(index: int, call_id: str, name: str, arguments: Json) -> list[Piece]:
    text = json.dumps(arguments)
    return [
        CallOpened(index, call_id, name),
        CallArguments(index, text[:3]),
        CallArguments(index, text[3:]),
        ToolCallRequested(ToolCall(call_id, name, arguments)),
    ]


def calls_of(events: list[Event | OfChoice]) -> list[tuple[str, Json]]:
    made = [event.call for event in events if isinstance(event, ClientToolCall)]
    return [(call.name, call.arguments) for call in made]


async def test_identical_calls_of_a_turn_are_sent_once_and_never_begun():
    three, four = {"item": "apples", "count": 3}, {"item": "apples", "count": 4}
    swapped = dict(reversed(three.items()))
    script = [
        *called(0, "c0", "order", three),
        *called(1, "c1", "order", swapped),
        *called(2, "c2", "order", four),
        *called(3, "c3", "order", three),
        *called(4, "c4", "greet", three),
        Finished("tool_calls"),
    ]
    tools = (Tool("order", "", {}), Tool("greet", "", {}))
    request = ChatRequest(ASK.messages, tools=tools)
    events = await collect(converse(Means(ScriptedEngine(script)), request))
    assert calls_of(events) == [("order", three), ("order", four), ("greet", three)]
    begun = [event for event in events if isinstance(event, CallOpened)]
    assert [(one.index, one.id) for one in begun] == [(0, "c0"), (1, "c2"), (2, "c4")]
    texts = ["", "", ""]
    for event in events:
        if isinstance(event, CallArguments):
            texts[event.index] += event.text
    assert [json.loads(text) for text in texts] == [three, four, three]
    assert events[-1] == Finished("tool_calls")


@pytest.mark.parametrize(
    "pair", [({"a": 1}, {"a": True}), ({"a": 0}, {"a": False}), ({}, {"a": 1})]
)
async def test_calls_that_differ_in_kind_alone_are_different(pair: tuple[Json, Json]):
    script = [*called(0, "c0", "add", pair[0]), *called(1, "c1", "add", pair[1])]
    engine = ScriptedEngine([*script, Finished("tool_calls")])
    events = await collect(converse(Means(engine), with_tool(None)))
    assert calls_of(events) == [("add", pair[0]), ("add", pair[1])]


@pytest.mark.parametrize(
    "asked",
    [
        {"parallel_calls": False},
        {"tool_choice": ToolChoice("required", ("add",))},
        {"tool_choice": ToolChoice("required", ("add",)), "parallel_calls": True},
    ],
)
@pytest.mark.parametrize("streamed", [True, False])
async def test_one_call_is_sent_where_one_is_wanted(asked: dict[str, Any], streamed: bool):
    script = [
        piece
        for number in range(8)
        for piece in called(number, f"c{number}", "add" if number < 4 else "other", {"a": number})
        if streamed or isinstance(piece, ToolCallRequested)
    ]
    request = replace(with_tool(None), **asked)
    engine = ScriptedEngine([*script, Finished("tool_calls")])
    events = await collect(converse(Means(engine), request))
    assert calls_of(events) == [("add", {"a": 0})]
    assert len([event for event in events if isinstance(event, CallOpened)]) == streamed


async def test_a_repeated_call_that_is_cut_is_left_out():
    cut = [CallOpened(1, "c2", "add"), CallArguments(1, '{"a": 2'), ToolCallRequested(CALL, False)]
    engine = ScriptedEngine([*called(0, "c1", "add", {"a": 2}), *cut, Finished("length")])
    events = await collect(converse(Means(engine), with_tool(None)))
    assert [event.id for event in events if isinstance(event, CallOpened)] == ["c1"]
    assert events[-1] == Finished("length")


async def test_our_own_tool_is_run_once_for_identical_calls():
    ran: list[Json] = []

    async def run(arguments: Json) -> str:
        ran.append(arguments)
        return "done"

    script = [piece for at in range(3) for piece in called(at, f"c{at}", "add", {"a": 1})]
    engine = ScriptedEngine([*script, Finished("tool_calls")], says("ok"))
    events = await collect(converse(Means(engine), with_tool(run)))
    assert ran == [{"a": 1}]
    assert [event.call.id for event in events if isinstance(event, ToolCallStarted)] == ["c0"]
    assert len(engine.requests[1].messages[1].tool_calls) == 1


PICKY = Tool(
    "add",
    "",
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
)


def written(call_id: str, arguments: Json, name: str = "add") -> list[Piece]:
    """A call that was read as a whole, because the model wrote it in a form of its own."""
    opened, *rest = called(0, call_id, name, arguments)
    assert isinstance(opened, CallOpened)
    return [replace(opened, is_whole=True), *rest]


async def test_arguments_that_do_not_fit_go_back_to_the_model_once():
    wrong = [*written("c1", {"a": "two"}), Finished("tool_calls", Usage(10, 0, 5))]
    right = [*called(0, "c2", "add", {"a": 2}), Finished("tool_calls", Usage(20, 10, 4))]
    engine = ScriptedEngine([TextDelta("I add."), *wrong], right)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert calls_of(events) == [("add", {"a": 2})]
    assert [event.id for event in events if isinstance(event, CallOpened)] == ["c2"]
    assert events[0] == TextDelta("I add.")
    assert events[-1] == Finished("tool_calls", Usage(30, 10, 9))
    again = engine.requests[1]
    assert again.tool_choice == ToolChoice("required", ("add",))
    assert again.messages[-2].tool_calls == (ToolCall("c1", "add", {"a": "two"}),)
    assert again.messages[-1].tool_call_id == "c1"
    assert "'a' breaks type" in again.messages[-1].content


async def test_what_is_wrong_again_is_what_the_client_gets():
    scripts = [[*written(f"c{at}", {"a": f"two{at}"}), Finished("tool_calls")] for at in range(2)]
    engine = ScriptedEngine(*scripts)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert calls_of(events) == [("add", {"a": "two1"})]
    assert len(engine.requests) == 2


@pytest.mark.parametrize("second", [[ContextOverflow(10, 5)], says("No."), [Finished("length")]])
async def test_the_call_is_passed_on_where_it_cannot_be_asked_for_again(second: list[Any]):
    end = Finished("tool_calls", Usage(1, 0, 1))
    engine = ScriptedEngine([*written("c1", {"a": "two"}), end], second)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert calls_of(events) == [("add", {"a": "two"})]
    assert events[-1] == end


async def test_the_tokens_of_a_second_try_in_vain_count():
    first = [*written("c1", {"a": "two"}), Finished("tool_calls", Usage(10, 0, 5))]
    engine = ScriptedEngine(first, [TextDelta("No."), Finished("stop", Usage(20, 10, 1))])
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert events[-1] == Finished("tool_calls", Usage(30, 10, 6))


async def test_calls_that_fit_are_kept_beside_one_that_does_not():
    script = [*written("c1", {"a": 1}), *written("c2", {"a": "x"}), *written("c3", {"a": 3})]
    right = [*called(0, "c4", "add", {"a": 2}), Finished("tool_calls")]
    engine = ScriptedEngine([*script, Finished("tool_calls")], right)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert calls_of(events) == [("add", {"a": 1}), ("add", {"a": 3}), ("add", {"a": 2})]
    opened = [event.index for event in events if isinstance(event, CallOpened)]
    assert opened == [0, 1, 2]


async def test_our_own_tool_is_not_run_with_arguments_that_do_not_fit():
    ran: list[Json] = []

    async def run(arguments: Json) -> str:
        ran.append(arguments)
        return "done"

    engine = ScriptedEngine(
        [*called(0, "c1", "add", {"a": "two"}), Finished("tool_calls")],
        [*called(0, "c2", "add", {"a": 2}), Finished("tool_calls")],
        says("ok"),
    )
    tools = (replace(PICKY, run=run),)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=tools)))
    assert ran == [{"a": 2}]
    assert [event.call.id for event in events if isinstance(event, ToolCallStarted)] == ["c2"]
    assert engine.requests[2].messages[-2].tool_calls == (ToolCall("c2", "add", {"a": 2}),)


async def test_a_call_that_is_streamed_is_not_held_back():
    script = [*called(0, "c1", "add", {"a": "two"}), Finished("tool_calls")]
    engine = ScriptedEngine(script)
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, tools=(PICKY,))))
    assert calls_of(events) == [("add", {"a": "two"})]
    assert len(engine.requests) == 1


def with_books(engine: ScriptedEngine, trial: ScriptedTrial) -> Means:
    """With a plugin whose flow may be chosen for any question."""

    async def flows() -> list[Flow]:
        return [Flow("p", "list_books", "List the books on the shelf", (Step("start", "none"),))]

    talk = PluginTalk(flows, lambda _flow, _chat: PlainKit(), lambda: True)
    return Means(engine, plugins=talk, can_plan=trial)


async def test_who_waits_for_the_trial_in_a_plain_chat_is_told_so_and_only_once() -> None:
    asked = ChatRequest((Message("user", "Welche Romane stehen bei mir?"),))
    trial = ScriptedTrial(able=False, known=False)
    for notes in ([StatusNote(TRYING_OUT)], []):
        means = with_books(ScriptedEngine(says("Many.")), trial)
        found = await collect(converse(means, asked))
        assert found == [*notes, TextDelta("Many."), Finished("stop")]
    assert trial.made == 1


@pytest.mark.parametrize("question", ["Hello!", "Which books are on the shelf?"])
async def test_who_does_not_wait_for_the_trial_is_told_nothing(question: str) -> None:
    trial = ScriptedTrial(able=True, known=False)
    engine = ScriptedEngine(says("none"), says("Hi."))
    means = with_books(engine, trial)
    found = await collect(converse(means, ChatRequest((Message("user", question),))))
    assert not [event for event in found if isinstance(event, StatusNote)]
    assert not trial.made


async def test_the_flow_that_is_chosen_after_the_trial_answers() -> None:
    asked = ChatRequest((Message("user", "Welche Romane stehen bei mir?"),))
    trial = ScriptedTrial(able=True, known=False)
    found = await collect(converse(with_books(ScriptedEngine(says("1")), trial), asked))
    notes = [event.message for event in found if isinstance(event, StatusNote)]
    assert notes[:2] == [TRYING_OUT, "Using p/list_books"]
