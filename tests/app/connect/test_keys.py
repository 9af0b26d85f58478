"""The part of the Connect page about named keys."""

from collections.abc import Callable

from app.connect.page import ConnectPage
from server.errors import BadRequest
from server.face.core import KeyCard, KeyLimits
from tests.kit.fake_core import FakeCore
from tests.kit.until import until

Shown = Callable[..., ConnectPage]


async def test_a_key_is_made_shown_once_and_revoked_after_a_question(
    core: FakeCore, shown: Shown
) -> None:
    keys = shown(ConnectPage(core)).keys
    assert keys.empty.isVisibleTo(keys)
    keys.name.setText(" anna ")
    keys.models.setText("a, b")
    keys.at_once.setValue(2)
    keys.tokens.setValue(900)
    keys.add.click()
    await until(lambda: keys.key.text() == "moat-key-of-anna")
    assert core.commands[-1] == ("add_key", "anna", KeyLimits(("a", "b"), 2, 900))
    (line,) = keys.list.rows
    assert line.limits.text() == "0 of 900 tokens today  ·  2 at a time  ·  only a, b"
    assert "No key is required" in keys.unasked.text()
    assert (keys.name.text(), keys.tokens.value()) == ("", 0)
    line.remove.click()
    assert core.commands[-1][0] == "add_key"
    line.sure.click()
    await until(lambda: not keys.list.rows)
    assert core.commands[-1] == ("revoke_key", "anna")


async def test_what_is_refused_is_said(core: FakeCore, shown: Shown) -> None:
    keys = shown(ConnectPage(core)).keys
    core.refuse = BadRequest("A key needs a name of 1 to 60 characters.")
    keys.add.click()
    await until(lambda: "needs a name" in keys.state.text())
    assert keys.made.isHidden()


async def test_a_key_that_may_all_shows_only_what_it_used(core: FakeCore, shown: Shown) -> None:
    core.keys.set((KeyCard("bob", tokens_today=1200),))
    (line,) = shown(ConnectPage(core)).keys.list.rows
    assert line.limits.text() == "1,200 tokens today"


async def test_a_new_key_is_gone_when_the_page_is_left(core: FakeCore, shown: Shown) -> None:
    page = shown(ConnectPage(core))
    page.keys.name.setText("anna")
    page.keys.add.click()
    await until(lambda: page.keys.made.isVisible())
    page.hide()
    page.show()
    assert (page.keys.key.text(), page.keys.state.text()) == ("", "")
    assert page.keys.made.isHidden()
