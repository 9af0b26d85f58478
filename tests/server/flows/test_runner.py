import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from server.chat import ChatRequest
from server.data.yaml_with_places import Findings, read
from server.errors import FlowFailed
from server.events import (
    Event,
    Finished,
    Interrupted,
    Pieces,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
)
from server.flows import runner, spec
from server.flows.base import Flow, FormAnswer, Work
from server.flows.runner import Run, resume, resume_with_text
from server.flows.templates import NOTE
from tests.kit.engines import EndlessEngine, ScriptedEngine, says
from tests.kit.plugin_kits import PlainKit, ScriptedAction


def flow_of(text: str, **known: Any) -> Flow:
    findings = Findings("flows/f.yaml")
    known = {"endpoints": ("GET /things", "POST /things"), "tools": ("own",), **known}
    flow = spec.parse("p", read(text.encode(), findings), spec.Known(**known), findings)
    assert [one for one in findings.found if one.level == "error"] == []
    assert flow
    return flow


def work_of(flow: Flow, engine: Any = None, **parts: Any) -> Work:
    kit = PlainKit(parts.pop("actions", {}), allows=parts.pop("allows", True))
    return Work(flow, parts.pop("question", "what?"), engine or ScriptedEngine(), kit, **parts)


async def events_of(run: Run, start: Any = None) -> list[Event]:
    async with aclosing(run.events(start)) as events:
        return [event async for event in events]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


API_THEN_LLM = """
name: f
description: d
steps:
  - name: start
    call_type: api
    params: {endpoint: GET /things}
    next: tell
  - name: tell
    call_type: llm
    params: {user_prompt: "Data {data} literal {json} and {{question}} for {question}"}
    next: end
  - name: end
    call_type: none
next_flow: [f]
"""


async def test_an_api_step_feeds_an_llm_step_that_streams_the_answer() -> None:
    action = ScriptedAction(answer=lambda _: [1, 2])
    engine = ScriptedEngine(says("two ", "things"))
    run = Run(work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action}))
    events = await events_of(run)
    assert text_of(events) == "two things"
    steps = [(one.name, one.active) for one in events if isinstance(one, StepChanged)]
    assert steps == [
        ("start", True), ("start", False), ("tell", True), ("tell", False), ("end", True),
        ("end", False),
    ]  # fmt: skip
    assert isinstance(events[-1], Finished)
    assert events[-2] == Suggestions(("f",))
    assert run.status == "ok"
    prompt = engine.requests[0].messages[-1].content
    assert prompt == "Data <data>[1, 2]</data> literal {json} and {question} for what?"


async def test_a_choice_jumps_and_an_extract_answers() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - name: start
    call_type: api
    params: {endpoint: GET /things}
    next: which
  - name: which
    call_type: choice
    params:
      instruction: Which?
      choices:
        - {step: a, description: first}
        - {step: b, description: second}
  - name: a
    call_type: none
  - name: b
    call_type: extract
    params: {keys: [rows.1.text]}
""")
    action = ScriptedAction(answer=lambda _: {"rows": [{"text": "no"}, {"text": "yes"}]})
    engine = ScriptedEngine(says("b"))
    events = await events_of(Run(work_of(flow, engine, actions={"GET /things": action})))
    assert text_of(events) == "yes"
    assert engine.requests[0].constraint is not None
    assert engine.requests[0].constraint.kind == "regex"


async def test_own_tools_get_what_the_original_gave_them() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - {name: start, call_type: own, params: {a: 1}, next: again}
  - {name: again, call_type: p.own, params: {a: 2}}
""")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    action = ScriptedAction(schema=schema)
    await events_of(Run(work_of(flow, ScriptedEngine(), actions={"own": action}, context="before")))
    assert action.calls == [{"a": 1}, {"a": 2}]
    assert action.surroundings["question"] == "what?"
    assert action.surroundings["background"] == "before"
    assert action.surroundings["previous_data"] == {"type": "own", "data": {"got": {"a": 1}}}


