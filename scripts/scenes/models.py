"""Models: none, some, searching for more, downloads in every phase, engines on other machines."""

import asyncio
from dataclasses import replace

from app.look.translate import tr
from app.models.page import DISCOVER, DOWNLOADS, ELSEWHERE, HERE, ModelsPage
from app.shell.window import Window
from scripts.scenes.base import Scene, lacking, opened
from server.errors import AppError, HubFailed
from server.face.core import ModelStatus
from server.face.models import Download, EngineState, Fit, Suggestion
from server.sentences import Sentence
from server.settings import EngineElsewhere
from server.sizes import in_gb
from tests.kit.fake_core import FakeCore
from tests.kit.fake_shelf import AT_FORTY, SUGGESTED, TOO_LARGE

TIGHT = Fit(
    "tight", Sentence("It takes {0}.", Sentence("{0} of the {1} free", in_gb(10.9e9), in_gb(12e9)))
)
SUGGESTIONS: list[Suggestion] = [
    SUGGESTED,
    replace(SUGGESTED, file="b", title="Qwen3 14B", recommended=False, fit=TIGHT),
    replace(SUGGESTED, file="c", title="Qwen3 30B A3B", recommended=False, fit=TOO_LARGE),
    replace(SUGGESTED, file="d", title="Qwen3 0.6B", recommended=False, installed=True),
]


def _part(window: Window, part: int) -> ModelsPage:
    page = opened(window, ModelsPage)
    page.parts.choose(part)
    return page


async def here(_core: FakeCore, window: Window) -> str:
    _part(window, HERE)
    return "Models"


async def empty(core: FakeCore, window: Window) -> str:
    core.models.cards.set(())
    core.model.set(ModelStatus())
    _part(window, HERE)
    return "Models"


async def delete(_core: FakeCore, window: Window) -> str:
    _part(window, HERE).installed.list.rows[1].remove.click()
    return "Models"


async def discover(_core: FakeCore, window: Window) -> str:
    page = _part(window, DISCOVER)
    await asyncio.sleep(0.1)
    page.discover.show_suggestions(SUGGESTIONS)
    return "Models"


async def searching(_core: FakeCore, window: Window) -> str:
    page = _part(window, DISCOVER)
    page.discover.search.setText("qwen3")
    await asyncio.sleep(0.1)
    await page.discover.look_up("qwen3")
    page.discover.show_busy(tr("Reading the files of {repo}…").format(repo="Qwen/Qwen3-8B-GGUF"))
    return "Models"


async def listing(_core: FakeCore, window: Window) -> str:
    page = _part(window, DISCOVER)
    await asyncio.sleep(0.1)
    await page.discover.open("maker/model-GGUF")
    return "Models"


async def card(core: FakeCore, window: Window) -> str:
    """Shows a model card, and the offer to use a login of this computer."""
    core.models.hub_login = "HF_TOKEN"
    page = _part(window, DISCOVER)
    await asyncio.sleep(0.1)
    await page.discover.open("maker/model-GGUF")
    await page.discover.read_card("maker/model-GGUF")
    return "Models"


async def newer(core: FakeCore, window: Window) -> str:
    name = core.models.cards.get()[-1].name
    page = _part(window, HERE)
    await page.installed.describe(name)
    await page.installed.find_newer(name)
    return "Models"


async def downloads(core: FakeCore, window: Window) -> str:
    _part(window, DOWNLOADS)
    reason, details = Sentence("The disk is full: {0} MB more are needed.", 1200), "disk_full"
    core.models.downloads.set(
        (
            AT_FORTY,
            Download("d2", "Qwen3-1.7B-Q8_0.gguf", "Qwen", "paused", 900_000_000, 1_830_000_000),
            Download(
                "d3",
                "Phi-4-mini-Q4_K_M.gguf",
                "a/b",
                "failed",
                1,
                2,
                reason=reason,
                details=details,
            ),
            Download("d4", "gemma-3-4b-it-Q4_K_M.gguf", "a/b", "verifying", 9, 10),
            Download("d5", "bge-small-en-Q8_0.gguf", "a/b", "done", 37_000_000, 37_000_000),
        )
    )
    return "Models"


CLUSTER = EngineElsewhere(name="Qwen3-32B", urls=("http://gpu-1:8000/v1", "http://gpu-2:8000/v1"))
BESIDE = EngineElsewhere(name="gemma-3-4b-it", urls=("http://127.0.0.1:8080/v1",))
GONE = EngineElsewhere(name="embedder", urls=("http://gpu-3:8000/v1",))


async def no_engines(_core: FakeCore, window: Window) -> str:
    _part(window, ELSEWHERE)
    return "Models"


async def engines(core: FakeCore, window: Window) -> str:
    core.engines.states.set(
        (
            EngineState(
                *(CLUSTER, "ready", "", "Qwen/Qwen3-32B", "vllm"),
                context_tokens=32768,
                parameters=32_000_000_000,
                out=("gpu-2:8000",),
            ),
            EngineState(
                *(BESIDE, "ready", "", "gemma-3-4b-it", "llama-server", 8192), sees_images=True
            ),
        )
    )
    core.model.set(
        ModelStatus("ready", CLUSTER.name, 1.0, "", 32768, "remote", hosts=CLUSTER.hosts)
    )
    page = _part(window, ELSEWHERE)
    page.engine_form.urls.setText("http://gpu-4:30000/v1")
    await page.engine_form.try_out(GONE, "")
    return "Models"


async def engine_failed(core: FakeCore, window: Window) -> str:
    reason = Sentence("The engine at {0} cannot be reached or broke off.", "gpu-3:8000")
    core.engines.states.set((EngineState(GONE, "failed", reason),))
    page = _part(window, ELSEWHERE)
    core.refuse = AppError(Sentence("The engine at {0} does not accept our key.", "gpu-3:8000"))
    await page.engine_form.try_out(GONE, "")
    return "Models"


async def failed(core: FakeCore, window: Window) -> str:
    """Shows that the hub cannot be reached."""
    page = _part(window, DISCOVER)
    await asyncio.sleep(0.1)
    core.refuse = HubFailed(
        Sentence(
            "Cannot reach {0}. Check the connection, or set a mirror in Settings → Network.",
            "huggingface.co",
        )
    )
    page.run(page.discover.look_up("qwen3"))
    return "Models"


async def unfit(core: FakeCore, window: Window) -> str:
    """Shows only the model that does not fit, and how much memory it lacks."""
    page = _part(window, DISCOVER)
    await asyncio.sleep(0.1)
    page.discover.show_suggestions([SUGGESTIONS[2]])
    reason = lacking(19.2e9, 12e9)
    core.model.set(ModelStatus("failed", "Qwen3-30B-A3B", reason=reason))
    return "Models"


SCENES: dict[str, Scene] = {
    "models-here": here,
    "models-empty": empty,
    "models-delete": delete,
    "models-elsewhere-empty": no_engines,
    "models-elsewhere": engines,
    "models-elsewhere-failed": engine_failed,
    "models-discover": discover,
    "models-searching": searching,
    "models-listing": listing,
    "models-card": card,
    "models-newer": newer,
    "models-failed": failed,
    "models-unfit": unfit,
    "models-downloads": downloads,
}
