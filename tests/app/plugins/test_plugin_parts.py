"""Options, trial and log of a plugin's card, as a person uses them."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QLineEdit

from app.plugins.card import PluginBox, review_words
from app.plugins.page import PluginsPage
from server.errors import AppError
from server.face.plugins import OperationCard, OptionCard, PluginCard
from tests.kit.fake_core import FakeCore
from tests.kit.fake_plugins import PORTFOLIO
from tests.kit.until import until

Shown = Callable[[Any], Any]
FULL = replace(
    PORTFOLIO,
    options=(
        OptionCard("positions", "Your positions", "file"),
        OptionCard("roots", "Folders", "folders", "/a"),
        OptionCard("server", "Address of its API", "text", "http://127.0.0.1:9"),
    ),
    operations=(OperationCard("DELETE /things", "Away.", "danger"),),
    question="What is it worth?",
    sign_in="needed",
)


def opened(core: FakeCore, shown: Shown, card: PluginCard = FULL) -> PluginBox:
    page = shown(PluginsPage(core))
    core.plugins.cards.set((card,))
    (box,) = page.list.rows
    box.more.click()
    return box


async def test_options_are_set_where_they_are_shown(core: FakeCore, shown: Shown) -> None:
    box = opened(core, shown)
    fields = box.options.fields
    fields["positions"].take("/me/positions.csv")
    fields["roots"].take("/b")
    fields["server"].edit.setText("http://127.0.0.1:10")
    fields["server"].edit.editingFinished.emit()
    box.options.changing.click()
    await until(lambda: len(core.commands) == 4)
    assert core.commands == [
        ("plugins.set_option", "portfolio", "positions", "/me/positions.csv"),
        ("plugins.set_option", "portfolio", "roots", "/a\n/b"),
        ("plugins.set_option", "portfolio", "server", "http://127.0.0.1:10"),
        ("plugins.set_option", "portfolio", "changing_methods", "true"),
    ]
    core.plugins.cards.set((replace(FULL, changing_methods=True),))
    core.plugins.cards.set((FULL,))
    assert not box.options.changing.isChecked()
    assert len(core.commands) == 4


async def test_it_is_tried_dry_mocked_and_for_real(core: FakeCore, shown: Shown) -> None:
    box = opened(core, shown)
    trial = box.trial
    for mode, button in trial.modes.items():
        button.click()
        await until(lambda mode=mode: core.commands[-1:] == [_tried(mode)])
        await until(trial.result.isVisible)
    assert "GET http://127.0.0.1/value" in trial.result.toPlainText()
    assert trial.state.text() == "Done."
    core.refuse = AppError("No usable flow.")
    trial.modes["dry"].click()
    await until(lambda: trial.state.text() == "No usable flow.")
    trial.question.clear()
    assert not any(button.isEnabled() for button in trial.modes.values())


async def test_what_is_disabled_can_be_tried_but_not_run(core: FakeCore, shown: Shown) -> None:
    box = opened(core, shown)
    core.plugins.cards.set((replace(FULL, enabled=False),))
    assert not box.trial.modes["run"].isEnabled()
    assert box.trial.modes["dry"].isEnabled()


async def test_a_tool_is_tried_with_a_form_of_its_arguments(core: FakeCore, shown: Shown) -> None:
    box = opened(core, shown, replace(FULL, has_tools=True))
    trial = box.trial
    trial.finder.click()
    await until(lambda: trial.flow.findData("clock/now") >= 0)
    trial.flow.setCurrentIndex(trial.flow.findData("clock/now"))
    assert trial.form is not None
    assert trial.question.isHidden()
    assert not trial.modes["run"].isEnabled()
    zone = trial.form.fields["zone"]
    assert isinstance(zone, QLineEdit)
    zone.setText("UTC")
    trial.modes["run"].click()
    tried = ("plugins.try_tool", "portfolio", "clock/now", '{"zone": "UTC"}', "run")
    await until(lambda: core.commands[-1:] == [tried])
    await until(lambda: "It is ten." in trial.result.toPlainText())
    trial.flow.setCurrentIndex(0)
    assert trial.form is None
    assert not trial.question.isHidden()


def test_a_person_reads_whether_walls_surround_what_it_runs() -> None:
    code, program = replace(FULL, runs_code=True), replace(FULL, runs_code=False, commands=("x",))
    for card in (code, program):
        walled, free = (review_words(replace(card, walled=walled)) for walled in (True, False))
        assert "in a sandbox" in walled
        assert "user rights" not in walled
        assert "in a sandbox" not in free
        assert free.count("user rights") == 1
    idle = review_words(replace(FULL, runs_code=False, commands=(), walled=True))
    assert "sandbox" not in idle


async def test_an_address_that_is_not_set_is_said(core: FakeCore, shown: Shown) -> None:
    unset = replace(FULL, enabled=False, options=(OptionCard("server", "Address", "text"),))
    assert "not set yet" in review_words(unset)
    assert "not connect to anything outside" not in review_words(
        replace(unset, secrets=(), runs_code=False)
    )


async def test_its_log_and_its_sign_in(core: FakeCore, shown: Shown, monkeypatch: Any) -> None:
    opened_urls: list[str] = []
    monkeypatch.setattr(
        "app.plugins.card.QDesktopServices.openUrl", lambda url: opened_urls.append(url.toString())
    )
    box = opened(core, shown)
    box.log.read.click()
    await until(box.log.lines.isVisible)
    assert "run value" in box.log.lines.toPlainText()
    assert box.signing.text() == "Sign in"
    box.signing.click()
    await until(lambda: opened_urls == ["http://127.0.0.1:9/authorize"])
    core.plugins.cards.set((replace(FULL, sign_in="done"),))
    assert box.signing.text() == "Sign out"
    box.signing.click()
    await until(lambda: ("plugins.sign_out", "portfolio") in core.commands)


async def test_paused_plugins_are_said_and_resumed(core: FakeCore, shown: Shown) -> None:
    page = shown(PluginsPage(core))
    assert not page.paused.isVisible()
    await core.change_setting("plugins.paused", True)
    assert page.paused.isVisible()
    page.resume.click()
    await until(lambda: not page.paused.isVisible())


def _tried(mode: str) -> tuple[str, ...]:
    return ("plugins.test", "portfolio", "value", "What is it worth?", mode)


async def refused(core: FakeCore, change: Callable[[], object]) -> None:
    core.refuse = AppError("No.")
    change()
    await until(lambda: core.refuse is None)
    await asyncio.sleep(0)


async def test_what_is_refused_is_not_shown_as_if_it_held(core: FakeCore, shown: Shown) -> None:
    box = opened(core, shown)
    policy = box.policies["DELETE /things"]
    policy.setCurrentIndex(1)
    await refused(core, lambda: policy.activated.emit(1))
    assert policy.currentData() == "default"
    await refused(core, box.options.changing.click)
    assert not box.options.changing.isChecked()
    field = box.options.fields["positions"]
    await refused(core, lambda: field.take("/gone.csv"))
    assert field.text() == ""
    field.take("/gone.csv")
    await until(lambda: len(core.commands) == 1)
    assert core.commands == [("plugins.set_option", "portfolio", "positions", "/gone.csv")]


async def test_an_option_that_is_being_written_can_be_sent_again(
    core: FakeCore, shown: Shown
) -> None:
    box = opened(core, shown)
    edit = box.options.fields["server"].edit
    await until(edit.isVisible)
    edit.setFocus()
    await until(edit.hasFocus)
    edit.setText("http://127.0.0.1:10")
    await refused(core, edit.editingFinished.emit)
    assert edit.text() == "http://127.0.0.1:10"
    edit.editingFinished.emit()
    await until(lambda: len(core.commands) == 1)


async def test_a_dangerous_operation_is_not_offered_without_asking(
    core: FakeCore, shown: Shown
) -> None:
    policy = opened(core, shown).policies["DELETE /things"]
    assert [policy.itemData(at) for at in range(policy.count())] == ["default", "block"]


async def test_a_secret_stays_in_its_field_until_it_is_kept(core: FakeCore, shown: Shown) -> None:
    page = shown(PluginsPage(core))
    core.plugins.cards.set((replace(FULL, secrets=("TOKEN",), missing_secrets=("TOKEN",)),))
    field = page.list.rows[0].secrets["TOKEN"]
    field.setText("s3cret")
    await refused(core, field.editingFinished.emit)
    assert (field.text(), field.placeholderText()) == ("s3cret", "Not set yet")
    assert not field.isReadOnly()
    field.editingFinished.emit()
    await until(lambda: field.text() == "")
    assert field.placeholderText() == "Stored in the keychain"
    assert core.commands == [("plugins.set_secret", "portfolio", "TOKEN", "s3cret")]
