import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.hardware import HardwarePage, MemoryBar, gain_words, parts_of
from server import tasks
from server.errors import AppError, EgressRefused, ModelDamaged
from server.face.models import Building, Device, Fit, GraphicsOffer, Machine, Setup
from server.settings import Settings
from tests.kit.fake_core import LARGE, STARTER, FakeCore
from tests.kit.fake_shelf import MACHINE, PACE, TOO_LARGE, WELL, FakeModels
from tests.kit.until import until

Shown = Callable[[Any], Any]
CARD = Device("RTX", "CUDA", 9_000_000_000, 12_000_000_000)


class ModelsWithCard(FakeModels):
    """The model has 30 layers and was trained for 8,192 tokens."""

    async def survey_machine(self) -> Machine:
        await super().survey_machine()
        return replace(MACHINE, devices=(CARD,), engine_uses_gpu=True)

    async def estimate(self, name: str, setup: Setup) -> Fit:
        fit = await super().estimate(name, setup)
        return replace(fit, layers=30, trained_context_tokens=8192)


def core_with_card() -> FakeCore:
    core = FakeCore.ready()
    cards = core.models.cards.get()
    core.models = ModelsWithCard(core.take)
    core.models.cards.set(cards)
    return core


async def test_how_fast_the_machine_computes_is_measured_again(shown: Shown) -> None:
    core = core_with_card()
    page = await open_page(core, shown)
    assert page.machine.measure.text() == "Measure"
    page.machine.measure.click()
    await until(lambda: page.machine.measure.text() == "Measure again")
    assert ("models.measure_pace",) in core.commands
    assert "9.0 GB of weights" in page.machine.pace.text()


async def test_a_failed_measurement_is_offered_again(shown: Shown) -> None:
    core = core_with_card()
    page = await open_page(core, shown)
    for words in ("Measure", "Measure again"):
        core.refuse = AppError("No way.")
        with pytest.raises(AppError, match="No way"):
            await page.measure_pace()
        assert (page.machine.measure.isEnabled(), page.machine.measure.text()) == (True, words)
        core.models.pace.set(PACE)


async def test_a_pace_that_was_measured_meanwhile_is_shown(shown: Shown) -> None:
    core = core_with_card()
    page = await open_page(core, shown)
    assert "9.0 GB of weights" not in page.machine.pace.text()
    estimates = len([command for command in core.commands if command[0] == "models.estimate"])
    core.models.pace.set(PACE)
    assert "9.0 GB of weights" in page.machine.pace.text()
    await until(
        lambda: len([one for one in core.commands if one[0] == "models.estimate"]) > estimates
    )


def core_set_to(**chosen: object) -> FakeCore:
    core = core_with_card()
    core.settings.set(set_to(**chosen))
    return core


def set_to(**chosen: object) -> Settings:
    settings = Settings()
    for name, value in chosen.items():
        settings = settings.changed(f"model.{name}", value)
    return settings


async def open_page(core: FakeCore, shown: Shown) -> HardwarePage:
    page: HardwarePage = shown(HardwarePage(core))
    await until(lambda: page.fit.verdict.text() == "Runs well")
    return page


