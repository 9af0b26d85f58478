"""What a terminal gets for Markdown that comes letter by letter."""

import re

import pytest

from server.commands.markdown import Markdown
from server.system.limits import printable

STYLES = re.compile(r"\x1b\[([0-9;]*)m")


def spans(text: str, size: int = 1) -> list[tuple[str, str]]:
    """Each stretch of the text with its style."""
    markdown = Markdown()
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    out = "".join(map(markdown.feed, pieces)) + markdown.end()
    parts = ["0", *STYLES.split(out)]
    assert parts[-2] == "0", "the terminal is left as it was"
    styled = zip(parts[::2], parts[1::2], strict=True)
    return [(shown, style if style != "0" else "") for style, shown in styled if shown]


CASES = [
    ("plain words\n", [("plain words\n", "")]),
    ("# Moats\ntext", [("Moats", "1;4"), ("\ntext", "")]),
    ("a **bold** word", [("a ", ""), ("bold", "1"), (" word", "")]),
    ("an *odd* word", [("an ", ""), ("odd", "3"), (" word", "")]),
    ("call `a * b` now", [("call ", ""), ("a * b", "36"), (" now", "")]),
    ("``a ` b``", [("a ` b", "36")]),
    ("- one\n  * two", [("•", "33"), (" one\n  ", ""), ("•", "33"), (" two", "")]),
    ("12. twelfth", [("12.", "33"), (" twelfth", "")]),
    ("> said **so**", [("│ said ", "2"), ("so", "2;1")]),
    ("2 * 3 * 4 and 2**8", [("2 * 3 * 4 and 2**8", "")]),
    ("snake_case and \\*star\\*", [("snake_case and \\*star\\*", "")]),
    ("**open\nnext", [("open", "1"), ("\nnext", "")]),
    (
        "```py\nx = `1`**2\n```\nafter",
        [("py", "2"), ("\n", ""), ("x = `1`**2", "36"), ("\n\nafter", "")],
    ),
    ("~~~~\n~~~\n~~~~\n", [("\n", ""), ("~~~", "36"), ("\n\n", "")]),
    ("```\nnever ends", [("\n", ""), ("never ends", "36")]),
    ("#hashtag and 3) x", [("#hashtag and 3) x", "")]),
    ("-1 is less", [("-1 is less", "")]),
    ("*", [("*", "")]),
    ("****", [("****", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_it_is_coloured_whatever_the_pieces_are(text: str, expected: list[tuple[str, str]]) -> None:
    for size in (1, 2, 3, 1000):
        merged: list[tuple[str, str]] = []
        for shown, style in spans(text, size):
            if merged and merged[-1][1] == style:
                shown = merged.pop()[0] + shown
            merged.append((shown, style))
        assert merged == expected, size


def test_a_model_cannot_steer_the_terminal() -> None:
    markdown = Markdown()
    given = "\x1b[31mred\x1b]0;title\x07 **\x9b1mbold**\r\n"
    out = "".join(markdown.feed(printable(letter)) for letter in given) + markdown.end()
    assert STYLES.findall(out) == ["1", "0"]
    assert STYLES.sub("", out) == "[31mred]0;title 1mbold\n"
