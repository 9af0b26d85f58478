"""The parts of a fake core about models and engines: tests set values, calls are recorded."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from server.face.models import (
    Calibration,
    Download,
    EngineState,
    Fit,
    FoundFolder,
    GraphicsOffer,
    HubCard,
    HubFile,
    HubListing,
    HubModel,
    Machine,
    Memory,
    ModelCard,
    ModelDetail,
    Newer,
    Pace,
    Rate,
    Row,
    ScanIssue,
    Setup,
    SpeedTrial,
    Suggestion,
)
from server.models.fit import BITS, _verdict
from server.models.gguf.templates import compare
from server.models.machine import name_build
from server.models.memory import Layout
from server.observe import Value
from server.settings import EngineElsewhere, OwnSettings, Settings

GB = 1 << 30
MEMORY = Memory(weights=2 * GB, cache=GB // 2, compute=GB // 4, program=GB // 8)
LARGE_MEMORY = Memory(weights=2 * GB, cache=16 * GB, compute=GB, program=GB // 8)
MACHINE = Machine(16 * GB, 12 * GB, 8)


def judged(memory: Memory) -> Fit:
    """Returns the server's verdict on a model that needs this much memory on `MACHINE`."""
    layout = Layout(30, 2048, 16, (1024,) * 30, 0, 0, 32_000, 40_960)
    verdict, why = _verdict(memory, Setup(context_tokens=8192), MACHINE, layout, "")
    return Fit(verdict, why, memory, memory.needed, MACHINE.free_bytes)


def rate(form: str, bytes_per_s: float, values_per_s: float, row_s: float = 0.0) -> Rate:
    """Returns a pace at which every row takes `row_s` besides its bytes and values."""
    short, long = (
        Row(
            values,
            values * BITS[form] / 8,
            row_s + values * BITS[form] / 8 / bytes_per_s,
            row_s + values / values_per_s,
        )
        for values in (512, 4096)
    )
    return Rate(form, short, long)


WELL = judged(MEMORY)
TOO_LARGE = judged(LARGE_MEMORY)
PACE = Pace((rate("Q4_K", 9e9, 4e10), rate("F16", 1e10, 3e10)), 1e-6, measured_at=1_790_000_000.0)
FOUND = HubModel("maker/model-GGUF", 1200, 34, "apache-2.0", updated="2026-01-02")
LISTING = HubListing(
    "maker/model-GGUF",
    "main",
    "apache-2.0",
    gated=False,
    address="https://huggingface.co/maker/model-GGUF",
    files=(
        HubFile("m-Q4_K_M.gguf", "Q4_K_M", ("m-Q4_K_M.gguf",), 2 * GB, WELL, recommended=True),
        HubFile("m-F16.gguf", "F16", ("m-F16.gguf",), 18 * GB, TOO_LARGE),
    ),
)
CARD = HubCard(
    "maker/model-GGUF",
    "0123456789abcdef0123456789abcdef01234567",
    "other",
    "maker-licence",
    "https://huggingface.co/maker/model-GGUF/blob/main/LICENSE",
    is_scanned=True,
    issues=(ScanIssue("old.bin", "suspicious"),),
    text="# Model\n\nA **small** model. ![logo](https://elsewhere.example/logo.png)",
)
SUGGESTED = Suggestion(
    "maker/model-GGUF",
    "m-Q4_K_M.gguf",
    "Model 4B",
    "Sound analysis and reliable tool calls; needs 8 GB of free memory.",
    ("chat", "tools"),
    "apache-2.0",
    4_000_000_000,
    2 * GB,
    40960,
    WELL,
    recommended=True,
)
AT_FORTY = Download(
    "d1", "m-Q4_K_M.gguf", "maker/model-GGUF", "running", 4 * GB // 5, 2 * GB, 9_000_000, 140.0
)
AT_TEN = Download(
    "g1", "moat-backend-cuda.tar.xz", "moat/cuda", "running", 40_000_000, 400_000_000, 9e6, 40.0
)


def measured(name: str) -> Calibration:
    slow = SpeedTrial(flash_attention=False, batch_tokens=512, threads=4, read=210.0, write=18.0)
    fast = SpeedTrial(flash_attention=True, batch_tokens=512, threads=4, read=250.0, write=19.5)
    return Calibration(
        name,
        "key",
        flash_attention=True,
        batch_tokens=512,
        threads=4,
        depth=128,
        took_s=6.2,
        measured_at=1_790_000_000.0,
        trials=(slow, fast),
    )


