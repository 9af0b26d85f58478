"""What a chat template can show, found by rendering it and looking for what was put in."""

from collections.abc import Mapping, Sequence
from typing import Any

from server.engine.formats.abilities import THOUGHTS
from server.engine.worker.template import RenderLost, Template, TemplateFailed

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


def try_out(template: Template) -> dict[str, Any]:
    """What the server is told about the template: `template` holds the flags of its abilities.

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


def abilities(template: Template) -> dict[str, bool]:
    """The flags of `server.engine.formats.abilities.Abilities`."""
    # The tools come last: they are the hardest part, and a template that fails at them may be
    # good for all the rest.
    return {
        "system": SYSTEM in _render(template, [{"role": "system", "content": SYSTEM}, USER]),
        "alternates": _alternates(template),
        "opens_thought": _opens(template, {}),
        "opens_thought_if_asked": _opens(template, {"enable_thinking": True}),
        "opens_thought_if_unasked": _opens(template, {"enable_thinking": False}),
        **_tools(template),
    }


def _tools(template: Template) -> dict[str, bool]:
    shown = _shown(template, [_calling({"city": VALUE}), _result()])
    shown_as_text = _shown(template, [_calling('{"city": "needle-value"}'), _result()])
    called = NAME in shown and VALUE in shown
    called_as_text = NAME in shown_as_text and VALUE in shown_as_text
    quoted_twice = '\\"city\\"' in shown_as_text
    return {
        "calls": called or called_as_text,
        "results": RESULT in shown or RESULT in shown_as_text,
        "text_arguments": called_as_text and not quoted_twice and not called,
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