async def test_the_machine_is_told_in_words(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    assert page.machine.memory.accessibleName() == "17.2 GB memory"
    assert page.machine.cores.accessibleName() == "8 processor cores"
    assert "No usable graphics card" in page.machine.devices.text()
    assert not page.machine.warning.isVisible()
    assert not page.sliders["gpu_layers"].isVisible()


async def test_a_card_that_is_not_used_is_a_warning(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    page.show_machine(replace(MACHINE, devices=(CARD,)))
    assert page.machine.warning.isVisible()
    assert page.machine.devices.text() == "RTX (CUDA): 9.0 GB of 12.0 GB free"
    page.show_machine(replace(MACHINE, devices=(CARD,), engine_uses_gpu=True))
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
    assert ("models.estimate", STARTER.name, Setup(context_tokens=131_072)) in core.commands
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
    page.show_machine(replace(MACHINE, devices=(CARD,), engine_uses_gpu=True))
    assert not page.sliders["gpu_split"].isVisible()
    page.show_machine(replace(MACHINE, devices=(CARD, CARD), engine_uses_gpu=True))
    split = page.sliders["gpu_split"]
    assert split.isVisible()
    assert split.chosen.text() == "Automatic"
    split.slider.setValue(2)
    assert split.chosen.text() == "75% : 25%"
    page.sliders["batch_tokens"].slider.setValue(3)
    page.sliders["flash_attention"].slider.setValue(1)
    wanted = Setup(batch_tokens=1024, flash_attention=True, gpu_split=(3.0, 1.0))
    await until(lambda: ("models.estimate", STARTER.name, wanted) in core.commands)
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
    page._show_fit(replace(WELL, layers=30, trained_context_tokens=8192))
    assert page.sliders["context_tokens"].slider.maximum() == 3
    assert page.sliders["gpu_layers"].slider.maximum() == 31


async def test_the_layers_that_are_set_stay_set_before_and_after_the_estimate(
    shown: Shown, qapp: object
) -> None:
    core = core_set_to(gpu_layers=20)
    page: HardwarePage = shown(HardwarePage(core))
    layers = page.sliders["gpu_layers"]
    await until(layers.isVisible)
    assert (page.chosen()["gpu_layers"], layers.chosen.text()) == (20, "20")
    await until(lambda: layers.slider.maximum() == 31)
    assert (page.chosen()["gpu_layers"], layers.chosen.text()) == (20, "20")
    asked = [one[2] for one in core.commands if one[0] == "models.estimate"]
    assert {one.gpu_layers for one in asked} == {20}
    assert not page.apply.isEnabled()


async def test_unusual_values_that_are_set_are_shown_and_are_no_change(
    shown: Shown, qapp: object
) -> None:
    unusual = {"slots": 32, "context_tokens": 10_000, "threads": 200, "batch_tokens": 700}
    page = await open_page(core_set_to(gpu_layers=99, **unusual), shown)
    assert {name: page.sliders[name].value() for name in unusual} == unusual
    assert page.sliders["context_tokens"].chosen.text() == "10,000 tokens"
    assert page.sliders["gpu_layers"].chosen.text() == "99"
    assert not page.apply.isEnabled()
    assert not page.undo.isEnabled()


async def test_only_what_was_moved_is_written(shown: Shown, qapp: object) -> None:
    core = core_set_to(slots=32, context_tokens=10_000, gpu_layers=20)
    page = await open_page(core, shown)
    page.sliders["kv_type"].slider.setValue(1)
    page.apply.click()
    await until(lambda: core.settings.get().model.kv_type == "q8_0")
    assert ("change_settings", {"model.kv_type": "q8_0"}) in core.commands
    assert not page.undo.isEnabled()


async def test_what_was_moved_waits_while_the_rest_follows_the_settings(
    core: FakeCore, shown: Shown
) -> None:
    page = await open_page(core, shown)
    page.sliders["slots"].slider.setValue(0)
    core.settings.set(set_to(threads=5))
    page.show_machine(MACHINE)
    assert (page.sliders["slots"].value(), page.sliders["threads"].value()) == (1, 5)
    core.settings.set(set_to(slots=1))
    assert not page.undo.isEnabled()
    core.settings.set(set_to(slots=2))
    assert page.sliders["slots"].value() == 2


async def test_what_is_technical_about_a_failure_is_behind_details(
    core: FakeCore, shown: Shown
) -> None:
    page = await open_page(core, shown)
    core.refuse = ModelDamaged("m.gguf", "its header is cut off")
    page.estimate_soon()
    await until(lambda: page.fit.why.details is not None)
    assert page.fit.why.details.text.text() == "model_damaged"
    assert page.fit.verdict.text() == "Not known yet"
    core.refuse = EgressRefused("The driver cannot be asked.")
    await page.survey()
    assert page.machine.problem.text() == "The driver cannot be asked."
    assert page.machine.problem.details.text.text() == "egress_refused"
    assert not page.machine.devices.isVisible()
    await page.survey()
    assert not page.machine.problem.isVisible()
    assert page.machine.devices.isVisible()


async def test_an_estimate_that_fails_leaves_what_was_moved(shown: Shown, qapp: object) -> None:
    core = core_set_to()
    page = await open_page(core, shown)
    layers = page.sliders["gpu_layers"]
    await until(lambda: layers.slider.maximum() == 31)
    layers.slider.setValue(26)
    core.refuse = AppError("The file is damaged.")
    await until(lambda: page.fit.why.text() == "The file is damaged.")
    assert layers.value() == 25


def test_the_parts_of_the_memory_add_up() -> None:
    total = sum(part.size_bytes for part in parts_of(TOO_LARGE))
    assert total == TOO_LARGE.memory.needed


async def test_an_estimate_of_what_is_no_longer_chosen_is_not_shown(
    core: FakeCore, shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await open_page(core, shown)
    hold = asyncio.Event()

    async def estimate(name: str, _setup: object) -> Fit:
        if name == LARGE.name:
            await hold.wait()
            return TOO_LARGE
        return replace(WELL, why="The one that is chosen.")

    monkeypatch.setattr(core.models, "estimate", estimate)
    page.model.setCurrentIndex(page.model.findData(LARGE.name))
    late = tasks.spawn(page.estimate(), "late estimate")
    await asyncio.sleep(0)
    page.model.setCurrentIndex(page.model.findData(STARTER.name))
    await page.estimate()
    hold.set()
    await late
    assert page.fit.why.text() == "The one that is chosen."


async def test_support_for_the_card_is_offered_fetched_and_cancelled(
    core: FakeCore, shown: Shown
) -> None:
    page = await open_page(core, shown)
    assert not page.graphics.isVisible()
    core.graphics.offer.set(GraphicsOffer("cuda", "RTX 4070"))
    assert "RTX 4070 and its driver were found" in page.graphics.text.text()
    assert "processor" in page.graphics.text.text()
    page.graphics.check.click()
    await until(lambda: page.graphics.fetch.isVisible())
    assert page.graphics.fetch.text() == "Download (400 MB)"
    page.graphics.fetch.click()
    await until(lambda: page.graphics.row)
    assert page.graphics.row
    assert page.graphics.row.state.text().startswith("40 MB of 400 MB")
    assert not page.graphics.fetch.isVisible()
    page.graphics.row.cancel.click()
    await until(lambda: page.graphics.row is None)
    assert page.graphics.fetch.isVisible()
    assert ("graphics.cancel_download", "g1") in core.commands


async def test_what_is_compiled_shows_how_far_it_is_and_can_be_stopped(
    core: FakeCore, shown: Shown
) -> None:
    page = await open_page(core, shown)
    core.graphics.offer.set(GraphicsOffer("cuda", "RTX 4070", building=Building("vulkan", 41)))
    assert page.graphics.title.text() == "Support for Vulkan is being compiled"
    assert page.graphics.progress.value() == 41
    assert not page.graphics.check.isVisible()
    page.graphics.stop.click()
    await until(lambda: page.graphics.check.isVisible())
    assert not page.graphics.progress.isVisible()
    assert ("graphics.stop_building",) in core.commands


def test_the_gain_of_cuda_is_a_figure_only_where_it_was_measured() -> None:
    offer = GraphicsOffer("cuda", "RTX 4070", uses_vulkan=True)
    assert "not measured" in gain_words(offer)
    measured = replace(offer, times_vulkan=1.62, measured_on="RTX 4090")
    assert "1.6 times as fast as with Vulkan (RTX 4090)" in gain_words(measured)


async def test_the_measured_speed_is_shown_and_measured_again(core: FakeCore, shown: Shown) -> None:
    page = await open_page(core, shown)
    assert "Not measured yet" in page.speed.best.text()
    page.speed.measure.click()
    await until(lambda: "Flash attention on" in page.speed.best.text())
    assert "reads 250 and writes 19.5 tokens per second" in page.speed.best.text()
    assert "Flash attention off" in page.speed.others.text()
    assert "next start" in page.speed.note.text()
    assert page.speed.measure.isEnabled()
    assert ("speeds.measure", STARTER.name) in core.commands
    core.models.cards.set(())
    assert not page.speed.isVisible()


async def test_nothing_is_explained_before_it_is_known(shown: Shown) -> None:
    bar = shown(MemoryBar())
    assert not any(entry.isVisible() for entry in bar.findChildren(QWidget, "entry"))


async def test_a_legend_without_room_takes_another_line(shown: Shown) -> None:
    """In a small window and in German, the fourth entry was cut."""
    bar = shown(MemoryBar())
    memory = replace(TOO_LARGE.memory, gpu=1_000_000_000)
    bar.show_fit(replace(TOO_LARGE, memory=memory))
    entries = [entry for entry in bar.findChildren(QWidget, "entry") if entry.isVisible()]
    assert len(entries) == 4
    wide = sum(entry.sizeHint().width() for entry in entries)
    for width, lines in ((2 * wide, 1), (wide // 2, 2)):
        bar.resize(width, bar.heightForWidth(width))
        await until(lambda lines=lines: len({entry.y() for entry in entries}) >= lines)
        assert all(bar.rect().contains(entry.geometry()) for entry in entries)
        assert all(entry.width() >= entry.sizeHint().width() for entry in entries)
