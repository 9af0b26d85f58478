"""Whole characters and no part of a stop string, however the bytes are cut."""

from hypothesis import given
from hypothesis import strategies as st

from server.engine.styles.stream import first_of, held_back
from server.engine.worker.schedule.answer import TextOut

LETTERS = st.text("abé€😀", max_size=30)


def shown(text: str, sizes: list[int], stops: tuple[str, ...]) -> tuple[str, bool]:
    out, raw, told = TextOut(stops), text.encode(), ""
    for size in [*sizes, len(raw)]:
        out.feed(raw[:size])
        raw = raw[size:]
        told += out.take()
        if out.stopped:
            return told, True
    out.finish()
    return told + out.take(), False


@given(LETTERS, st.lists(st.integers(1, 3), max_size=40))
def test_text_survives_any_cut(text: str, sizes: list[int]) -> None:
    assert shown(text, sizes, ()) == (text, False)


@given(LETTERS, st.lists(st.integers(1, 3), max_size=40), st.lists(st.text("ab€", min_size=1)))
def test_the_earliest_stop_string_ends_the_text(
    text: str, sizes: list[int], stops: list[str]
) -> None:
    told, stopped = shown(text, sizes, tuple(stops))
    assert stopped == any(stop in text for stop in stops)
    assert text.startswith(told)
    assert not any(stop in told for stop in stops)
    assert stopped or told == text


def test_bytes_that_are_no_text_are_replaced() -> None:
    out = TextOut()
    out.feed(b"a\xff")
    out.feed(b"\xe2\x82")
    assert out.holds
    out.finish()
    assert out.take() == "a��"


def test_the_longest_unfinished_stop_is_held() -> None:
    assert held_back("xxab", ("abc", "b!")) == 2
    assert held_back("abc", ("xyz",)) == 0
    assert first_of("abcab", ("ca", "ab")) == (0, "ab")
    assert first_of("abc", ("x",)) is None


def test_the_stop_string_that_was_met_is_named() -> None:
    out = TextOut(("no", "END"))
    out.feed(b"a EN")
    assert out.met is None
    out.feed(b"D no")
    assert out.met == "END"
