"""A stranger's template renders fast when it is honest and is stopped when it is not."""

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from server.engine.worker.prompt.render import TIME_LIMIT_S
from server.engine.worker.prompt.template import ANSWER_S, RenderLost, Template, TemplateFailed
from server.system import processes

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
HELLO = [{"role": "user", "content": "Grüße"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

ESCAPES = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__.__base__.__subclasses__()[0] }}",
    "{{ messages.__class__.__init__.__globals__ }}",
    "{{ self.__init__.__globals__.__builtins__ }}",
    "{{ self._TemplateReference__context.cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ joiner.__init__.__globals__.os.popen('id').read() }}",
    "{{ namespace.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__['os'].popen('id').read() }}",
    "{{ range.__globals__ }}{{ range.__self__.__import__('os').system('id') }}",
    "{{ raise_exception.__globals__['json'].loads.__globals__ }}",
    "{{ strftime_now.__self__.sleep(60) }}",
    "{{ (messages|attr('__class__')).__mro__ }}",
    "{{ '{0.__class__.__mro__}'.format(messages).__class__.mro() }}",
    "{% set f = '{0.__class__.__init__.__globals__}'.format %}{{ f(cycler).__class__.x() }}",
    "{{ [].append.__self__.__class__.__base__.__subclasses__() }}",
    "{{ messages.clear() }}",
    "{{ messages[0].update({'role': 'system'}) }}",
    "{{ messages[0].pop('role') }}",
    "{% for x in ().__class__.__base__.__subclasses__() %}{{ x }}{% endfor %}",
    "{{ dict.fromkeys.__self__.__subclasses__() }}",
    "{{ (lipsum|string|list).__class__.__reduce_ex__(2) }}",
)
HOGS = (
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "{{ 10 ** (10 ** 8) }}",
    "{% set n = namespace(s='xx') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}",
    "{{ 'x' * (10 ** 10) }}",
    "{{ '%10000000000d' % 1 }}",
    "{% for i in range(99999) %}{{ 'y' * 9999 }}{% endfor %}",
    "{% macro again() %}{{ again() }}{% endmacro %}{{ again() }}",
)


@pytest.fixture
def made() -> Iterator[list[Template]]:
    templates: list[Template] = []
    yield templates
    for template in templates:
        template.close()


def test_a_chat_is_rendered_with_its_generation_prompt(made: list[Template]) -> None:
    made.append(Template(CHATML))
    shown = "<|im_start|>user\nGrüße<|im_end|>\n"
    assert made[0].render(HELLO) == shown + "<|im_start|>assistant\n"
    assert made[0].render(HELLO, add_generation_prompt=False) == shown


def test_absent_variables_are_undefined_and_present_ones_arrive(made: list[Template]) -> None:
    source = (
        "{{ bos_token }}{{ tools is defined }}{{ enable_thinking is defined }}"
        "{% if tools %}{{ tools | tojson }}{% endif %}"
    )
    made.append(Template(source, bos="<s>"))
    assert made[0].render(HELLO) == "<s>FalseFalse"
    shown = f"<s>TrueTrue[{json.dumps(TOOL)}]"
    assert made[0].render(HELLO, [TOOL], {"enable_thinking": False}) == shown


def test_what_templates_use_beyond_plain_jinja_works(made: list[Template]) -> None:
    source = (
        "{% set seen = [] %}{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}"
        "{% set _ = seen.append(m.role) %}{% endfor %}{% generation %}{{ seen | tojson }}"
        "{% endgeneration %}{{ strftime_now('%Y')|length }}{{ '<é>' | tojson }}"
    )
    made.append(Template(source))
    assert made[0].render([*HELLO, *HELLO]) == '["user"]4"<é>"'


def test_a_template_that_refuses_says_why(made: list[Template]) -> None:
    made.append(Template("{{ raise_exception('roles must alternate') }}"))
    with pytest.raises(TemplateFailed, match="roles must alternate"):
        made[0].render(HELLO)


def test_a_template_that_cannot_be_read_says_why(made: list[Template]) -> None:
    made.append(Template("{% for %}"))
    with pytest.raises(TemplateFailed, match="TemplateSyntaxError"):
        made[0].render(HELLO)


@pytest.mark.parametrize("payload", ESCAPES)
def test_an_escape_from_the_sandbox_is_refused(made: list[Template], payload: str) -> None:
    made.append(Template(payload))
    with pytest.raises(TemplateFailed):
        made[0].render(HELLO)


@pytest.mark.parametrize("payload", HOGS)
def test_time_and_memory_are_limited(made: list[Template], payload: str) -> None:
    made.append(Template(payload))
    with pytest.raises(TemplateFailed):
        made[0].render(HELLO)


