"""Hardware: no model, a model that fits, one that hardly fits, a machine that does not answer."""

import asyncio
import errno
import os
from dataclasses import replace

from app.hardware import HardwarePage
from app.shell.window import Window
from scripts.scenes.base import Scene, opened
from server.face.core import ModelStatus
from server.face.models import Device, GraphicsOffer
from server.models.machine import explain_unused
from server.web.app import _of_the_system
from tests.kit.fake_core import FakeCore
from tests.kit.fake_shelf import AT_TEN, MACHINE


async def full(_core: FakeCore, _window: Window) -> str:
    return "Hardware"


async def empty(core: FakeCore, _window: Window) -> str:
    core.models.cards.set(())
    core.model.set(ModelStatus())
    return "Hardware"


async def busy(core: FakeCore, _window: Window) -> str:
    core.models.ready_to_survey.clear()
    return "Hardware"


async def failed(core: FakeCore, _window: Window) -> str:
    core.refuse = _of_the_system(OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)))
    return "Hardware"


async def tight(_core: FakeCore, window: Window) -> str:
    page = opened(window, HardwarePage)
    await asyncio.sleep(0.3)
    page.sliders["context_tokens"].slider.setValue(7)
    await asyncio.sleep(0.3)
    card = Device("NVIDIA RTX 4070", "CUDA", 9_900_000_000, 12_000_000_000)
    note = explain_unused((card,), {})
    page.show_machine(replace(MACHINE, devices=(card,), note=note, features=("AVX2", "FMA")))
    page.sliders["context_tokens"].slider.setValue(7)
    return "Hardware"


async def offered(core: FakeCore, window: Window) -> str:
    page = opened(window, HardwarePage)
    await asyncio.sleep(0.3)
    card = Device("NVIDIA RTX 4070", "Vulkan", 9_900_000_000, 12_000_000_000)
    page.show_machine(replace(MACHINE, devices=(card,), engine_uses_gpu=True))
    core.graphics.offer.set(
        GraphicsOffer(
            "cuda", card.name, size_bytes=412_000_000, times_vulkan=1.6, measured_on="RTX 4090"
        )
    )
    return "Hardware"


async def fetching(core: FakeCore, window: Window) -> str:
    await offered(core, window)
    core.graphics.offer.set(replace(core.graphics.offer.get(), download=AT_TEN))
    return "Hardware"


SCENES: dict[str, Scene] = {
    "hardware": full,
    "hardware-empty": empty,
    "hardware-busy": busy,
    "hardware-failed": failed,
    "hardware-tight": tight,
    "hardware-offered": offered,
    "hardware-fetching": fetching,
}
