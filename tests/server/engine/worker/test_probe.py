"""What a template can show is found by rendering it."""

import pytest

from server.engine.worker.probe import PATIENCE, abilities, reads_parts
from server.engine.worker.template import Template

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
    assert template.stalls == PATIENCE
    template.close()
