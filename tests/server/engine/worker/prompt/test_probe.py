"""What a template can show is found by rendering it."""

import sys
from pathlib import Path

import pytest

from server.engine.worker.prompt.template import (
    ANSWER_S,
    PATIENCE,
    Template,
    abilities,
    reads_parts,
    try_out,
)
from server.sentences import from_wire
from server.system import processes

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
STRICT = (
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('turns must alternate') }}{% endif %}{{ m.content }}{% endfor %}"
)
CALLING = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }}{% for c in m.tool_calls or [] %}"
    "{{ c.function.name }}{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
    "{% if enable_thinking is defined and enable_thinking %}<think>\n{% endif %}"
)
TEXT_ONLY = CALLING.replace("arguments | tojson", "arguments + ''")


PARTS = (
    "{% for m in messages %}{{ m.role }}:{% for part in m.content %}{% if part.type == 'text' %}"
    "{{ part.text }}{% endif %}{% endfor %}{% endfor %}"
)


def found(source: str) -> set[str]:
    template = Template(source)
    flags = abilities(template)
    template.close()
    return {name for name, on in flags.items() if on}


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        (CHATML, {"system", "results"}),
        (STRICT, {"alternates"}),
        (CALLING, {"system", "calls", "results", "opens_thought_if_asked"}),
        (TEXT_ONLY, {"system", "calls", "results", "text_arguments", "opens_thought_if_asked"}),
        ("{% broken", {"alternates"}),
    ],
)
def test_abilities(source: str, flags: set[str]) -> None:
    assert found(source) == flags


def test_a_template_that_knows_only_parts_is_given_parts() -> None:
    template = Template(PARTS)
    assert template.render([{"role": "user", "content": "hello"}]) == "user:"
    template.reads_parts = reads_parts(template)
    assert template.render([{"role": "user", "content": "hello"}]) == "user:hello"
    template.close()
    plain = Template(CHATML)
    assert not reads_parts(plain)
    plain.close()


def test_a_template_without_end_is_not_waited_for_again_and_again() -> None:
    template = Template(
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    )
    assert not reads_parts(template)
    assert not any(abilities(template)[name] for name in ("system", "calls", "results"))
    assert len(template.stalls) == PATIENCE
    template.close()


MUTE = (sys.executable, "-c", "print('{}', flush=True); input(); input()")
"""A render process that is ready and then gets no turn."""


def test_a_trial_that_gets_no_turn_is_told_and_succeeds_later() -> None:
    template = Template(CALLING, command=MUTE, answer_s=0.2)
    lost = try_out(template)
    assert lost["template"] == {}
    assert lost["template_again"]
    assert from_wire(lost["template_lost"]) == "it did not answer for 0.2 seconds"
    template._command, template._answer_s = processes.command("render"), ANSWER_S
    found = try_out(template)
    assert found["template"]["system"]
    assert found["template"]["calls"]
    assert (found["template_lost"], found["template_again"]) == ("", False)
    template.close()


def test_one_lost_answer_costs_no_ability(tmp_path: Path) -> None:
    """The first render process dies at its first job; the one after it goes on."""
    code = (
        "import pathlib, runpy, sys; seen = pathlib.Path(sys.argv.pop())\n"
        "if not seen.exists(): seen.touch(); print('{}', flush=True); input(); sys.exit()\n"
        "runpy.run_module('server.engine.worker.prompt.render', run_name='__main__')"
    )
    template = Template(CALLING, command=(sys.executable, "-c", code, str(tmp_path / "seen")))
    found = try_out(template)
    assert found["template"]["system"]
    assert found["template"]["calls"]
    assert found["template_lost"] == ""
    template.close()


def test_what_a_template_without_end_costs_is_told_and_not_tried_again() -> None:
    only_with_tools = CALLING + "{% if tools %}{{ 10 ** (10 ** (7 + tools|length)) }}{% endif %}"
    template = Template(only_with_tools)
    found = try_out(template)
    assert found["template"]["system"]
    assert not found["template"]["calls"]
    assert from_wire(found["template_lost"]) == "it ran longer than 2 seconds"
    assert not found["template_again"]
    template.close()
