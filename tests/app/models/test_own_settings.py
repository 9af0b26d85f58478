from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.models.installed import InstalledRow
from app.models.page import ModelsPage
from server.errors import BadRequest
from server.settings import OWN_FIELDS, Settings
from tests.kit.fake_core import LARGE, FakeCore
from tests.kit.until import until

Shown = Callable[[Any], Any]


async def opened(page: ModelsPage) -> Any:
    large: InstalledRow = page.installed.list.rows[1]
    large.about.click()
    await until(lambda: bool(large.details and large.details.isVisible()))
    assert large.details
    return large.details.own


async def test_a_setting_of_one_model_is_entered_shown_and_reset(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    box = await opened(shown(ModelsPage(core)))
    assert box.fields.keys() == OWN_FIELDS.keys()
    assert all(control.accessibleName() for control in box.fields.values())
    warm = box.fields["temperature"]
    assert (warm.text(), warm.placeholderText()) == ("", "Default: 0.8")
    qtbot.keyClicks(warm, "0,3")
    qtbot.keyClick(warm, Qt.Key.Key_Return)
    await until(lambda: core.settings.get().model.own_of(LARGE.name).temperature == 0.3)
    assert box.summary.text() == "Set for this model alone: Temperature."
    box.fields["thinking"].setCurrentIndex(2)
    await until(lambda: core.settings.get().model.own_of(LARGE.name).thinking == "off")
    box.reset.click()
    await until(lambda: not core.settings.get().model.own_of(LARGE.name).values)
    assert (warm.text(), box.reset.isEnabled()) == ("", False)


async def test_it_says_what_holds_otherwise(core: FakeCore, shown: Shown) -> None:
    box = await opened(shown(ModelsPage(core)))
    context = box.fields["context_tokens"]
    assert context.placeholderText() == "All models: Automatic"
    core.settings.set(Settings().changed("model.context_tokens", 8192))
    assert context.placeholderText() == "All models: 8192"
    own = {"name": LARGE.name, "context_tokens": 64}
    core.settings.set(Settings().changed("model.own", (own,)))
    assert context.text() == "64"


async def test_a_refused_value_is_explained_and_stays_to_be_mended(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    box = await opened(shown(ModelsPage(core)))
    core.refuse = BadRequest("Temperature: too warm.")
    warm = box.fields["temperature"]
    qtbot.keyClicks(warm, "9")
    qtbot.keyClick(warm, Qt.Key.Key_Return)
    await until(box.problem.isVisible)
    assert (box.problem.text(), warm.text()) == ("Temperature: too warm.", "9")
    assert core.settings.get().model.own == ()


async def test_a_system_prompt_is_taken_when_it_is_left(
    qtbot: QtBot, core: FakeCore, shown: Shown
) -> None:
    box = await opened(shown(ModelsPage(core)))
    prompt = box.fields["system_prompt"]
    prompt.setFocus()
    await until(prompt.hasFocus)
    qtbot.keyClicks(prompt, "Be brief.")
    box.fields["top_k"].setFocus()
    await until(lambda: core.settings.get().model.own_of(LARGE.name).system_prompt == "Be brief.")
