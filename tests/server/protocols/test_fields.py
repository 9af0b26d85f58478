"""Fields of a body: checked one by one, and told by their path."""

from typing import Any

import msgpack
import pytest

from server.errors import BadRequest
from server.protocols.fields import (
    Fields,
    json_constraint,
    parse_json,
    sampling,
    sendable,
    stop_texts,
    template_options,
)


def test_a_path_names_the_place() -> None:
    inner = Fields({"a": {"b": 5}}).object("a")
    assert inner
    with pytest.raises(BadRequest) as refused:
        inner.text("b")
    assert refused.value.param == "a.b"


def test_absent_and_null_are_the_same() -> None:
    fields = Fields({"a": None})
    assert [fields.text("a"), fields.flag("a"), fields.number("a", 0, 1)] == [None] * 3
    assert fields.list("a") == []
    assert fields.object("b") is None


def test_numbers_keep_to_their_bounds() -> None:
    assert sampling(Fields({"temperature": 2, "top_k": -1})).temperature == 2.0
    with pytest.raises(BadRequest):
        sampling(Fields({"temperature": 2.01}))
    with pytest.raises(BadRequest):
        sampling(Fields({"seed": 2**70}))


def test_stop_texts_are_few() -> None:
    assert stop_texts(Fields({"stop": "x"})) == ("x",)
    with pytest.raises(BadRequest):
        stop_texts(Fields({"stop": ["x"] * 17}))


def test_effort_and_thinking_reach_the_template() -> None:
    given = Fields({"reasoning_effort": "none", "chat_template_kwargs": {"a": 2**70}})
    options = dict(template_options(given))
    assert options == {"a": float(2**70), "reasoning_effort": "none", "enable_thinking": False}


@pytest.mark.parametrize("value", [2**64, -(2**70), [10**400], {"a": [2**63, -(2**63)]}])
def test_every_number_can_be_sent_to_a_worker(value: object) -> None:
    assert msgpack.unpackb(msgpack.packb(sendable(value))) == sendable(value)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_number_of_many_digits_is_out_of_bounds_by_name(number: int) -> None:
    with pytest.raises(BadRequest) as refused:
        sampling(Fields({"temperature": number}))
    assert refused.value.param == "temperature"


def test_values_are_made_sendable_however_deep_they_go() -> None:
    deep: Any = [2**70]
    for _ in range(100_000):
        deep = [deep]
    sent = sendable(deep)
    while isinstance(sent, list):
        (sent,) = sent
    assert sent == float(2**70)


def test_what_is_sent_is_a_copy() -> None:
    given = {"a": [2**70, {"b": 1}]}
    assert sendable(given) == {"a": [float(2**70), {"b": 1}]}
    assert given == {"a": [2**70, {"b": 1}]}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[NaN]", '"\\ud83d"', '"\ud83d"', "[" * 100_000 + "]" * 100_000, "9" * 5000],
)
def test_text_that_is_no_json_we_can_pass_on_is_nothing(text: str) -> None:
    assert parse_json(text) is None


def test_json_in_a_text_is_read() -> None:
    assert parse_json('{"a": [1, 2.5, null, "\\ud83d\\ude00"]}') == {
        "a": [1, 2.5, None, "\U0001f600"]
    }
    assert parse_json("no", "no") == "no"


@pytest.mark.parametrize(
    "format_",
    [
        {"type": "json_schema", "json_schema": {"schema": {"minimum": 10**400}}},
        {"type": "json_object", "schema": {"anyOf": [{"minimum": -(10**400)}]}},
    ],
)
def test_the_numbers_of_a_schema_are_made_sendable(format_: dict[str, Any]) -> None:
    constraint = json_constraint(Fields(format_))
    assert constraint
    assert f'"minimum": "{"-" if "anyOf" in constraint.source else ""}1000' in constraint.source


def test_a_seed_leaves_room_for_further_choices() -> None:
    for seed in (2**64 - 1, -(2**63), 5):
        kept = sampling(Fields({"seed": seed})).seed
        assert kept is not None
        assert 0 <= kept < 2**63
    assert sampling(Fields({"seed": 5})).seed == 5
