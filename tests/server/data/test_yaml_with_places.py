import pytest

from server.data.yaml_with_places import Findings, key_at, nearest, read, value_at


def findings_of(text: str, *, is_json: bool = False) -> list[str]:
    findings = Findings("f.yaml")
    read(text.encode(), findings, is_json=is_json)
    return [str(finding) for finding in findings.found]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[NO, off, y]", ["NO", "off", "y"]),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("[true, ~, 0x10, 0o17, 1.5, 1e3, .inf]", [True, None, 16, 15, 1.5, 1000.0, float("inf")]),
        ("'1'", "1"),
        ('{"a":\t1}', {"a": 1}),
        ("200: yes", {"200": "yes"}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2", {"a": {"b": 1}, "c": {"d": 2, "b": 1}}),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    assert read(text.encode(), Findings("f")) == value


def test_a_duplicate_key_is_an_error_at_its_place() -> None:
    assert findings_of("a: 1\nb: 2\na: 3\n") == [
        "f.yaml:3:1 error duplicate-key 'a' is already given in line 1."
    ]


def test_an_escape_that_does_not_exist_is_placed_and_explained() -> None:
    (found,) = findings_of('a:\n  pattern: "[\\d].[\\d]"\n')
    assert found.startswith("f.yaml:2:15 error syntax ")
    assert "single quotes" in found


def test_bad_json_has_a_place() -> None:
    (found,) = findings_of('{"a": 1,\n "b": }', is_json=True)
    assert found.startswith("f.yaml:2:7 error syntax ")


def test_json_may_write_rare_characters_as_two_escapes() -> None:
    assert read(b'{"a": "\\ud83d\\ude00"}', Findings("f"), is_json=True) == {"a": "\U0001f600"}


def test_json_may_hold_characters_that_yaml_refuses() -> None:
    raw = '{"a": "\x80\x9f", "b": "\\ud800"}'.encode()
    assert read(raw, Findings("f"), is_json=True) == {"a": "\x80\x9f", "b": "\ufffd"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 5000, "too-deep"),
        ("&a [*a]", "alias"),
        ("a: *b", "alias"),
        ("? [a]\n: 1", "key"),
        ("a: 1\n---\nb: 2", "documents"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, code: str) -> None:
    assert f" error {code} " in findings_of(text)[0]


def test_a_bomb_of_aliases_is_refused_without_being_built() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert " error too-large " in findings_of("\n".join(lines))[0]


def test_text_that_is_no_utf_8_is_an_error() -> None:
    findings = Findings("f")
    assert read(b"a: 1\nb: \xff\xfe\xfa", findings) is None
    assert str(findings.found[0]).startswith("f:2:1 error encoding")


def test_places_of_keys_and_values() -> None:
    data = read(b"a:\n  - x\n  - y: 2\n", Findings("f"))
    assert key_at(data, "a") == (1, 1)
    assert value_at(data["a"], 1) == (3, 5)
    assert value_at(data["a"][1], "y") == (3, 8)
    assert value_at(data["a"][1], "missing") == (3, 5)


def test_the_nearest_name_is_named() -> None:
    assert nearest("desription", ["name", "description"]) == "Did you mean 'description'?"
    assert nearest("zzz", ["name"]) == ""
