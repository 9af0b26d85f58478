from collections.abc import Callable
from typing import Any

import pytest

from app.probe import NAME
from app.widgets.controls import Button
from app.widgets.door import Door, visitors
from server.face import Knock

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
