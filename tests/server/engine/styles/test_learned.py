"""Styles learned from what templates render, and what such models say read as meant."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest, Constraint, Message, ToolChoice
from server.engine.base import ModelFacts
from server.engine.styles import FORMATS, choose, learned
from server.engine.worker.prompt.template import Template
from tests.server.engine.styles.round_trip import ASK, SCENES, Told, facts_of, tell
from tests.server.engine.styles.samples import matches, pieces, streamed

TEMPLATES = Path(__file__).parents[3] / "data" / "written_templates"
CASES = json.loads((TEMPLATES / "cases.json").read_text("utf-8"))
NAMES = sorted(path.name for path in TEMPLATES.glob("*.jinja"))
TEXT_FIRST = {"list_of_calls.jinja", "llama_3_3.jinja", "python_bare.jinja"}
"""Their calls have no mark: those count where an answer begins, not behind text."""
KNOWN = {
    ("GigaChat3-10B-A1.8B.jinja", "calls"),
    ("GigaChat3.1-10B-A1.8B.jinja", "calls"),
    ("NVIDIA-Nemotron-Nano-v2.jinja", "text and call"),
    ("openai-gpt-oss-120b.jinja", "text and call"),
    ("openai-gpt-oss-120b.jinja", "thought and call"),
    ("tencent-Hy3.jinja", "thought"),
    ("tencent-Hy3.jinja", "thought and call"),
    ("upstage-Solar-Open-100B.jinja", "thought and call"),
    ("LFM2.5-8B-A1B.jinja", "odd"),
    ("Reka-Edge.jinja", "nested"),
    ("Reka-Edge.jinja", "odd"),
}
"""Turns that these templates part in two, thoughts that they ask for otherwise, a text whose
quotes LFM's does not escape, and letters that Reka's writes as numbers."""
BEGUN: list[Template] = []


@cache
def facts_at(path: Path) -> tuple[ModelFacts, Template]:
    facts, template = facts_of(path.read_text("utf-8"))
    BEGUN.append(template)
    return facts, template


@pytest.fixture(scope="module", autouse=True)
def no_render_process_stays() -> Iterator[None]:
    """Each template has a process of its own, which would stay until the run ends."""
    yield
    for template in BEGUN:
        template.close()


def read(case: dict[str, Any], size: int) -> Any:
    facts, _ = facts_at(TEMPLATES / case["template"])
    options = (("enable_thinking", case["thinking"]),) if "thinking" in case else ()
    parser = choose(facts).prepare(replace(ASK, template_options=options), facts).parser
    text, thought, calls = streamed(pieces(parser, case["input"], size))
    return text, thought, [[name, json.loads(given)] for name, given, _ in calls]


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["template"])
def test_what_a_model_says_is_read_as_meant(case: dict[str, Any], size: int) -> None:
    assert read(case, size) == (case["text"], case["thought"], case["calls"])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_template_renders_is_read_back_and_allowed(name: str) -> None:
    facts, template = facts_at(TEMPLATES / name)
    told = {scene: tell(scene, facts, template) for scene in SCENES}
    wrong = {scene: found for scene, found in told.items() if not _is_right(found)}
    assert wrong.keys() <= ({"text and call"} if name in TEXT_FIRST else set()), wrong


def test_every_real_template_reads_back_what_it_renders() -> None:
    wrong = set()
    for path in sorted((TEMPLATES.parent / "chat_templates").glob("*.jinja")):
        facts, template = facts_at(path)
        scenes = [one for one in SCENES if choose(facts).name != "generic" or "text" not in one]
        wrong |= {
            (path.name, scene) for scene in scenes if not _is_right(tell(scene, facts, template))
        }
    assert wrong == KNOWN


@pytest.mark.parametrize("name", ["ministral.jinja", "command_r7b.jinja", "gemma_4.jinja"])
def test_a_model_that_must_call_may_think_first(name: str) -> None:
    facts, template = facts_at(TEMPLATES / name)
    said = tell("thought and call", facts, template).said
    for choice in (ToolChoice("required"), ToolChoice("required", ("look_up",))):
        asked = replace(ASK, tool_choice=choice)
        bound = choose(facts).prepare(asked, facts)
        assert bound.trigger is None
        assert bound.constraint
        assert matches(bound.constraint.source, said)
        assert not matches(bound.constraint.source, said + "It rains.")
        assert not matches(bound.constraint.source, "It rains.")
    other = choose(facts).prepare(replace(ASK, tool_choice=ToolChoice("required", ("x",))), facts)
    assert not other.constraint or not matches(other.constraint.source, said)


def test_a_form_is_forced_just_as_the_template_writes_it() -> None:
    facts, template = facts_at(TEMPLATES / "glm_4_7.jinja")
    said = tell("call", facts, template).said
    asked = replace(ASK, tool_choice=ToolChoice("required"))
    bound = choose(facts).prepare(asked, facts).constraint
    assert bound
    assert said == (
        "<tool_call>look_up<arg_key>place</arg_key><arg_value>Paris</arg_value>"
        "<arg_key>days</arg_key><arg_value>4</arg_value></tool_call>"
    )
    assert matches(bound.source, said)
    assert not matches(bound.source, said.replace("look_up<", "look_up\n<"))


def test_an_answer_in_a_schema_may_have_the_marks_of_text_before_it() -> None:
    facts, _ = facts_at(TEMPLATES / "command_r7b.jinja")
    schema = Constraint("json_schema", '{"type": "boolean"}')
    asked = ChatRequest((Message("user", "Hi"),), constraint=schema)
    bound = choose(facts).prepare(asked, facts).constraint
    assert bound
    assert matches(bound.source, "<|START_THINKING|>?<|END_THINKING|><|START_RESPONSE|>true")
    assert matches(bound.source, "true")


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize(
    ("name", "said", "thought"),
    [
        ("ernie_4_5.jinja", "Hm.\n</think>\n\n\n<response>\nIt rains.\n</response>\n", "Hm."),
        ("hunyuan_a13b.jinja", "<answer>\nIt rains.\n</answer>", ""),
    ],
)
def test_marks_of_text_leave_nothing_behind_without_tools(
    name: str, said: str, thought: str, size: int
) -> None:
    facts, _ = facts_at(TEMPLATES / name)
    parser = choose(facts).prepare(ChatRequest(ASK.messages), facts).parser
    assert streamed(pieces(parser, said, size)) == ("It rains.", thought, [])


def test_a_call_may_stand_within_the_marks_of_text() -> None:
    facts, template = facts_at(TEMPLATES / "hunyuan_a13b.jinja")
    bound = (
        choose(facts).prepare(replace(ASK, tool_choice=ToolChoice("required")), facts).constraint
    )
    assert bound
    said = tell("call", facts, template).said
    assert said.startswith("<answer>\n<tool_calls>")
    assert matches(bound.source, said.rstrip())


@pytest.mark.parametrize("name", NAMES)
def test_a_learned_style_survives_the_way_to_another_process(name: str) -> None:
    facts, _ = facts_at(TEMPLATES / name)
    found = facts.extra["template"]
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(found, default=list))
    if found.get("shape"):
        sent = json.loads(json.dumps(found["shape"]))
        assert learned.restore(sent) == learned.restore(found["shape"])


def test_a_name_in_a_template_says_nothing_where_it_renders_otherwise() -> None:
    """The source has the words of V4, but its calls are V3.2's."""
    source = (TEMPLATES / "deepseek_v3_2.jinja").read_text("utf-8")
    known = next(style for style in FORMATS if style.name == "deepseek v4")
    assert known.fits(ModelFacts(template=source))
    assert choose(facts_at(TEMPLATES / "deepseek_v3_2.jinja")[0]).name == "learned"


def _is_right(told: Told) -> bool:
    return told.right and told.grammar
