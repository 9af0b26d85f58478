"""What a chat template can show, found by rendering it and looking for what was put in."""

from collections.abc import Mapping, Sequence
from typing import Any

from server.engine.formats.abilities import THOUGHTS
from server.engine.worker.template import Template, TemplateFailed

SYSTEM, QUESTION, RESULT = "needle-system", "needle-question", "needle-result"
NAME, VALUE = "needle_name", "needle-value"
PATIENCE = 2
"""A template that had to be ended so often has nothing to show, and each time costs seconds."""
USER = {"role": "user", "content": QUESTION}
ANSWER = {"role": "assistant", "content": "needle-answer"}
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


def abilities(template: Template) -> dict[str, bool]:
    """The flags of `server.engine.formats.abilities.Abilities`."""
    shown = _shown(template, [_calling({"city": VALUE}), _result()])
    shown_as_text = _shown(template, [_calling('{"city": "needle-value"}'), _result()])
    called = NAME in shown and VALUE in shown
    called_as_text = NAME in shown_as_text and VALUE in shown_as_text
    quoted_twice = '\\"city\\"' in shown_as_text
    return {
        "system": SYSTEM in _render(template, [{"role": "system", "content": SYSTEM}, USER]),
        "alternates": _alternates(template),
        "calls": called or called_as_text,
        "results": RESULT in shown or RESULT in shown_as_text,
        "text_arguments": called_as_text and not quoted_twice and not called,
        "opens_thought": _opens(template, {}),
        "opens_thought_if_asked": _opens(template, {"enable_thinking": True}),
        "opens_thought_if_unasked": _opens(template, {"enable_thinking": False}),
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
    middle = _render(template, [USER, ANSWER, late, other])
    return not (QUESTION in twice and "needle-other" in twice and SYSTEM in middle)


def _opens(template: Template, options: Mapping[str, Any]) -> bool:
    end = _render(template, [USER], options).rstrip()
    return any(end.endswith(begin) for begin, _ in THOUGHTS)


def _shown(template: Template, turns: Sequence[Mapping[str, Any]]) -> str:
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
    if template.stalls >= PATIENCE:
        return ""
    try:
        return template.render(messages, tools, options, add_generation_prompt)
    except TemplateFailed:
        return ""
