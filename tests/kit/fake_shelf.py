"""The part of a fake core that is about models and hardware: states set by hand, calls recorded."""

import asyncio
from typing import Any

from server.face.models import (
    Download,
    EngineState,
    Fit,
    FoundFolder,
    HubCard,
    HubFile,
    HubListing,
    HubModel,
    Machine,
    Memory,
    ModelDetail,
    Newer,
    ScanIssue,
    Setup,
    Suggestion,
    TemplateNote,
)
from server.observe import Value
from server.settings import EngineElsewhere

GB = 1 << 30
MEMORY = Memory(weights=2 * GB, cache=GB // 2, compute=GB // 4, program=GB // 8)
WELL = Fit("runs well", "It takes 2.9 GB of the 12.0 GB free.", MEMORY, 3 * GB, 12 * GB)
LARGE_MEMORY = Memory(weights=2 * GB, cache=16 * GB, compute=GB, program=GB // 8)
TOO_LARGE = Fit(
    "does not fit", "It needs 19.0 GB and 12.0 GB are free.", LARGE_MEMORY, 19 * GB, 12 * GB
)
MACHINE = Machine(16 * GB, 12 * GB, 8)
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
    "Reasoning and tool calls.",
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


class FakeShelf:
    """Implements server.face.models.Shelf; `_take` records a call and may refuse it."""

    downloads: Value[tuple[Download, ...]]
    engines: Value[tuple[EngineState, ...]]
    ready_to_survey: asyncio.Event
    hub_login = ""

    def _take(self, name: str, *arguments: Any) -> None:
        raise NotImplementedError

    async def search_models(self, text: str) -> list[HubModel]:
        self._take("search_models", text)
        return [FOUND]

    async def list_repository(self, repo: str) -> HubListing:
        self._take("list_repository", repo)
        return LISTING

    async def download_model(self, repo: str, file: str) -> str:
        self._take("download_model", repo, file)
        self.downloads.set((AT_FORTY,))
        return AT_FORTY.id

    async def pause_download(self, download_id: str) -> None:
        self._take("pause_download", download_id)

    async def resume_download(self, download_id: str) -> None:
        self._take("resume_download", download_id)

    async def cancel_download(self, download_id: str) -> None:
        self._take("cancel_download", download_id)
        self.downloads.set(())

    async def import_model(self, path: str) -> str:
        self._take("import_model", path)
        return "imported"

    async def delete_model(self, name: str) -> int:
        self._take("delete_model", name)
        return 2 * GB

    async def describe_model(self, name: str) -> ModelDetail:
        self._take("describe_model", name)
        differs = TemplateNote("differs", "The template is not the published one.", "-a\n+b")
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

    async def estimate_model(self, name: str, setup: Setup) -> Fit:
        self._take("estimate_model", name, setup)
        return TOO_LARGE if setup.context_tokens > 100_000 else WELL

    async def suggest_models(self) -> list[Suggestion]:
        self._take("suggest_models")
        return [SUGGESTED]

    async def check_engine(self) -> None:
        self._take("check_engine")

    async def survey_machine(self) -> Machine:
        self._take("survey_machine")
        await self.ready_to_survey.wait()
        return MACHINE

    async def find_model_folders(self) -> list[FoundFolder]:
        self._take("find_model_folders")
        return [FoundFolder("LM Studio", "/home/me/.lmstudio/models", 3, 9 * GB)]

    async def set_hub_token(self, token: str) -> None:
        self._take("set_hub_token", token)

    async def read_hub_card(self, repo: str) -> HubCard:
        self._take("read_hub_card", repo)
        return CARD

    async def find_newer(self, name: str) -> Newer:
        self._take("find_newer", name)
        page = "https://huggingface.co/maker/model-GGUF"
        return Newer(name, "maker/model-GGUF", "newer", page, "2026-11-02", 2 * GB)

    async def download_newer(self, name: str) -> str:
        self._take("download_newer", name)
        self.downloads.set((AT_FORTY,))
        return AT_FORTY.id

    async def find_hub_login(self) -> str:
        self._take("find_hub_login")
        return self.hub_login

    async def use_hub_login(self) -> None:
        self._take("use_hub_login")
        self.hub_login = ""

    async def test_engine(self, engine: EngineElsewhere, key: str) -> EngineState:
        self._take("test_engine", engine, key)
        return EngineState(engine, "ready", "", "Qwen/Qwen3-32B", "vllm", 32768)

    async def add_engine(self, engine: EngineElsewhere, key: str) -> None:
        self._take("add_engine", engine, key)
        self.engines.set((*self.engines.get(), EngineState(engine)))

    async def remove_engine(self, name: str) -> None:
        self._take("remove_engine", name)
        self.engines.set(tuple(one for one in self.engines.get() if one.engine.name != name))
