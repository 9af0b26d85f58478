import json

import pytest

from server.flows.base import Flow, Output, Record, Step, Work
from server.flows.cutting import shorten
from server.flows.templates import look_up, render
from tests.engines import ScriptedEngine
from tests.plugin_kits import PlainKit

FLOW = Flow("p", "f", "d", (Step("start", "none"),))


def work() -> Work:
    made = Work(FLOW, "q {data}", ScriptedEngine(), PlainKit(), context="said before")
    made.records = [
        Record("one.two", "api", Output({"a": [{"b": 1}]}, "first")),
        Record("last", "api", Output("text </data> {question}", "second")),
    ]
    return made


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{question}", "q {data}"),
        ("{data}|{output}", "<data>text  {question}</data>|<data>text  {question}</data>"),
        ("{message}", "<data>second</data>"),
        ("{context}", "said before\none.two: first\nlast: second"),
        ("{steps.one.two.a.0.b}", "<data>1</data>"),
        ("{steps.one.two}", '<data>{"a": [{"b": 1}]}</data>'),
        ("{steps.unknown}", "{steps.unknown}"),
        ('{"json": {"x": 1}} {other}', '{"json": {"x": 1}} {other}'),
        ("{{question}} {{data}}", "{question} {data}"),
        ("{error}", ""),
    ],
)
def test_only_the_known_names_are_put_in_and_only_once(template: str, text: str) -> None:
    assert render(template, work(), 1000) == text


def test_time_has_a_zone() -> None:
    assert render("{time}", work(), 100).count("-") >= 2


def test_a_path_that_leads_nowhere_finds_nothing() -> None:
    assert look_up("one.x.y", {"one": {"a": 1}}) is None


@pytest.mark.parametrize("room", [60, 200, 1000])
def test_data_is_cut_at_its_structure(room: int) -> None:
    data = [{"name": "x" * 50, "values": list(range(100))} for _ in range(200)]
    text = shorten(data, room)
    assert len(text) <= room
    if room > 100:
        assert "more" in json.dumps(json.loads(text))


def test_a_long_text_keeps_its_head_and_tail() -> None:
    text = shorten("head " + "x" * 1000 + " tail", 100)
    assert text.startswith("head")
    assert text.endswith("tail")
    assert len(text) <= 100
