import pytest

from app.chat.markdown import LONGEST, spans


def coloured(code: str, language: str) -> list[tuple[str, str]]:
    return [(code[at : at + length], part) for at, length, part in spans(code, language)]


@pytest.mark.parametrize(
    ("language", "code", "wanted"),
    [
        ("python", 'def f(x):  # "no"\n    return 1.5',
         [("def", "word"), ("f", "name"), ('# "no"', "comment"), ("return", "word"),
          ("1.5", "number")]),
        ("py", 'a = """x\ny"""', [('"""x\ny"""', "text")]),
        ("sql", "SELECT a FROM t -- all", [("SELECT", "word"), ("FROM", "word"),
                                           ("-- all", "comment")]),
        ("js", "let a = `b` /* c\nd */", [("let", "word"), ("`b`", "text"),
                                          ("/* c\nd */", "comment")]),
        ("json", '{"a": true, "b": 0xff}', [('"a"', "text"), ("true", "word"), ('"b"', "text"),
                                            ("0xff", "number")]),
        ("bash", "for f in *; do echo $f; done", [("for", "word"), ("in", "word"), ("do", "word"),
                                                  ("echo", "word"), ("done", "word")]),
        ("text", "for if else", []),
        ("", "if x: pass", [("if", "word"), ("pass", "word")]),
        ("python", "'it is", [("'it is", "text")]),
    ],
)  # fmt: skip
def test_parts_of_code_have_their_colours(
    language: str, code: str, wanted: list[tuple[str, str]]
) -> None:
    assert coloured(code, language) == wanted


def test_very_long_code_stays_plain() -> None:
    assert spans("if x\n" * (LONGEST // 5 + 1), "python") == []


def test_nothing_overlaps_whatever_comes() -> None:
    nasty = '""" \'\'\' ` /* // # -- \\" 1e5. f( (((' * 50
    for language in ("python", "c", "sql", "bash", "json"):
        end = 0
        for at, length, _ in spans(nasty, language):
            assert at >= end
            end = at + length
