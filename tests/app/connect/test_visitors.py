from collections.abc import Callable
from typing import Any

import pytest

from app.connect.visitors import Door, site_of, visitors
from app.desktop.probe import NAME
from app.look.controls import Button
from server.face.core import Knock

Shown = Callable[[Any], Any]
STRANGER = Knock(1.0, "https://stranger.example", "OPTIONS", "Mozilla", "origin")
KEYLESS = Knock(2.0, "", "POST", "openai-python", "key")
ASKED = Knock(3.0, "https://a.example", "OPTIONS", "Mozilla", "let in")
CAME = Knock(4.0, "https://a.example", "GET", "Mozilla", "let in")


def test_knocks_are_told_apart() -> None:
    found = visitors((STRANGER, KEYLESS, ASKED), ())
    assert [(one.kind, one.who) for one in found] == [
        ("preflight", "https://a.example"),
        ("key", "openai-python"),
        ("origin", "https://stranger.example"),
    ]
    assert [one.kind for one in visitors((ASKED, CAME), ())] == ["guest"]


def test_a_page_that_was_allowed_since_and_our_own_test_are_no_news() -> None:
    assert visitors((STRANGER,), ("https://stranger.example",)) == []
    assert visitors((Knock(1.0, "https://a.example", "GET", NAME, "let in"),), ()) == []


async def test_one_click_allows_the_page_that_knocked(shown: Shown, qapp: object) -> None:
    door = shown(Door())
    assert door.silence.isVisible()
    allowed: list[str] = []
    door.allowed.connect(allowed.append)
    door.show_knocks((STRANGER,), ())
    assert not door.silence.isVisible()
    button = next(one for one in door.findChildren(Button) if one.text() == "Allow")
    assert button.accessibleName() == "Allow https://stranger.example"
    button.click()
    assert allowed == ["https://stranger.example"]


@pytest.mark.parametrize("origin", ["null", "file://", "https://?.example"])
async def test_what_is_no_page_of_its_own_cannot_be_allowed(
    shown: Shown, qapp: object, origin: str
) -> None:
    door = shown(Door())
    door.show_knocks((Knock(1.0, origin, "GET", "Mozilla", "origin"),), ())
    assert [one.kind for one in visitors((Knock(1.0, origin, "GET", "x", "origin"),), ())]
    assert "Allow" not in [one.text() for one in door.findChildren(Button)]


async def test_the_browsers_switches_are_explained_on_demand(shown: Shown, qapp: object) -> None:
    door = shown(Door())
    assert not door.help.isVisible()
    door.more.click()
    assert door.help.isVisible()
    assert "Local network access" in door.help.text()


LONG = "https://pro.openbb.co." + ".".join(["a" * 40] * 4) + ".evil.example"


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        (LONG, "evil.example"),
        ("https://openbb.co.evil.co.uk", "evil.co.uk"),
        ("https://a.mallory.github.io:8443", "mallory.github.io"),
        ("http://localhost:3000", "localhost:3000"),
        ("http://192.168.1.7:80", "192.168.1.7:80"),
        ("http://[::1]:80", "[::1]:80"),
        ("app://obsidian.md", "obsidian.md"),
    ],
)
def test_the_end_of_a_host_tells_whose_page_it_is(origin: str, site: str) -> None:
    assert site_of(origin) == site


async def test_a_long_origin_is_asked_about_by_its_end_and_shown_whole(
    shown: Shown, qapp: object
) -> None:
    door = shown(Door())
    door.show_knocks((Knock(1.0, LONG, "GET", "Mozilla", "origin"),), ())
    line = next(iter(door._lines.values()))
    assert line.sentence.accessibleName() == "Let pages of evil.example use your models?"
    assert "<b>" in line.sentence.text()
    assert line.origin.text().replace("\u200b", "") == LONG
    assert line.origin.wordWrap()
    assert not line.buttons["allow"].autoDefault()
    assert line.buttons["allow"].property("kind") != "primary"


async def test_an_allowed_page_can_be_sent_away_in_the_same_place(
    shown: Shown, qapp: object
) -> None:
    door = shown(Door())
    door.show_knocks((STRANGER,), ())
    removed: list[str] = []
    door.removed.connect(removed.append)
    next(one for one in door.findChildren(Button) if one.text() == "Allow").click()
    door.show_knocks((STRANGER,), ("https://stranger.example",))
    next(one for one in door.findChildren(Button) if one.text() == "Undo").click()
    assert removed == ["https://stranger.example"]


async def test_lines_do_not_move_when_another_page_knocks(shown: Shown, qapp: object) -> None:
    door = shown(Door())
    other = Knock(9.0, "https://evil.example", "GET", "Mozilla", "origin")
    door.show_knocks((STRANGER,), ())
    before = next(iter(door._lines.values()))
    door.show_knocks((STRANGER, other), ())
    assert door._list.indexOf(before) == 0
    again = Knock(10.0, STRANGER.origin, "GET", "Mozilla", "origin")
    door.show_knocks((other, again), ())
    assert door._list.indexOf(before) == 0
    door.show_knocks((other,), ())
    buttons = [line.buttons["allow"] for line in door._lines.values()]
    assert [button.isEnabled() for button in buttons] == [False]


async def test_letters_of_another_script_are_pointed_out(shown: Shown, qapp: object) -> None:
    door = shown(Door())
    door.show_knocks((Knock(1.0, "https://xn--pple-43d.com", "GET", "x", "origin"),), ())
    assert not next(iter(door._lines.values())).note.isHidden()
