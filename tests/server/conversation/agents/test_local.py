from dataclasses import replace

from server.asking.ask import TRYING_OUT, CanPlan
from server.chat import File, Image, Json, Message, Tool, ToolCall, ToolChoice
from server.conversation.agents.base import AgentRequest
from server.conversation.agents.local import CANNOT_SEE, PROMPT, Copilot, messages, tool_choice
from server.conversation.threads import ThreadMessage
from server.engine.base import Engine
from server.events import (
    ClientToolCall,
    Event,
    Finished,
    StatusNote,
    TextDelta,
    ToolCallFinished,
    ToolCallRequested,
    ToolCallStarted,
)
from tests.kit.engines import ScriptedEngine, ScriptedTrial, fails_trial, passes_trial, says

HI = ThreadMessage("u1", Message("user", "hi"))
CALL = ToolCall("c1", "add", {"a": 1})
CALLED = ThreadMessage("m1", Message("assistant", "", tool_calls=(CALL,)))
RESULT = ThreadMessage("r1", Message("tool", "2", tool_call_id="c1"))
ASK = AgentRequest("default", "t", "r", (HI,))
PAGE = Tool("sayHello", "", {"type": "object", "properties": {"name": {"type": "string"}}})


async def add(_arguments: Json) -> str:
    return "2"


ADD = Tool("add", "", {"type": "object"}, add)


async def run(
    engine: ScriptedEngine, request: AgentRequest, *tools: Tool, trial: CanPlan = passes_trial
) -> list[Event]:
    async def find(_name: str | None) -> Engine:
        return engine

    async def ours() -> tuple[Tool, ...]:
        return tools

    copilot = Copilot(find, ours, lambda: 100)
    copilot.can_plan = trial
    return [event async for event in copilot.run(request)]


async def test_the_model_answers_with_a_limit_and_a_prompt_of_ours():
    engine = ScriptedEngine(says("hello"))
    assert await run(engine, ASK) == [TextDelta("hello"), Finished("stop")]
    (asked,) = engine.requests
    assert asked.messages == (Message("system", PROMPT), HI.message)
    assert asked.max_tokens == 100


async def test_a_page_may_ask_for_less_but_not_for_more():
    engine = ScriptedEngine(says("a"), says("b"))
    await run(engine, replace(ASK, max_tokens=5))
    await run(engine, replace(ASK, max_tokens=5000))
    assert [asked.max_tokens for asked in engine.requests] == [5, 100]


async def test_our_tools_win_over_the_pages_and_its_own_take_only_what_they_declare():
    engine = ScriptedEngine(says("a"))
    await run(engine, replace(ASK, tools=(replace(ADD, run=None), PAGE)), ADD)
    (asked,) = engine.requests
    assert asked.tools[0] is ADD
    assert asked.tools[1].parameters["additionalProperties"] is False
    assert asked.sampling.temperature == 0.0


async def test_our_tool_is_run_and_the_model_goes_on():
    engine = ScriptedEngine([ToolCallRequested(CALL), Finished("tool_calls")], says("It is 2."))
    events = await run(engine, ASK, ADD)
    assert events[:2] == [ToolCallStarted(CALL), ToolCallFinished("c1", "2")]
    assert TextDelta("It is 2.") in events


async def test_a_client_that_asks_again_itself_gets_only_the_result():
    engine = ScriptedEngine([ToolCallRequested(CALL), Finished("tool_calls")])
    events = await run(engine, replace(ASK, ends_after_tools=True), ADD)
    assert events == [
        ToolCallStarted(CALL), ToolCallFinished("c1", "2"), Finished("tool_calls"),
    ]  # fmt: skip


def test_the_pages_prompt_replaces_ours_and_its_context_is_added():
    said = (ThreadMessage("s", Message("system", "Be kind.")), HI)
    (system, user) = messages(
        replace(ASK, messages=said, context=(("page", "cats"),)), sees_images=False
    )
    assert system.content == "Be kind.\n\nWhat the application shows now:\npage: cats"
    assert user == HI.message


def test_a_model_that_cannot_see_is_told_that_there_was_an_image():
    image = Message("user", "what is this?", (Image("image/png", b"x"),))
    request = replace(ASK, messages=(ThreadMessage("u", image),))
    assert messages(request, sees_images=True)[1] == image
    assert messages(request, sees_images=False)[1].content == f"what is this?\n{CANNOT_SEE}"


def test_one_that_cannot_plan_must_answer_after_one_round_of_calls_others_after_eight():
    wanted = ToolChoice("required")
    once = replace(ASK, messages=(HI, CALLED, RESULT), tool_choice=wanted)
    often = replace(once, messages=(HI, *(CALLED, RESULT) * 8))
    earlier = replace(once, messages=(HI, CALLED, RESULT, HI))
    assert tool_choice(once, able=False) == ToolChoice("none")
    assert tool_choice(once, able=True) == wanted
    assert tool_choice(often, able=True) == ToolChoice("none")
    assert tool_choice(earlier, able=False) == wanted


async def test_an_attached_document_is_read_into_the_prompt():
    file = File("a.txt", "text/plain", b"Pears cost 4 euros.")
    engine = ScriptedEngine(says("4"))
    asked = replace(
        ASK, messages=(ThreadMessage("u", Message("user", "How much?", files=(file,))),)
    )
    assert await run(engine, asked) == [TextDelta("4"), Finished("stop")]
    assert "Pears cost 4 euros." in engine.requests[0].messages[-1].content


async def test_a_person_is_told_which_document_could_not_be_read():
    file = File("a.pdf", "application/pdf", b"%PDF-1.7 nothing")
    engine = ScriptedEngine(says("Sorry."))
    asked = replace(
        ASK, messages=(ThreadMessage("u", Message("user", "How much?", files=(file,))),)
    )
    first, *rest = await run(engine, asked)
    assert first == TextDelta("a.pdf is damaged or not what it claims to be.\n\n")
    assert rest == [TextDelta("Sorry."), Finished("stop")]


async def test_one_that_cannot_plan_makes_one_call_for_a_page_and_others_several():
    other = replace(CALL, id="c2", arguments={"a": 2})
    script = [ToolCallRequested(CALL), ToolCallRequested(other), Finished("tool_calls")]
    for trial, calls in ((fails_trial, [CALL]), (passes_trial, [CALL, other])):
        asked = replace(ASK, tools=(replace(ADD, run=None),))
        events = await run(ScriptedEngine(script), asked, trial=trial)
        assert [one.call for one in events if isinstance(one, ClientToolCall)] == calls


async def test_the_first_call_for_a_page_does_not_wait_for_the_trial():
    other = replace(CALL, id="c2", arguments={"a": 2})
    script = [ToolCallRequested(CALL), ToolCallRequested(other), Finished("tool_calls")]
    asked, trial = replace(ASK, tools=(replace(ADD, run=None),)), ScriptedTrial(True, known=False)
    events = await run(ScriptedEngine(script), asked, trial=trial)
    assert [one.call for one in events if isinstance(one, ClientToolCall)] == [CALL]
    assert not trial.made


async def test_the_next_call_waits_for_the_trial_with_a_word():
    asked = replace(ASK, tools=(replace(ADD, run=None),), messages=(HI, CALLED, RESULT))
    trial = ScriptedTrial(True, known=False)
    script = [ToolCallRequested(replace(CALL, id="c2")), Finished("tool_calls")]
    first, *rest = await run(ScriptedEngine(script), asked, trial=trial)
    assert first == StatusNote(TRYING_OUT)
    assert any(isinstance(one, ClientToolCall) for one in rest)
    assert trial.made == 1
