from collections.abc import Callable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.pages.hardware import HardwarePage
from app.widgets.memory_bar import parts_of
from server.errors import AppError
from server.stock import Device, Setup
from tests.app.until import until
from tests.fake_core import STARTER, FakeCore
from tests.fake_shelf import MACHINE, TOO_LARGE, WELL

Shown = Callable[[Any], Any]


async def open_page(core: FakeCore, shown: Shown) -> HardwarePage:
    page: HardwarePage = shown(HardwarePage(core))
    await until(lambda: page.fit.verdict.text() == "Runs well")
    return page


async def test_the_machine_is_told_in_words(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    assert page.machine.memory.accessibleName() == "17.2 GB memory"
    assert page.machine.cores.accessibleName() == "8 processor cores"
    assert "No graphics card" in page.machine.devices.text()
    assert not page.machine.warning.isVisible()
    assert not page.sliders["gpu_layers"].isVisible()


async def test_a_card_that_is_not_used_is_a_warning(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    card = Device("RTX", "CUDA", 9_000_000_000, 12_000_000_000)
    page.show_machine(replace(MACHINE, devices=(card,)))
    assert page.machine.warning.isVisible()
    assert page.machine.devices.text() == "RTX (CUDA): 9.0 GB of 12.0 GB free"
    page.show_machine(replace(MACHINE, devices=(card,), engine_uses_gpu=True))
    assert not page.machine.warning.isVisible()


async def test_every_change_shows_the_new_estimate_at_once(
    core: FakeCore, shown: Shown, qtbot: QtBot
) -> None:
    page = await open_page(core, shown)
    slider = page.sliders["context_tokens"].slider
    assert page.sliders["context_tokens"].chosen.text() == "Automatic"
    qtbot.keyClick(slider, Qt.Key.Key_End)
    assert page.sliders["context_tokens"].chosen.text() == "131,072 tokens"
    await until(lambda: page.fit.verdict.text() == "Does not fit")
    assert ("estimate_model", STARTER.name, Setup(context_tokens=131_072)) in core.commands
    assert "Context 17.2 GB" in page.bar.accessibleName()


async def test_the_chosen_settings_are_used_together(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    assert not page.apply.isEnabled()
    page.sliders["kv_type"].slider.setValue(1)
    page.sliders["threads"].slider.setValue(3)
    page.apply.click()
    await until(lambda: core.settings.get().model.threads == 3)
    assert ("change_settings", {"model.kv_type": "q8_0", "model.threads": 3}) in core.commands
    assert not page.apply.isEnabled()


async def test_the_work_of_several_cards_can_be_split(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    card = Device("RTX", "CUDA", 9_000_000_000, 12_000_000_000)
    page.show_machine(replace(MACHINE, devices=(card,), engine_uses_gpu=True))
    assert not page.sliders["gpu_split"].isVisible()
    page.show_machine(replace(MACHINE, devices=(card, card), engine_uses_gpu=True))
    split = page.sliders["gpu_split"]
    assert split.isVisible()
    assert split.chosen.text() == "Automatic"
    split.slider.setValue(2)
    assert split.chosen.text() == "75% : 25%"
    page.sliders["batch_tokens"].slider.setValue(3)
    page.sliders["flash_attention"].slider.setValue(1)
    wanted = Setup(batch_tokens=1024, flash_attention=True, gpu_split=(3.0, 1.0))
    await until(lambda: ("estimate_model", STARTER.name, wanted) in core.commands)
    page.apply.click()
    await until(lambda: core.settings.get().model.gpu_split == (3.0, 1.0))
    assert core.settings.get().model.flash_attention == "on"


async def test_undo_goes_back_to_the_settings(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    page.sliders["slots"].slider.setValue(0)
    page.undo.click()
    assert page.sliders["slots"].value() == 4
    assert not page.undo.isEnabled()


async def test_what_the_model_allows_is_what_is_offered(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    core.refuse = AppError("The file is damaged.")
    page.estimate_soon()
    await until(lambda: page.fit.why.text() == "The file is damaged.")
    page._show_fit(replace(WELL, layers=30, trained_context_tokens=8192), page.chosen())
    assert page.sliders["context_tokens"].slider.maximum() == 3
    assert page.sliders["gpu_layers"].slider.maximum() == 31


def test_the_parts_of_the_memory_add_up() -> None:
    total = sum(part.size_bytes for part in parts_of(TOO_LARGE))
    assert total == TOO_LARGE.memory.needed
