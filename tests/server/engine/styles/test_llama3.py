"""Llama 3's built-in tools: named to the template, called after its Python tag."""

import json
from dataclasses import replace

import pytest

from server.chat import Tool
from server.engine.base import ModelFacts
from server.engine.process import job_of
from server.engine.styles import choose, llama3, table
from tests.server.engine.styles.samples import ASK, SWITCH, calls_in, pieces, streamed

SEARCH = Tool("brave_search", "", {"type": "object", "properties": {"query": {"type": "string"}}})
CODE = Tool("code_interpreter", "", {"type": "object", "properties": {"src": {"type": "string"}}})
BUILT_IN = replace(ASK, tools=(SEARCH, CODE, SWITCH))
FACTS = ModelFacts(template="<|start_header_id|>ipython<|end_header_id|> builtin_tools")
PROGRAM = 'x = [1,\n 2]\nprint("a" if x[0] <1 else "b")'


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_built_in_tools_and_programs_are_calls(size: int) -> None:
    search = '<|python_tag|>brave_search.call(query="cats")'
    made = pieces(llama3.FORMAT.prepare(BUILT_IN, FACTS).parser, search, size)
    assert calls_in(made) == [("brave_search", {"query": "cats"})]
    program = f"<|python_tag|>{PROGRAM}"
    for style in (llama3.FORMAT, table.FUNCTIONARY_V3_1):
        run = pieces(style.prepare(BUILT_IN, FACTS).parser, program, size)
        assert calls_in(run) == [("code_interpreter", {"src": PROGRAM})]
        (call,) = streamed(run)[2]
        assert json.loads(call[1]) == {"src": PROGRAM}


def test_a_program_without_a_tool_for_it_is_text() -> None:
    said = pieces(llama3.FORMAT.prepare(ASK, FACTS).parser, "<|python_tag|>print(1)", 3)
    assert calls_in(said) == []
    assert "print(1)" in streamed(said)[0]


@pytest.mark.parametrize("size", [1, 1000])
def test_json_in_the_middle_of_an_answer_is_text(size: int) -> None:
    answer = 'For example:\n```json\n{"name": "switch", "parameters": {"lamp": 1}}\n```'
    prepared = llama3.FORMAT.prepare(ASK, FACTS)
    assert prepared.trigger_lead == ""
    said = pieces(prepared.parser, answer, size)
    assert calls_in(said) == []
    assert streamed(said)[0] == answer


@pytest.mark.parametrize("plan", ["", "Plan: I will switch it.\n"])
def test_command_r_acts_on_a_line_of_its_own(plan: str) -> None:
    made = '```json\n[\n  {"tool_name": "switch", "parameters": {"lamp": 1}}\n]\n```'
    for mark in ("Action:", "Action: "):
        prepared = table.COMMAND_R.prepare(ASK, ModelFacts())
        assert prepared.trigger_lead == "\n"
        said = pieces(prepared.parser, f"{plan}{mark}{made}", 3)
        assert calls_in(said) == [("switch", {"lamp": 1})]
        assert streamed(said)[0] == plan.strip()
    text = "Call to Action: " + made
    assert streamed(pieces(prepared.parser, text, 3))[2] == []


def test_the_template_is_told_of_built_in_tools_by_name() -> None:
    prepared = choose(FACTS).prepare(BUILT_IN, FACTS)
    assert [tool["function"]["name"] for tool in prepared.tools] == ["switch"]
    job = job_of(BUILT_IN, prepared)
    assert job["template_options"] == {"builtin_tools": ["brave_search", "code_interpreter"]}
    assert choose(FACTS).prepare(ASK, FACTS).options == ()
