"""Large bodies: read as small ones are, and refused where a name has megabytes."""

import json
from typing import Any

import pytest

from server.errors import BadRequest
from server.web import body
from server.web.body import _check, _parse, _parse_patiently

ODD: tuple[Any, ...] = (
    {"a": [1, -2.5, 1e300, "\u00e9\n", None, True, {}]}, [[[]]], "text", 7, {"a": 1, "b": {"a": 2}},
)  # fmt: skip


@pytest.mark.parametrize("value", ODD)
def test_both_readers_read_the_same(value: Any) -> None:
    data = json.dumps(value).encode()
    assert _parse_patiently(data) == _parse(data) == value


@pytest.mark.parametrize("data", [b"{", b"[NaN]", b"[1e5,Infinity]", b"\xff", b"[" * 100_000, b""])
def test_both_readers_refuse_the_same(data: bytes) -> None:
    for read in (_parse_patiently, _parse):
        with pytest.raises(BadRequest, match="not valid JSON"):
            read(data)


TEXTS = (
    "a\\" * 40, '"' * 60, "\u00e9\U0001f600" * 30, "\\\\\n" * 30, "\U0001f600\U0001f601" * 20,
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("length", range(1, 14))
def test_a_long_text_is_read_in_parts_that_cut_no_escape(
    text: str, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", length)
    monkeypatch.setattr(body, "PART_CHARS", length + 2)
    value = {"a": text, text: [text, {text: 1}]}
    for is_ascii in (True, False):
        data = json.dumps(value, ensure_ascii=is_ascii, indent=1).encode()
        assert _parse_patiently(data) == value


@pytest.mark.parametrize("wrong", [r"\x", r"\u12", "\x01", r"\ud83d\u", ""])
def test_what_is_wrong_in_a_long_text_is_found(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", 5)
    monkeypatch.setattr(body, "PART_CHARS", 7)
    with pytest.raises(BadRequest, match=r"not valid JSON: .*char \d\d"):
        _parse_patiently(b'{"a": "' + b"b" * 40 + wrong.encode() + b"c" * 40)


def test_halves_of_pairs_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "SHORT_CHARS", 3)
    monkeypatch.setattr(body, "PART_CHARS", 5)
    written = '["' + r"\ud83d\ud83d\ude00\ude00\ude00x" * 9 + '"]'
    assert _parse_patiently(written.encode()) == json.loads(written)


def test_one_long_text_is_read_by_the_patient_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(body, "_parse_patiently", lambda data: read.append(len(data)))
    _parse(b'["' + b"a" * body.PATIENT_BYTES + b'"]')
    assert read


def test_many_values_are_read_by_the_patient_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(body, "_parse_patiently", lambda data: read.append(len(data)))
    _parse(b"[" + b"0," * (body.MANY_VALUES + 1) + b"0]")
    assert read


@pytest.mark.parametrize("name", ["name", "threadId", "function", "filename"])
def test_a_name_of_megabytes_is_refused_wherever_it_stands(name: str) -> None:
    sent = {"widgets": [{"primary": {name: "a b " * 100_000}}]}
    with pytest.raises(BadRequest, match=name):
        _check(sent, 400_000)


def test_long_texts_are_no_names() -> None:
    sent = {"messages": [{"role": "user", "content": "a" * 1_000_000}], "name": "a" * 10_000}
    assert _check(sent, 1_000_000) is sent
