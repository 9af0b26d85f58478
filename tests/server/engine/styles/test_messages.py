"""Earlier turns as the template gets them: thoughts by every name, images where they stood."""

from pathlib import Path

import pytest

from server.chat import ChatRequest, Image, Message, ToolCall
from server.engine.styles import gpt_oss
from server.engine.styles.base import Abilities
from server.engine.styles.messages import IMAGE_MARK, in_plain_turns, native
from server.engine.worker.prompt.render import environment, render
from tests.server.engine.styles.samples import with_template

TEMPLATES = Path(__file__).parents[4] / "resources/templates"
CALLS = (ToolCall("c", "shot", {}),)
PICTURE = Message("tool", "Look:", (Image("image/png", b"hi", at=5),), tool_call_id="c")


def test_a_thought_has_every_name_a_template_may_look_for() -> None:
    (shown,) = native([Message("assistant", "Yes.", reasoning="hm")], Abilities())
    names = ("reasoning_content", "reasoning", "thinking")
    assert [shown[name] for name in names] == ["hm"] * 3
    (plain,) = native([Message("assistant", "Yes.")], Abilities())
    assert plain == {"role": "assistant", "content": "Yes."}


@pytest.mark.parametrize("said", ["", "One moment."])
def test_gpt_oss_sees_what_it_thought_before_a_call(said: str) -> None:
    source = (TEMPLATES / "openai-gpt-oss-120b.jinja").read_text()
    facts = with_template(source, calls=True, results=True)
    asked = Message("assistant", said, tool_calls=CALLS, reasoning="I need a picture.")
    result = Message("tool", "done", tool_call_id="c", name="shot")
    prepared = gpt_oss.prepare(ChatRequest((Message("user", "Hi"), asked, result)), facts)
    text = render(
        environment().from_string(source),
        {"messages": list(prepared.messages), "add_generation_prompt": True},
    )
    thought = "\n\n".join(filter(None, ("I need a picture.", said)))
    assert f"<|channel|>analysis<|message|>{thought}<|end|>" in text


@pytest.mark.parametrize("able", [Abilities(), Abilities(calls=True, results=True)])
def test_an_image_in_a_tools_result_has_its_place(able: Abilities) -> None:
    for (shown,) in (native([PICTURE], able), in_plain_turns([PICTURE], able)):
        before, after = shown["content"].split(IMAGE_MARK)
        assert before.endswith("Look:")
        assert "Look:" not in after


def test_calls_of_one_turn_are_parted_with_their_results() -> None:
    calls = (ToolCall("a", "shot", {}), ToolCall("b", "look", {"at": 1}))
    turns = [
        Message("user", "Hi"),
        Message("assistant", "Both.", tool_calls=calls, reasoning="hm"),
        Message("tool", "second", tool_call_id="b"),
        Message("tool", "first", tool_call_id="a"),
        Message("assistant", "Done."),
    ]
    shown = native(turns, Abilities(calls=True, results=True, single_call=True))
    assert [turn["role"] for turn in shown] == [
        "user", "assistant", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [turn["content"] for turn in shown] == ["Hi", "Both.", "first", "", "second", "Done."]
    assert [call["id"] for turn in shown for call in turn.get("tool_calls", [])] == ["a", "b"]
    assert "reasoning" not in shown[3]


def test_text_beside_calls_gets_a_turn_of_its_own_where_one_of_them_would_be_lost() -> None:
    asked = Message("assistant", "Now.", tool_calls=CALLS)
    text, calls = native([asked], Abilities(calls=True, results=True, parts_text=True))
    assert text == {"role": "assistant", "content": "Now."}
    assert calls["content"] == ""
    assert len(calls["tool_calls"]) == 1
