from collections.abc import AsyncIterator

import pytest

from server.chat import ChatRequest, Json, Message, Tool, ToolCall
from server.conversation.means import Means
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
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStarted,
    Usage,
)
from tests.engines import EndlessEngine, ScriptedEngine, says

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
    events = await collect(converse(Means(engine), ChatRequest(ASK.messages, choices=3)))
    ends = [e.index for e in events if isinstance(e, OfChoice) and isinstance(e.event, Finished)]
    assert sorted(ends) == [0, 1, 2]
    assert all(request.choices == 1 for request in engine.requests)


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
