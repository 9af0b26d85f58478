import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QSettings

from app.plugins import page as plugins
from app.plugins.page import PluginsPage
from app.plugins.questions import ApprovalCard
from app.shell.window import Window
from server.errors import LinkLost
from server.face.plugins import CommonServer, OperationCard
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import ORDER, PORTFOLIO
from tests.kit.until import until

Shown = Callable[[Any], Any]
BROKER = replace(
    PORTFOLIO,
    key="broker",
    name="Broker",
    enabled=False,
    review=True,
    shipped=False,
    hosts=("api.broker.example",),
    secrets=("TOKEN",),
    missing_secrets=("TOKEN",),
    previous_version="0.9",
    operations=(OperationCard("POST /orders", "Places an order.", "change"),),
)


async def test_a_plugin_says_what_enabling_it_accepts(core: FakeCore, shown: Shown) -> None:
    page = shown(PluginsPage(core))
    assert page.empty.isVisible()
    core.plugins.cards.set((PORTFOLIO, BROKER))
    own, broker = page.list.rows
    assert own.switch.text() == "Disable"
    assert broker.switch.text() == "Accept and enable"
    assert "api.broker.example" in broker.review.text()
    assert "TOKEN" in broker.review.text()
    broker.switch.click()
    own.switch.click()
    await until(lambda: len(core.commands) == 2)
    assert core.commands == [("plugins.enable", "broker"), ("plugins.disable", "portfolio")]


async def test_tools_that_are_listed_are_shown_where_they_were_asked_for(
    core: FakeCore, shown: Shown
) -> None:
    """With them the card changes: it says what each may do."""
    page = shown(PluginsPage(core))
    first = replace(PORTFOLIO, key="clock", operations=(), flows=(), has_tools=True)
    core.plugins.cards.set((first, PORTFOLIO))
    box = page.list.rows[0]
    box.more.click()
    assert not box.abilities.isVisible()
    working = "Fetching the package mcp-server-time"
    core.plugins.cards.set((replace(first, working=working), PORTFOLIO))
    assert box.working.text() == working
    box.trial.finder.click()
    listed = (OperationCard("clock/now", "What time it is.", "change"),)
    core.plugins.cards.set((replace(first, operations=listed), PORTFOLIO))
    await until(lambda: box.trial.flow.count() == 1)
    assert page.list.rows[0] is box
    assert not box.working.isVisible()
    assert box.abilities.isVisible()
    box.policies["clock/now"].activated.emit(1)
    await until(lambda: core.commands[-1][0] == "plugins.set_policy")
    core.plugins.cards.set((first, PORTFOLIO))
    assert not box.abilities.isVisible()


async def test_folders_are_looked_at_while_the_page_is_shown(
    core: FakeCore, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_LOOK_MS", 5)
    page = shown(PluginsPage(core))
    await until(lambda: core.plugins.looks >= 3)
    page.hide()
    await asyncio.sleep(0)  # what was asked for until now
    looks = core.plugins.looks
    assert not page._looking.isActive()
    page.show()
    await until(lambda: core.plugins.looks > looks)


async def test_operations_secrets_and_versions_are_in_the_details(
    core: FakeCore, shown: Shown
) -> None:
    page = shown(PluginsPage(core))
    core.plugins.cards.set((BROKER,))
    (box,) = page.list.rows
    assert not box.details.isVisible()
    box.more.click()
    choice = box.policies["POST /orders"]
    choice.setCurrentIndex(2)
    choice.activated.emit(2)
    box.secrets["TOKEN"].setText("s3cret")
    box.secrets["TOKEN"].editingFinished.emit()
    box.secrets["TOKEN"].editingFinished.emit()
    box.back.click()
    box.remove.click()
    await until(lambda: len(core.commands) == 4)
    assert box.secrets["TOKEN"].text() == ""
    assert box.secrets["TOKEN"].placeholderText() == "Stored in the keychain"
    assert core.commands == [
        ("plugins.set_policy", "broker", "POST /orders", "block"),
        ("plugins.set_secret", "broker", "TOKEN", "s3cret"),
        ("plugins.roll_back", "broker"),
        ("plugins.remove", "broker"),
    ]


async def test_a_broken_plugin_cannot_be_enabled(core: FakeCore, shown: Shown) -> None:
    page = shown(PluginsPage(core))
    core.plugins.cards.set((replace(BROKER, state="broken", findings=("No manifest.",)),))
    (box,) = page.list.rows
    assert not box.switch.isEnabled()
    assert box.findings.text() == "No manifest."
    assert "broken" in box.state.text()


@pytest.mark.parametrize("decision", ["once", "always", "deny"])
async def test_a_call_waits_for_an_answer_on_every_page(
    decision: str, core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    assert not window.approvals.isVisible()
    core.plugins.approvals.set((ORDER, replace(ORDER, id="a2", can_always=False)))
    window.turn_to("Chat")
    assert window.approvals.isVisible()
    (card,) = window.approvals.findChildren(ApprovalCard)
    assert '"quantity": 10' in card.sent.toPlainText()
    assert "•••" in card.sent.toPlainText()
    getattr(card, decision).click()
    assert not card.once.isEnabled()
    await until(lambda: ("plugins.answer_approval", "a1", decision, "") in core.commands)
    (second,) = window.approvals.list.rows
    assert second.always.isHidden()
    second.deny.click()
    await until(lambda: not window.approvals.isVisible())


@pytest.mark.parametrize("decision", ["once", "deny"])
async def test_a_question_whose_answer_did_not_arrive_can_be_answered(
    decision: str, core: FakeCore, memory: QSettings, shown: Shown
) -> None:
    window = shown(Window(core, memory))
    core.plugins.approvals.set((ORDER,))
    core.refuse = LinkLost()
    (card,) = window.approvals.list.rows
    card.once.click()
    await until(window.banner.isVisible)
    getattr(card, decision).click()
    await until(lambda: core.commands == [("plugins.answer_approval", "a1", decision, "")])


async def test_without_a_keyring_the_page_says_where_secrets_lie(
    core: FakeCore, shown: Shown
) -> None:
    core.plain_file = "/home/me/secrets.json"
    core.plugins.cards.set((replace(PORTFOLIO, secrets=("TOKEN",)),))
    page = shown(PluginsPage(core))
    (box,) = page.list.rows
    await until(lambda: "unencrypted" in box.place.text())
    field = box.secrets["TOKEN"]
    field.settle(kept=True)
    assert field.placeholderText() == "Stored unencrypted"


async def test_a_common_server_is_added_with_the_hosts_that_are_named(
    core: FakeCore, shown: Shown
) -> None:
    fetch = CommonServer("fetch", "Fetches.", "Hosts.", "MIT", "uvx fetch", asks_hosts=True)
    core.plugins.common = (fetch, CommonServer("time", "Tells.", "-", "MIT", "uvx", added=True))
    page = shown(PluginsPage(core))
    await until(lambda: len(page.servers.rows) == 2)
    wanted, there = page.servers.rows
    assert not there.add.isEnabled()
    assert not there.hosts.isVisible()
    wanted.hosts.setText("wiki.test")
    wanted.add.click()
    await until(lambda: ("plugins.add_server", "fetch", "wiki.test") in core.commands)
    core.plugins.common = (replace(fetch, added=True),)
    await page._look()
    assert not page.servers.rows[0].add.isEnabled()
    core.plugins.common = ()
    await page._look()
    assert not page.common.isVisible()
