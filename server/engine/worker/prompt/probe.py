"""What a chat template can show, found by rendering it and looking for what was put in."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from server.chat import ToolCall
from server.engine.styles import recognise
from server.engine.styles.base import THOUGHTS
from server.engine.styles.learned import (
    ANSWER,
    FIRST,
    LONGEST_MARK,
    ODD,
    SECOND,
    THOUGHT,
    TYPED,
    Samples,
    behind,
    probe_tools,
)
from server.engine.styles.messages import THOUGHT_NAMES
from server.engine.styles.parameters import declare
from server.engine.styles.stream import shared_end
from server.engine.worker.prompt.template import RenderLost, Template, TemplateFailed

SYSTEM, QUESTION, RESULT = "needle-system", "needle-question", "needle-result"
NAME, VALUE = "needle_name", "needle-value"
PATIENCE = 2
"""A template that had to be ended so often has nothing to show, and each time costs seconds."""
USER = {"role": "user", "content": QUESTION}
ANSWERED = {"role": "assistant", "content": ANSWER}
TOOL = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "needle-description",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "A city."}},
            "required": ["city"],
        },
    },
}


def try_out(template: Template) -> dict[str, Any]:
    """Finds out about the template: `template` holds the flags of its abilities.

    `template_lost` says why some may be missing, `template_again` whether another try may help.
    """
    template.stalls.clear()
    try:
        template.reads_parts = reads_parts(template)
        found = abilities(template)
    except RenderLost as lost:
        return {"template": {}, "template_lost": lost.reason, "template_again": True}
    lost_for = template.stalls[-1] if template.stalls else ""
    return {"template": found, "template_lost": lost_for, "template_again": False}


def abilities(template: Template) -> dict[str, Any]:
    """The flags of `server.engine.styles.base.Abilities`, and what was learned of a style."""
    # The tools come last: they are the hardest part, and a template that fails at them may be
    # good for all the rest.
    found = {
        "system": SYSTEM in _render(template, [{"role": "system", "content": SYSTEM}, USER]),
        "alternates": _alternates(template),
        **_find_opened(template, [begin for begin, _ in THOUGHTS]),
    }
    tools = _tools(template)
    if learned := tools.get("thoughts", [])[:1]:
        found |= _find_opened(template, learned, found)
    return found | tools


def _find_opened(
    template: Template, begins: Sequence[str], known: Mapping[str, Any] | None = None
) -> dict[str, bool]:
    """Finds whether a thought is already begun when the model's turn starts, for each option."""
    asked: dict[str, dict[str, Any]] = {
        "opens_thought": {},
        "opens_thought_if_asked": {"enable_thinking": True},
        "opens_thought_if_unasked": {"enable_thinking": False},
    }
    before = known or {}
    return {
        name: bool(before.get(name)) or _opens(template, begins, options)
        for name, options in asked.items()
    }


def _tools(template: Template) -> dict[str, Any]:
    shown = _render_turns(template, [_calling({"city": VALUE}), _result()])
    shown_as_text = _render_turns(template, [_calling('{"city": "needle-value"}'), _result()])
    called = NAME in shown and VALUE in shown
    called_as_text = NAME in shown_as_text and VALUE in shown_as_text
    quoted_twice = '\\"city\\"' in shown_as_text
    as_python = "{'city'" in shown
    as_text = called_as_text and not quoted_twice and (as_python or not called)
    samples = _samples(template, as_text=as_text)
    found = recognise(samples.with_quotes() if samples.loses_quotes else samples)
    calls = called or called_as_text
    return {
        "calls": calls and not samples.loses_quotes and _is_shown_once(samples),
        "results": RESULT in shown or RESULT in shown_as_text,
        "text_arguments": as_text,
        "single_call": calls and not (FIRST.name in samples.calls and SECOND.name in samples.calls),
        "parts_text": calls
        and not (FIRST.name in samples.text_call and ANSWER in samples.text_call),
        **found,
    }