async def test_a_failed_step_runs_on_error_with_the_error() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - {name: start, call_type: api, params: {endpoint: GET /things}}
on_error: {call_type: llm, params: {user_prompt: "It broke: {error}"}}
""")
    action = ScriptedAction(answer=lambda _: FlowFailed("http_status", "no", {"status": 500}))
    engine = ScriptedEngine(says("sorry"))
    run = Run(work_of(flow, engine, actions={"GET /things": action}))
    events = await events_of(run)
    assert text_of(events) == "sorry"
    assert run.status == "error"
    told = engine.requests[0].messages[-1].content.removeprefix("It broke: <data>")
    assert json.loads(told.removesuffix("</data>")) == {
        "code": "http_status", "step": "start", "call_type": "api", "message": "no",
        "detail": {"status": 500},
    }  # fmt: skip


async def test_when_on_error_fails_too_the_error_itself_is_told_once() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - {name: start, call_type: api, params: {endpoint: GET /things}}
on_error: {call_type: extract, params: {keys: [nothing.here]}}
""")
    action = ScriptedAction(answer=lambda _: FlowFailed("timeout", "It took too long."))
    events = await events_of(Run(work_of(flow, actions={"GET /things": action})))
    assert text_of(events) == "start failed: It took too long."
    assert StatusNote("start: It took too long.", "error") in events


async def test_a_denied_call_is_told_without_a_model() -> None:
    flow = flow_of(API_THEN_LLM)
    action = ScriptedAction(risk="change")
    work = work_of(flow, actions={"GET /things": action}, allows=False)
    events = await events_of(Run(work))
    assert text_of(events) == "start failed: GET /things was not allowed."
    assert action.calls == []


async def test_circles_end() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - {name: start, call_type: api, params: {endpoint: GET /things}, next: start}
""")
    action = ScriptedAction()
    with pytest.raises(FlowFailed, match="circles"):
        await events_of(Run(work_of(flow, actions={"GET /things": action})))
    assert len(action.calls) == 5


async def test_a_flow_of_the_most_steps_runs_to_its_end() -> None:
    last = spec.MAX_STEPS - 1
    steps = [
        f"  - {{name: s{at}, call_type: own, next: {f's{at + 1}' if at < last else ''}}}"
        for at in range(spec.MAX_STEPS)
    ]
    action = ScriptedAction()
    flow = flow_of("\n".join(("name: f", "description: d", "steps:", *steps)))
    engine = ScriptedEngine(says("done"))
    await events_of(Run(work_of(flow, engine, actions={"own": action})))
    assert len(action.calls) == spec.MAX_STEPS


async def test_waiting_before_a_pause_makes_the_time_after_it_no_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, _ = await paused_at(PATH, says(NOTHING_FOUND))
    assert run.paused
    run.work.waited_s = 1000.0
    monkeypatch.setattr(runner, "MAX_S", -1.0)
    with pytest.raises(FlowFailed, match="took longer"):
        await events_of(resume(run.paused, {"path": "/a"}), run.paused.step)


def llm_flow(params: str, prompt: str = "{question}") -> Flow:
    return flow_of(f"""
name: f
description: d
steps:
  - {{name: start, call_type: llm, params: {{{params}, user_prompt: "{prompt}"}}}}
""")


@pytest.mark.parametrize("number", ["true", ".inf", "1" + "0" * 400, "-1", ".nan", "hot"])
async def test_a_number_of_a_step_that_is_none_is_not_used(number: str) -> None:
    engine = ScriptedEngine(says("yes"))
    params = f"temperature: {number}, max_tokens: {number}, timeout: {number}"
    assert text_of(await events_of(Run(work_of(llm_flow(params), engine)))) == "yes"
    request = engine.requests[0]
    assert (request.sampling.temperature, request.max_tokens) == (0.3, 1024)


class WaitingEngine(ScriptedEngine):
    """Lets others run before it answers, so that a time limit can end it."""

    async def generate(self, request: ChatRequest) -> Pieces:
        for _ in range(3):
            await asyncio.sleep(0)
        async for piece in super().generate(request):
            yield piece


async def test_no_seconds_for_a_step_are_the_usual_ones() -> None:
    engine = WaitingEngine(says("yes"))
    assert text_of(await events_of(Run(work_of(llm_flow("timeout: 0"), engine)))) == "yes"


class LongTokens(ScriptedEngine):
    """Has four letters in a token."""

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        return list(range(len(text) // 4))


async def test_what_is_left_for_an_answer_is_counted_in_tokens() -> None:
    engine = LongTokens(says("yes"))
    flow = llm_flow("max_tokens: 3000", "a" * 3000)
    await events_of(Run(work_of(flow, engine)))
    assert engine.requests[0].max_tokens == 3000


async def test_a_very_long_question_is_cut_to_the_context() -> None:
    engine = ScriptedEngine(says("yes"))
    flow = llm_flow("max_tokens: 9", "{data} {question}")
    run = Run(work_of(flow, engine, question=f"begin {'a' * 50_000} end"))
    assert text_of(await events_of(run)) == "yes"
    prompt = engine.requests[0].messages[-1].content
    assert prompt.strip().startswith("begin")
    assert prompt.endswith("end")


@pytest.mark.parametrize(("votes", "varies"), [("3", True), ("1", False)])
async def test_several_votes_may_differ_and_a_single_one_is_certain(
    votes: str, varies: bool
) -> None:
    flow = flow_of(f"""
