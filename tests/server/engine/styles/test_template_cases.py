"""Real templates and what their models really say: each case is read whole and byte by byte."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.chat import ChatRequest, Message, Tool
from server.engine.base import ModelFacts
from server.engine.styles import choose
from server.engine.worker.prompt.template import Template, TemplateFailed, abilities
from tests.server.engine.styles.samples import ASK, CALLS, calls_in, pieces, streamed

REAL = Path(__file__).resolve().parents[3] / "data" / "chat_templates"
UNSHOWN = (
    "<|START_TEXT|>", "<|END_TEXT|>", "<|CHATBOT_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "<|eot|>",
)  # fmt: skip
"""Special tokens no style asks to see: the worker leaves them out."""
HEADER = re.compile(r"^[^{]*?assistant<\|end_header_id\|>")
"""What stands in the prompt before an answer, in Llama 3's style."""
HEADING = "Here are my reasoning steps:"
"""Apriel's prompt ends with it: the model never says it, so it is no part of what it thought."""
GENERIC = {
    "HuggingFaceTB-SmolLM3-3B.jinja", "LFM2.5-Instruct.jinja", "google-gemma-2-2b-it.jinja",
    "llama-cpp-rwkv-world.jinja", "microsoft-Phi-3.5-mini-instruct.jinja",
}  # fmt: skip
ONE_SHOWN = {
    "GigaChat3-10B-A1.8B.jinja", "GigaChat3.1-10B-A1.8B.jinja", "openai-gpt-oss-120b.jinja",
    "meta-llama-Llama-3.1-8B-Instruct.jinja", "meta-llama-Llama-3.2-3B-Instruct.jinja",
}  # fmt: skip


@pytest.fixture(scope="module")
def templates() -> dict[str, ModelFacts]:
    known = {}
    for path in sorted(REAL.glob("*.jinja")):
        source = path.read_text("utf-8")
        template = Template(source, "<s>", "</s>")
        known[path.name] = ModelFacts(template=source, extra={"template": abilities(template)})
        template.close()
    return known


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((REAL / "cases.json").read_text("utf-8"))
    return [case for case in found if "NONE" not in case.get("reasoning_format", "")]


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_what_models_said_is_read_as_meant(
    templates: dict[str, ModelFacts], cases: list[dict[str, Any]], size: int
) -> None:
    whole = [case for case in cases if "messages" not in case and not _shows_thoughts(case)]
    wrong = [case["template"] for case in whole if _read(case, templates, size) != _meant(case)]
    assert len(whole) >= 160
    assert wrong == []


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_an_answer_that_was_begun_is_carried_on(
    templates: dict[str, ModelFacts], cases: list[dict[str, Any]], size: int
) -> None:
    begun = [case for case in cases if "messages" in case]
    wrong = [case["template"] for case in begun if not _carries_on(case, templates, size)]
    assert len(begun) >= 40
    assert wrong == []


def test_calls_survive_the_template_and_back(templates: dict[str, ModelFacts]) -> None:
    native = {name: facts for name, facts in templates.items() if name not in GENERIC}
    wrong = [name for name, facts in native.items() if not _survives(name, facts)]
    assert len(native) >= 45
    assert wrong == []


def test_only_templates_without_a_style_are_generic(templates: dict[str, ModelFacts]) -> None:
    names = {name for name, facts in templates.items() if choose(facts).name == "generic"}
    assert names == GENERIC


def _read(case: dict[str, Any], templates: dict[str, ModelFacts], size: int) -> Any:
    facts = templates[case["template"]]
    thinks = case.get("enable_thinking", "reasoning_format" in case or None)
    options = () if thinks is None else (("enable_thinking", thinks),)
    request = ChatRequest(
        (Message("user", "Hi"),), tools=tuple(_tools(case)), template_options=options
    )
    text = case["input"]
    for token in UNSHOWN:
        text = text.replace(token, "")
    reason = "length" if case.get("is_partial") else "stop"
    parser = choose(facts).prepare(request, facts).parser
    said, thoughts, calls = streamed(pieces(parser, text, size, reason))  # type: ignore[arg-type]
    return said.strip(), thoughts.strip(), [(name, _value(text)) for name, text, _ in calls]


def _meant(case: dict[str, Any]) -> Any:
    expected = case["expect"]
    calls = [(call["name"], _value(call["arguments"])) for call in expected["tool_calls"]]
    thoughts = expected["reasoning_content"].strip().removeprefix(HEADING).strip()
    return expected["content"].strip(), thoughts, calls


def _carries_on(case: dict[str, Any], templates: dict[str, ModelFacts], size: int) -> bool:
    """The start of the answer stands in the prompt: what is read must be the rest of it."""
    facts = templates[case["template"]]
    in_thought = "REASONING" in str(case["continue_final_message"])
    flags = {**facts.extra["template"], "opens_thought": in_thought}
    continued = replace(facts, extra={"template": flags})
    parser = choose(continued).prepare(ChatRequest((Message("user", "Hi"),)), continued).parser
    text, thoughts, _ = streamed(pieces(parser, _without_header(case), size))
    content, reasoning, _ = _meant(case)
    return content.endswith(text.strip()) and reasoning.endswith(thoughts.strip())


def _without_header(case: dict[str, Any]) -> str:
    header = {"openai-gpt-oss-120b.jinja": "<|channel|>final<|message|>"}
    functionary = {"meetkai-functionary-medium-v3.2.jinja": "all\n"}
    begun = {**header, **functionary}.get(case["template"], "")
    thinks = "REASONING" in str(case["continue_final_message"])
    if begun.startswith("<|channel|>") and thinks:
        begun = "<|channel|>analysis<|message|>"
    text: str = case["input"]
    for token in UNSHOWN:
        text = text.replace(token, "")
    return begun + text


def _survives(name: str, facts: ModelFacts) -> bool:
    calls = CALLS[:1] if name in ONE_SHOWN else CALLS
    flags = {key: on for key, on in facts.extra["template"].items() if "opens" not in key}
    facts = replace(facts, extra={"template": flags})
    style = choose(facts)
    history = (*ASK.messages, Message("assistant", "", tool_calls=calls))
    shown = style.prepare(replace(ASK, messages=history), facts)
    template = Template(facts.template, "<s>", "</s>")
    try:
        whole = template.render(shown.messages, shown.tools, {}, add_generation_prompt=False)
        before = template.render(shown.messages[:-1], shown.tools, {}, add_generation_prompt=False)
    except TemplateFailed:
        return False
    finally:
        template.close()
    shared_start = _shared_start(whole, before)
    said = whole[shared_start:].split(">>>", 1)[-1]
    said = HEADER.sub("", said)
    made = pieces(style.prepare(ASK, facts).parser, said, 1)
    # Behind the calls a template may repeat its instructions, with an example call in them.
    return calls_in(made)[: len(calls)] == [(call.name, call.arguments) for call in calls]


def _shared_start(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _tools(case: dict[str, Any]) -> Iterator[Tool]:
    for given in case["tools"]:
        tool = (
            dict(zip(("name", "description", "parameters"), given, strict=True))
            if isinstance(given, list)
            else given
        )
        parameters = tool.get("parameters") or {}
        known = json.loads(parameters) if isinstance(parameters, str) else parameters
        yield Tool(tool["name"], tool.get("description", ""), known)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


def _shows_thoughts(case: dict[str, Any]) -> bool:
    """Asked to leave thoughts in the text, which we never do."""
    return "THINKING" in case["expect"]["content"]