class FakeModels:
    """Implements server.face.models.ModelsFace. `take` records a call and may refuse it."""

    def __init__(self, take: Callable[..., None], settings: Value[Settings] | None = None) -> None:
        self._take = take
        self.settings = settings or Value(Settings())
        self.cards: Value[tuple[ModelCard, ...]] = Value(())
        self.downloads: Value[tuple[Download, ...]] = Value(())
        self.pace: Value[Pace] = Value(Pace())
        self.suggested: list[Suggestion] = [SUGGESTED]
        self.refreshing: Value[str] = Value("")
        self.ready_to_survey = asyncio.Event()
        self.ready_to_survey.set()
        self.hub_login = ""

    async def search(self, text: str) -> list[HubModel]:
        self._take("models.search", text)
        return [FOUND]

    async def list_repository(self, repo: str) -> HubListing:
        self._take("models.list_repository", repo)
        return LISTING

    async def download(self, repo: str, file: str) -> str:
        self._take("models.download", repo, file)
        self.downloads.set((AT_FORTY,))
        return AT_FORTY.id

    async def pause_download(self, download_id: str) -> None:
        self._take("models.pause_download", download_id)

    async def resume_download(self, download_id: str) -> None:
        self._take("models.resume_download", download_id)

    async def cancel_download(self, download_id: str) -> None:
        self._take("models.cancel_download", download_id)
        self.downloads.set(())

    async def import_file(self, path: str) -> str:
        self._take("models.import_file", path)
        return "imported"

    async def delete(self, name: str) -> int:
        self._take("models.delete", name)
        return 2 * GB

    async def describe(self, name: str) -> ModelDetail:
        self._take("models.describe", name)
        differs = compare("{{ messages[0] }}", "{{ messages }}")
        return ModelDetail(
            name,
            f"/models/{name}.gguf",
            2 * GB,
            title=name,
            tool_style="hermes",
            template="{{ messages }}",
            template_notes=(differs,),
            fit=WELL,
        )

    async def change_own_setting(self, name: str, field: str, value: Any) -> None:
        self._take("models.change_own_setting", name, field, value)
        settings = self.settings.get()
        own = OwnSettings.model_validate({**settings.model.own_of(name).model_dump(), field: value})
        others = tuple(one for one in settings.model.own if one.name != name)
        self.settings.set(settings.changed("model.own", (*others, own)))

    async def estimate(self, name: str, setup: Setup) -> Fit:
        self._take("models.estimate", name, setup)
        return TOO_LARGE if setup.context_tokens > 100_000 else WELL

    async def suggest(self) -> list[Suggestion]:
        self._take("models.suggest")
        return list(self.suggested)

    async def refresh_suggestions(self) -> int:
        self._take("models.refresh_suggestions")
        return 1

    async def cancel_refresh(self) -> None:
        self._take("models.cancel_refresh")

    async def survey_machine(self) -> Machine:
        self._take("models.survey_machine")
        await self.ready_to_survey.wait()
        return MACHINE

    async def measure_pace(self) -> Machine:
        self._take("models.measure_pace")
        return replace(MACHINE, pace=PACE)

    async def find_folders(self) -> list[FoundFolder]:
        self._take("models.find_folders")
        return [FoundFolder("LM Studio", "/home/me/.lmstudio/models", 3, 9 * GB)]

    async def set_hub_token(self, token: str) -> None:
        self._take("models.set_hub_token", token)

    async def read_hub_card(self, repo: str) -> HubCard:
        self._take("models.read_hub_card", repo)
        return CARD

    async def find_newer(self, name: str) -> Newer:
        self._take("models.find_newer", name)
        page = "https://huggingface.co/maker/model-GGUF"
        return Newer(name, "maker/model-GGUF", "newer", page, "2026-11-02", 2 * GB)

    async def download_newer(self, name: str) -> str:
        self._take("models.download_newer", name)
        self.downloads.set((AT_FORTY,))
        return AT_FORTY.id

    async def find_hub_login(self) -> str:
        self._take("models.find_hub_login")
        return self.hub_login

    async def use_hub_login(self) -> None:
        self._take("models.use_hub_login")
        self.hub_login = ""

    async def engine_build(self) -> str:
        return name_build({"version": "0.3.36", "ggml": "0.9.4", "variant": "armv8.2_2"})


class FakeGraphics:
    """Implements server.face.models.GraphicsFace."""

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take
        self.offer = Value(GraphicsOffer())

    async def check(self) -> None:
        self._take("graphics.check")
        self.offer.set(replace(self.offer.get(), size_bytes=AT_TEN.total_bytes))

    async def fetch(self) -> str:
        self._take("graphics.fetch")
        self.offer.set(replace(self.offer.get(), download=AT_TEN))
        return AT_TEN.id

    async def pause_download(self, download_id: str) -> None:
        self._take("graphics.pause_download", download_id)

    async def resume_download(self, download_id: str) -> None:
        self._take("graphics.resume_download", download_id)

    async def cancel_download(self, download_id: str) -> None:
        self._take("graphics.cancel_download", download_id)
        self.offer.set(replace(self.offer.get(), download=None))

    async def stop_building(self) -> None:
        self._take("graphics.stop_building")
        self.offer.set(replace(self.offer.get(), building=None))


class FakeSpeeds:
    """Implements server.face.models.SpeedsFace."""

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take
        self.results: Value[tuple[Calibration, ...]] = Value(())

    async def measure(self, name: str) -> None:
        self._take("speeds.measure", name)
        self.results.set((measured(name),))


class FakeEngines:
    """Implements server.face.models.EnginesFace."""

    def __init__(self, take: Callable[..., None]) -> None:
        self._take = take
        self.states: Value[tuple[EngineState, ...]] = Value(())

    async def test(self, engine: EngineElsewhere, key: str) -> EngineState:
        self._take("engines.test", engine, key)
        return EngineState(engine, "ready", "", "Qwen/Qwen3-32B", "vllm", 32768)

    async def add(self, engine: EngineElsewhere, key: str) -> None:
        self._take("engines.add", engine, key)
        self.states.set((*self.states.get(), EngineState(engine)))

    async def remove(self, name: str) -> None:
        self._take("engines.remove", name)
        self.states.set(tuple(state for state in self.states.get() if state.engine.name != name))
