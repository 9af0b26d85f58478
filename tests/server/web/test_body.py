"""Large bodies: read as small ones are, and refused where a name has megabytes."""

import json
from typing import Any

import pytest

from server.errors import BadRequest
from server.web import body
from server.web.body import _checked, _parsed, _patiently_parsed

ODD: tuple[Any, ...] = (
    {"a": [1, -2.5, 1e300, "\u00e9\n", None, True, {}]}, [[[]]], "text", 7, {"a": 1, "b": {"a": 2}},
)  # fmt: skip


@pytest.mark.parametrize("value", ODD)
def test_both_readers_read_the_same(value: Any) -> None:
    data = json.dumps(value).encode()
    assert _patiently_parsed(data) == _parsed(data) == value


@pytest.mark.parametrize("data", [b"{", b"[NaN]", b"[1e5,Infinity]", b"\xff", b"[" * 100_000, b""])
def test_both_readers_refuse_the_same(data: bytes) -> None:
    for read in (_patiently_parsed, _parsed):
        with pytest.raises(BadRequest, match="not valid JSON"):
            read(data)


def test_many_values_are_read_by_the_patient_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(body, "_patiently_parsed", lambda data: read.append(len(data)))
    _parsed(b"[" + b"0," * (body.MANY_VALUES + 1) + b"0]")
    assert read


@pytest.mark.parametrize("name", ["name", "threadId", "function", "filename"])
def test_a_name_of_megabytes_is_refused_wherever_it_stands(name: str) -> None:
    sent = {"widgets": [{"primary": {name: "a b " * 100_000}}]}
    with pytest.raises(BadRequest, match=name):
        _checked(sent, 400_000)


def test_long_texts_are_no_names() -> None:
    sent = {"messages": [{"role": "user", "content": "a" * 1_000_000}], "name": "a" * 10_000}
    assert _checked(sent, 1_000_000) is sent