name: f
description: d
steps:
  - name: start
    call_type: choice
    params: {{votes: {votes}, choices: [{{step: a}}, {{step: b}}]}}
  - {{name: a, call_type: none}}
  - {{name: b, call_type: none}}
""")
    engine = ScriptedEngine(says("a"), says("b"), says("b"))
    events = await events_of(Run(work_of(flow, engine)))
    assert StatusNote("Chose b" if varies else "Chose a") in events
    assert len(engine.requests) == int(votes)
    assert all((asked.sampling.temperature > 0) is varies for asked in engine.requests)
    assert all((asked.sampling.top_k > 1) is varies for asked in engine.requests)


NEEDS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Which city"},
        "days": {"type": "integer", "default": 3},
    },
    "required": ["city"],
}


async def test_what_is_missing_is_asked_and_the_step_goes_on_with_a_form() -> None:
    action = ScriptedAction(schema=NEEDS)
    engine = ScriptedEngine(says('{"city": null, "days": null}'), says("fine"))
    run = Run(work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action}))
    events = await events_of(run)
    assert "**city**: Which city" in text_of(events)
    (asked,) = [event for event in events if isinstance(event, Interrupted)]
    assert asked.value["schema"]["required"] == ["city"]
    assert run.paused
    assert action.calls == []
    again = resume(run.paused, {"city": "Bern", "unknown": 1})
    events = await events_of(again, run.paused.step)
    assert action.calls == [{"city": "Bern", "days": 3}]
    assert text_of(events) == "fine"


async def test_where_a_form_can_be_shown_the_run_itself_waits_for_it() -> None:
    action = ScriptedAction(schema=NEEDS)
    engine = ScriptedEngine(says('{"city": null, "days": null}'), says("fine"))
    work = work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action})
    assert isinstance(work.kit, PlainKit)
    work.kit.told.append(FormAnswer({"city": "Bern"}))
    run = Run(work)
    events = await events_of(run)
    assert run.paused is None
    assert [one.schema["required"] for one in work.kit.forms] == [["city"]]
    assert action.calls == [{"city": "Bern", "days": 3}]
    assert text_of(events) == "fine"


async def test_a_file_is_asked_of_a_person_and_never_of_the_model() -> None:
    schema = {
        "type": "object",
        "properties": {"report": {"type": "string", "format": "binary"}},
        "required": ["report"],
    }
    action = ScriptedAction(schema=schema)
    engine = ScriptedEngine(says("fine"))
    work = work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action})
    assert isinstance(work.kit, PlainKit)
    work.kit.told.append(FormAnswer({"report": "r.csv"}, {"r.csv": "/picked/r.csv"}))
    await events_of(Run(work))
    assert action.calls == [{"report": "r.csv"}]
    assert (work.files, work.paths) == (("r.csv",), {"r.csv": "/picked/r.csv"})
    assert len(engine.requests) == 1


async def test_what_is_missing_may_be_answered_in_words() -> None:
    action = ScriptedAction(schema=NEEDS)
    engine = ScriptedEngine(
        says('{"city": null, "days": 2}'), says('{"city": "Bern", "days": 2}'), says("fine")
    )
    work = work_of(
        flow_of(API_THEN_LLM), engine, actions={"GET /things": action}, question="2 days"
    )
    run = Run(work)
    await events_of(run)
    assert run.paused
    await events_of(resume_with_text(run.paused, "in Bern"), run.paused.step)
    assert action.calls == [{"city": "Bern", "days": 2}]
    assert "in Bern" in engine.requests[1].messages[-1].content


async def test_made_up_values_are_not_taken() -> None:
    action = ScriptedAction(schema=NEEDS)
    engine = ScriptedEngine(says('{"city": "Atlantis", "days": 9}'))
    run = Run(work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action}))
    await events_of(run)
    assert run.paused
    assert run.paused.missing.known == {"days": 3}


async def test_leaving_stops_the_model() -> None:
    flow = flow_of("""
name: f
description: d
steps:
  - {name: start, call_type: llm, params: {user_prompt: go}}