def reads_parts(template: Template) -> bool:
    """Templates of models with eyes may know content only as a list of texts and images."""
    parts = [{"type": "text", "text": QUESTION}]
    plain = QUESTION in _render(template, [USER])
    return not plain and QUESTION in _render(template, [{"role": "user", "content": parts}])


def _alternates(template: Template) -> bool:
    """Whether it refuses two questions in a row or a second system turn, or shows only one."""
    other = {"role": "user", "content": "needle-other"}
    late = {"role": "system", "content": SYSTEM}
    twice = _render(template, [USER, other])
    middle = _render(template, [USER, ANSWERED, late, other])
    return not (QUESTION in twice and "needle-other" in twice and SYSTEM in middle)


def _is_shown_once(samples: Samples) -> bool:
    return samples.call.count(str(FIRST.arguments["alpha"])) < 2


def _opens(template: Template, begins: Sequence[str], options: Mapping[str, Any]) -> bool:
    end = _render(template, [USER], options).rstrip()
    return any(end.endswith(begin) for begin in begins)


def _samples(template: Template, *, as_text: bool) -> Samples:
    """Turns of the assistant, each behind the same question."""
    tools = [declare(tool) for tool in probe_tools(FIRST, SECOND)]
    typed = [declare(tool) for tool in probe_tools(TYPED)]
    thinks = dict.fromkeys(THOUGHT_NAMES, THOUGHT)

    def turn(content: str, *calls: ToolCall, given: Sequence[Any] = tools, **more: str) -> str:
        """What the template adds for it; with thoughts it is asked to show them."""
        message = {"role": "assistant", "content": content, **more}
        made = [_native(call, as_text=as_text) for call in calls]
        turns = [USER, {**message, "tool_calls": made} if calls else message]
        options = {"enable_thinking": True} if more else {}
        before, after = (
            _render(template, part, options, given, add_generation_prompt=False)
            for part in (turns[:1], turns)
        )
        rests = [text.rpartition(QUESTION)[2] for text in (after, before)]
        return behind(*(_without_instructions(rest, shared_end(*rests)) for rest in rests))

    asked, opened = (
        _render(template, [USER], tools=tools, add_generation_prompt=on) for on in (False, True)
    )
    called = {"role": "assistant", "content": "", "tool_calls": [_native(FIRST, as_text=as_text)]}
    result = {"role": "tool", "tool_call_id": FIRST.id, "name": FIRST.name, "content": RESULT}
    return Samples(
        whole=_render(template, [USER, called, result], tools=tools) or opened,
        opening=behind(opened, asked),
        answer=turn(ANSWER),
        thought=turn(ANSWER, **thinks),
        call=turn("", FIRST),
        calls=turn("", FIRST, SECOND),
        text_call=turn(ANSWER, FIRST),
        thought_call=turn("", FIRST, **thinks),
        typed=turn("", TYPED, given=typed),
        odd=turn("", ODD),
    )


def _without_instructions(text: str, end: str) -> str:
    """Some templates repeat instructions behind every conversation; a mere mark is shorter."""
    return text.removesuffix(end) if len(end) > LONGEST_MARK else text


def _native(call: ToolCall, *, as_text: bool) -> dict[str, Any]:
    arguments = json.dumps(call.arguments) if as_text else call.arguments
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _render_turns(template: Template, turns: Sequence[Mapping[str, Any]]) -> str:
    return _render(template, [USER, *turns], tools=[TOOL], add_generation_prompt=False)


def _calling(arguments: Any) -> dict[str, Any]:
    call = {
        "id": "needle123",
        "type": "function",
        "function": {"name": NAME, "arguments": arguments},
    }
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _result() -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "needle123", "name": NAME, "content": RESULT}


def _render(
    template: Template,
    messages: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any] | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    *,
    add_generation_prompt: bool = True,
) -> str:
    if len(template.stalls) >= PATIENCE:
        return ""
    for is_last in (False, True):
        try:
            return template.render(messages, tools, options, add_generation_prompt)
        except RenderLost:
            if is_last:
                raise
        except TemplateFailed:
            break
    return ""
