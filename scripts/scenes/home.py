"""Home: stopped, loading, ready, busy, failed."""

import math
import time

from app.shell.window import Window
from scripts.scenes.base import LONG_NAME, Scene, lacking
from server.errors import LinkLost
from server.face.core import Load, ModelStatus, RunningRequest, ServerStatus
from server.sentences import Sentence
from tests.kit.fake_core import FakeCore


async def stopped(core: FakeCore, _window: Window) -> str:
    core.server.set(ServerStatus("stopped"))
    core.model.set(ModelStatus())
    return "Home"


async def loading(core: FakeCore, _window: Window) -> str:
    core.model.set(ModelStatus("loading", "Qwen3-8B", 0.42))
    return "Home"


async def ready(_core: FakeCore, _window: Window) -> str:
    return "Home"


async def busy(core: FakeCore, _window: Window) -> str:
    for number in range(200):
        wave = 24 + 9 * math.sin(number / 9) + 4 * math.sin(number / 2.3)
        core.load.set(Load(2, 1, round(wave, 1), 4200 + min(number, 150) * 10 + number % 7))
    now, route = time.time(), "/v1/chat/completions"
    core.requests.set(
        (
            RunningRequest(1, "OpenBB Workspace", "/v1/query", "Qwen3-8B", now, "writing", 318),
            RunningRequest(2, "openai-python", route, "Qwen3-8B", now, "reading", 0, 8192, 20480),
            RunningRequest(3, "", route, "Qwen3-8B", now, "waiting"),
        )
    )
    core.load.set(Load(2, 1, 34.7, 5820))
    return "Home"


async def failed(core: FakeCore, _window: Window) -> str:
    reason = lacking(5.4e9, 3.1e9)
    core.model.set(ModelStatus("failed", "Qwen3-8B", reason=reason, details="out_of_memory"))
    return "Home"


async def notices(core: FakeCore, window: Window) -> str:
    core.server.set(
        ServerStatus(
            "ready",
            "http://127.0.0.1:7778",
            port_note=Sentence(
                "Port {0} is taken{1}; {2} uses {3}.",
                7777,
                Sentence(" by {0}", "nginx"),
                "Moat",
                7778,
            ),
        )
    )
    core.notices.set(
        (
            Sentence(
                "This system has no usable keyring: secrets are stored unencrypted in {0}.",
                "secrets.json",
            ),
            Sentence(
                "The settings file could not be read; it was saved as {0}.",
                "settings.broken-1.json",
            ),
        )
    )
    core.model.set(ModelStatus("ready", LONG_NAME, 1, context_tokens=65536, device="CPU"))
    window.show_failure(LinkLost())
    return "Home"


SCENES: dict[str, Scene] = {
    "home-stopped": stopped,
    "home-loading": loading,
    "home-ready": ready,
    "home-busy": busy,
    "home-failed": failed,
    "home-notices": notices,
}
