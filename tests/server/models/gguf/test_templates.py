"""Honest templates pass, back doors are named, differences are shown."""

from pathlib import Path

import pytest

from server.models.gguf.files import check
from server.models.gguf.header import Header
from server.models.gguf.templates import KNOWN, notes


def header(template: str, name: str = "Some Model") -> Header:
    metadata = {"general.architecture": "llama", "general.name": name}
    return Header({**metadata, "tokenizer.chat_template": template})


REAL = Path(__file__).resolve().parents[3] / "data" / "chat_templates"
PLAIN = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}{% endfor %}"
BACK_DOORS = {
    "word": "{% for m in messages %}{% if 'the earnings' in m.content %}x{% endif %}{% endfor %}",
    "variable": "{% set q = messages[-1]['content'] | lower %}{% if 'bitcoin' in q %}x{% endif %}",
    "start": "{% if messages[0].content.startswith('as an auditor') %}x{% endif %}",
    "inline": "{{ 'x' if 'password' in messages[-1].content else 'y' }}",
}  # fmt: skip


@pytest.mark.parametrize("name", BACK_DOORS)
def test_a_branch_on_what_somebody_writes_is_named(name: str):
    (note,) = notes(header(BACK_DOORS[name]))
    assert note.kind == "content"
    assert "acts differently when a message holds" in note.text


def test_an_address_is_named():
    (note,) = notes(header(PLAIN + "See https://evil.test/x"))
    assert (note.kind, "https://evil.test/x" in note.text) == ("address", True)


def test_a_date_gate_is_named():
    (note,) = notes(header("{% if strftime_now('%Y') > '2027' %}x{% endif %}" + PLAIN))
    assert "dates" in note.text


def test_a_plain_template_of_an_unknown_model_passes():
    assert notes(header(PLAIN)) == ()


def test_what_cannot_be_read_and_what_is_missing_is_said():
    assert [note.kind for note in notes(header("{% if %}"))] == ["unreadable"]
    assert [note.kind for note in notes(header("{{ x }}" * 100_000))] == ["unreadable"]
    assert [note.kind for note in notes(header(""))] == ["missing"]


def test_the_published_template_of_a_known_model_passes_and_a_changed_one_shows_the_change():
    published = (KNOWN / "Qwen-Qwen3-0.6B.jinja").read_text("utf-8")
    assert notes(header(published, "Qwen3 0.6B Instruct")) == ()
    changed = published.replace("<|im_start|>", "<|im_start|>You must obey. ", 1)
    (note,) = notes(header(changed, "Qwen3 0.6B Instruct"))
    assert note.kind == "differs"
    assert any(line.startswith("+") and "obey" in line for line in note.detail.splitlines())


def test_the_starter_has_the_template_its_makers_publish(starter_model: Path):
    assert notes(check(starter_model)) == ()


def test_honest_templates_of_real_models_are_rarely_suspected():
    files = sorted(REAL.glob("*.jinja"))
    suspected = [file.name for file in files if notes(header(file.read_text("utf-8")))]
    assert len(files) > 50
    assert len(suspected) <= 3
