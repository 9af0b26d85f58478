"""What an answer looks like in a terminal: its styles, and where its lines break."""

import re

import pytest

from server.commands.answer_text import Lines, Markdown, wrap
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
    ("- one\n  * two", [("•", "35"), (" one\n  ", ""), ("•", "35"), (" two", "")]),
    ("12. twelfth", [("12.", "35"), (" twelfth", "")]),
    ("> said **so**", [("│ said ", "2"), ("so", "2;1")]),
    ("2 * 3 * 4 and 2**8", [("2 * 3 * 4 and 2**8", "")]),
    ("snake_case and \\*star\\*", [("snake_case and \\*star\\*", "")]),
    ("**open\nnext", [("open", "1"), ("\nnext", "")]),
    (
        "```py\nx = `1`**2\n```\nafter",
        [("py", "2"), ("\n", ""), ("x = `1`**2", "36"), ("\n\nafter", "")],
    ),
    ("~~~~\n~~~\n~~~~\n", [("\n", ""), ("~~~", "36"), ("\n\n", "")]),
    ("```py\nx\n```", [("py", "2"), ("\n", ""), ("x", "36"), ("\n", "")]),
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


def broken(text: str, columns: int, *, size: int = 1, is_coloured: bool = True) -> list[str]:
    """The lines of an answer that comes in pieces, without their styles."""
    markdown = Markdown(Lines(lambda: columns), is_coloured=is_coloured)
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    out = "".join(map(markdown.feed, pieces)) + markdown.end()
    return STYLES.sub("", out).split("\n")


BROKEN = [
    ("the moat is deep", ["the moat", "is deep"]),
    ("0123456789 ab", ["0123456789", "ab"]),
    ("a **bold and** word", ["a bold and", "word"]),
    ("- one two three", ["• one two", "  three"]),
    ("12. one two three", ["12. one", "    two", "    three"]),
    ("> said it so often", ["│ said it", "│ so often"]),
    ("  far in the text", ["  far in", "  the text"]),
    ("# A heading is long", ["A heading", "is long"]),
    ("see 0123456789abcdef now", ["see", "0123456789abcdef now"]),
    ("see 0123456789abcdef here", ["see", "0123456789abcdef", "here"]),
    ("护城河是一条很深的沟", ["护城河是一", "条很深的沟"]),
    ("护城河很深。它很宽", ["护城河很", "深。它很宽"]),
    ("他说「护城」吧", ["他说「护", "城」吧"]),
    ("他们都说「护城", ["他们都说", "「护城"]),
    ("用Python写代码", ["用Python写", "代码"]),
    ("해자는 깊은 도랑", ["해자는", "깊은 도랑"]),
    ("a 👩\u200d💻 b 👍 done", ["a 👩\u200d💻 b", "👍 done"]),
    ("deep—deeper yet", ["deep—", "deeper yet"]),
    ("```\na line of code\n```\nand then text", ["", "a line of code", "", "and then", "text"]),
    ("ちょっと待ってください", ["ちょっと", "待ってくだ", "さい"]),
    ("one\n\ntwo three four", ["one", "", "two three", "four"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BROKEN)
def test_lines_break_between_words_whatever_the_pieces_are(text: str, expected: list[str]) -> None:
    for size in (1, 2, 3, 1000):
        assert broken(text, 10, size=size) == expected, size


def test_a_terminal_without_colour_breaks_lines_and_leaves_code_alone() -> None:
    text = "- **one** two\n~~~\na line of code\n~~~\nand then text"
    expected = ["- **one**", "  two", "~~~", "a line of code", "~~~", "and then", "text"]
    for size in (1, 1000):
        assert broken(text, 10, size=size, is_coloured=False) == expected


def test_a_style_goes_on_below_and_leaves_the_edge_alone() -> None:
    markdown = Markdown(Lines(lambda: 10))
    out = markdown.feed("# A heading is long\n> quoted `code is`") + markdown.end()
    heading, underneath, quote, rest = out.split("\n")
    assert heading == "\x1b[1;4mA heading\x1b[0m"
    assert underneath == "\x1b[1;4mis long\x1b[0m"
    assert quote == "\x1b[2m│\x1b[0m\x1b[2m quoted\x1b[0m"
    assert rest == "\x1b[2m│\x1b[0m \x1b[2m\x1b[0m\x1b[2;36mcode is\x1b[0m"


def test_a_window_that_changes_its_size_is_followed() -> None:
    widths = iter([20, 20, 20, 5, 5, 5, 5])
    lines = Lines(lambda: next(widths))
    assert lines.feed("one two three ") + lines.flush() == "one two\nthree"


def test_words_are_not_held_back_longer_than_they_must() -> None:
    lines = Lines(lambda: 10)
    assert lines.feed("deep ") == "deep"
    assert lines.feed("moat") == ""
    assert lines.feed(" ") == " moat"
    assert lines.feed("0123456789abc") == "\n0123456789abc"


def test_a_list_that_is_too_deep_for_a_narrow_terminal_is_not_squeezed() -> None:
    assert wrap("one two three four", 10, hanging=8) == "one two\nthree four"
    assert (
        wrap("/a  one two\n/b  three four", 10, hanging=4)
        == "/a  one\n    two\n/b  three\n    four"
    )


def test_nothing_is_broken_where_nobody_knows_the_width() -> None:
    text = "some words  with\ttabs \nand more"
    assert wrap(text, 0) == text
    lines = Lines(lambda: 0)
    assert lines.feed("word " * 100) + lines.flush() == ("word " * 100).rstrip()