def test_a_stopped_render_process_is_replaced(made: list[Template]) -> None:
    made.append(
        Template(
            "{% if messages|length > 1 %}{{ 10 ** (10 ** (6 + messages|length)) }}{% endif %}fine"
        )
    )
    with pytest.raises(TemplateFailed, match="longer than 2 seconds"):
        made[0].render([*HELLO, *HELLO])
    assert made[0].render(HELLO) == "fine"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")
def test_a_process_that_gets_no_turn_loses_nothing(made: list[Template]) -> None:
    """Halted for longer than the limit: only the processor's time counts."""
    before = set(psutil.Process().children())
    made.append(Template(CHATML))
    (child,) = set(psutil.Process().children()) - before
    made[0].render(HELLO)
    child.suspend()
    with ThreadPoolExecutor(1) as other:
        rendering = other.submit(made[0].render, HELLO)
        with pytest.raises(TimeoutError):
            rendering.result(2 * TIME_LIMIT_S + 0.5)
        child.resume()
        assert "Grüße" in rendering.result(60)
    assert child.is_running()


def test_a_process_that_never_gets_a_turn_is_replaced(made: list[Template]) -> None:
    mute = (sys.executable, "-c", "print('{}', flush=True); input(); input()")
    made.append(Template(CHATML, command=mute, answer_s=0.2))
    with pytest.raises(RenderLost, match=r"did not answer for 0\.2 seconds"):
        made[0].render(HELLO)
    assert made[0].stalls == []
    made[0]._command, made[0]._answer_s = processes.command("render"), ANSWER_S
    assert "Grüße" in made[0].render(HELLO)


def test_one_warm_process_renders_every_chat(made: list[Template]) -> None:
    """How long it takes is measured by `make bench`."""
    made.append(Template(CHATML))
    before = set(psutil.Process().children())
    for length in range(1, 30):
        assert made[0].render(HELLO * length).count("Grüße") == length
    assert set(psutil.Process().children()) == before


def test_closing_ends_the_child() -> None:
    before = set(psutil.Process().children())
    template = Template(CHATML)
    template.render(HELLO)
    template.close()
    assert set(psutil.Process().children()) <= before


CALL = {"type": "function", "function": {"name": "shot", "arguments": {"at": 1}}}
TURNS = [
    {"role": "system", "content": "needle-system"},
    {"role": "user", "content": "needle-question"},
    {"role": "user", "content": "needle-more"},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [{**CALL, "id": "call_of_many_letters"}, {**CALL, "id": "call_2"}],
    },
    {"role": "tool", "content": "needle-one", "tool_call_id": "call_of_many_letters"},
    {"role": "tool", "content": "needle-two", "tool_call_id": "call_2"},
]
SHOWN = (
    "{{ m.role }}:{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.name }}"
    "{% endfor %};"
)
REFUSALS = {
    "one call": "{% if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('one') }}"
    "{% endif %}",
    "nine letters": "{% for c in m.tool_calls or [] %}{% if c.id | length != 9 %}"
    "{{ raise_exception('nine') }}{% endif %}{% endfor %}",
    "no system": "{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}",
    "turns": "{% if m.role == 'user' and not loop.first and loop.previtem.role == 'user' %}"
    "{{ raise_exception('turns must alternate') }}{% endif %}",
    "nothing": "{% if m.content == '' %}{{ raise_exception('no text') }}{% endif %}",
    "no calls": "{% if m.tool_calls or m.role == 'tool' %}{{ raise_exception('no tools') }}"
    "{% endif %}",
}


@pytest.mark.parametrize("refusal", [*REFUSALS.values(), "".join(list(REFUSALS.values())[:4])])
def test_what_a_template_refuses_is_shown_in_another_form(refusal: str) -> None:
    template = Template("{% for m in messages %}" + refusal + SHOWN + "{% endfor %}")
    with pytest.raises(TemplateFailed):
        template.render(TURNS)
    text = template.render_somehow(TURNS)
    template.close()
    needles = ("system", "question", "more", "one", "two")
    assert all(f"needle-{needle}" in text for needle in needles)
    assert text.count("shot") == 2


def test_a_schema_is_filled_up_for_a_template_that_asks_for_all_of_it() -> None:
    template = Template(
        "{% for t in tools %}{{ t.function.parameters.additionalProperties.type }}"
        "{{ t.function.parameters.properties.list['items'].type }}{% endfor %}"
    )
    given = {"type": "object", "properties": {"list": {"type": "array"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": given}}
    assert template.render_somehow(TURNS[1:2], [tool]) == "string"
    template.close()


def test_a_template_that_refuses_everything_says_why_at_first() -> None:
    template = Template("{{ raise_exception('never ' ~ messages | length) }}")
    with pytest.raises(TemplateFailed, match="never 6"):
        template.render_somehow(TURNS)
    template.close()