""")
    engine = EndlessEngine()
    async with aclosing(Run(work_of(flow, engine)).events()) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    await asyncio.wait_for(engine.stopped.wait(), 30)


async def test_all_files_of_a_run_go_where_several_may_be() -> None:
    file = {"type": "string", "format": "binary"}
    parts = {"reports": {"type": "array", "items": file}}
    action = ScriptedAction(schema={"type": "object", "properties": parts, "required": ["reports"]})
    work = work_of(
        flow_of(API_THEN_LLM), ScriptedEngine(says("fine")), actions={"GET /things": action}
    )
    work.files = ("a.csv", "b.csv")
    await events_of(Run(work))
    assert action.calls == [{"reports": ["a.csv", "b.csv"]}]


PATH = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "such as path/to/file.txt"}},
    "required": ["path"],
}
NOTHING_FOUND = '{"path": null}'


async def paused_at(schema: dict[str, Any], *scripts: Any) -> tuple[Run, ScriptedAction]:
    """A run that has just asked for what is missing."""
    action = ScriptedAction(schema=schema)
    work = work_of(flow_of(API_THEN_LLM), ScriptedEngine(*scripts), actions={"GET /things": action})
    run = Run(work)
    await events_of(run)
    return run, action


async def test_an_answer_is_called_as_it_was_given_and_no_model_makes_up_another() -> None:
    run, action = await paused_at(
        PATH, says(NOTHING_FOUND), says('{"path": "path/to/file.txt"}'), says("fine")
    )
    assert run.paused
    await events_of(resume_with_text(run.paused, "/home/me/soup.txt"), run.paused.step)
    assert action.calls == [{"path": "/home/me/soup.txt"}]


async def test_an_answer_that_does_not_fit_is_asked_again_and_not_replaced() -> None:
    colour = {"type": "object", "properties": {"c": {"enum": ["red", "green"]}}, "required": ["c"]}
    run, action = await paused_at(colour, says('{"c": null}'), *[says('{"c": "red"}')] * 3)
    assert run.paused
    again = resume_with_text(run.paused, "blue")
    events = await events_of(again, run.paused.step)
    assert again.paused
    assert "(red, green)" in text_of(events)
    assert action.calls == []


async def test_asking_back_explains_and_waits_and_cancelling_ends() -> None:
    run, action = await paused_at(PATH, says(NOTHING_FOUND))
    assert run.paused
    explaining = resume_with_text(run.paused, "what do you mean?")
    events = await events_of(explaining, run.paused.step)
    assert "such as path/to/file.txt" in text_of(events)
    assert any(isinstance(event, Interrupted) for event in events)
    assert explaining.paused
    ended = resume_with_text(explaining.paused, "vergiss es")
    events = await events_of(ended, run.paused.step)
    assert (ended.paused, ended.status) == (None, "cancelled")
    assert isinstance(events[-1], Finished)
    assert action.calls == []


ENDS_WITH_API = """
name: f
description: d
steps:
  - {name: start, call_type: api, params: {endpoint: GET /things}}
"""


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ([{"item": "flour", "cost": 1.2}], "| item | cost |\n| --- | --- |\n| flour | 1.2 |"),
        ({"total": 1, "rows": [{"a": 1}]}, "- total: 1\n\n| a |\n| --- |\n| 1 |"),
        ({"a": {"b": 1}}, '```json\n{\n  "a": {\n    "b": 1\n  }\n}\n```'),
        ([], "The answer is empty."),
    ],
)
async def test_a_flow_that_ends_with_data_shows_it_before_the_model_speaks(
    data: Any, shown: str
) -> None:
    action = ScriptedAction(answer=lambda _: data)
    engine = ScriptedEngine(says(NOTE[:20], NOTE[20:], " It is flour."))
    work = work_of(flow_of(ENDS_WITH_API), engine, actions={"GET /things": action})
    assert text_of(await events_of(Run(work))) == f"{shown}\n\nIt is flour."


async def test_a_guard_alone_is_no_answer() -> None:
    action = ScriptedAction(answer=lambda _: [{"a": 1}])
    engine = ScriptedEngine(says(NOTE), says(NOTE))
    work = work_of(flow_of(API_THEN_LLM), engine, actions={"GET /things": action})
    assert text_of(await events_of(Run(work))).strip() == "| a |\n| --- |\n| 1 |"


async def test_many_rows_are_counted() -> None:
    action = ScriptedAction(answer=lambda _: [{"n": n} for n in range(80)])
    work = work_of(
        flow_of(ENDS_WITH_API), ScriptedEngine(says("many")), actions={"GET /things": action}
    )
    assert "30 more rows" in text_of(await events_of(Run(work)))
