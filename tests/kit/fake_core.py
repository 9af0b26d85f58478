"""A core without a server: values to set, and a list of the commands it was given."""

import asyncio
from typing import Any

from server.errors import AppError
from server.face.core import (
    AnsweredRequest,
    FileText,
    KeyCard,
    KeyLimits,
    Knock,
    Load,
    LogLine,
    ModelCard,
    ModelStatus,
    RunningRequest,
    ServerStatus,
    Update,
    Use,
)
from server.face.models import Download, EngineState
from server.face.plugins import Approval, FormCard, PluginCard
from server.observe import Signal, Value
from server.settings import Settings
from tests.kit.fake_plugins import FakePlugins
from tests.kit.fake_shelf import FakeShelf

STARTER = ModelCard(
    "SmolLM2-135M-Instruct",
    "/models/smollm2.gguf",
    98_000_000,
    label="Starter: proves that everything works; pick a larger model for real work.",
    starter=True,
    parameters=135_000_000,
    trained_context_tokens=8192,
    quantisation="Q4_1",
)
LARGE = ModelCard("Qwen3-8B", "/models/qwen3-8b.gguf", 5_030_000_000, quantisation="Q4_K_M")
SERVING = ServerStatus("ready", "http://127.0.0.1:7777")
LOADED = ModelStatus("ready", STARTER.name, 1.0, context_tokens=8192, device="CPU")


class FakeCore(FakeShelf, FakePlugins):
    """Implements server.face.core.Face. `refuse` makes the next command fail with that error."""

    def __init__(self) -> None:
        self.plain_file = ""
        """Where secrets lie unencrypted, as on a system without a keyring."""
        self.server = Value(ServerStatus())
        self.model = Value(ModelStatus())
        self.models: Value[tuple[ModelCard, ...]] = Value(())
        self.requests: Value[tuple[RunningRequest, ...]] = Value(())
        self.downloads: Value[tuple[Download, ...]] = Value(())
        self.engines: Value[tuple[EngineState, ...]] = Value(())
        self.load = Value(Load())
        self.settings = Value(Settings())
        self.notices: Value[tuple[str, ...]] = Value(())
        self.answered: Value[tuple[AnsweredRequest, ...]] = Value(())
        self.knocks: Value[tuple[Knock, ...]] = Value(())
        self.outgoing: Value[tuple[Use, ...]] = Value(())
        self.keys: Value[tuple[KeyCard, ...]] = Value(())
        self.opened_at = Value(0.0)
        self.update = Value(Update())
        self.plugins: Value[tuple[PluginCard, ...]] = Value(())
        self.approvals: Value[tuple[Approval, ...]] = Value(())
        self.forms: Value[tuple[FormCard, ...]] = Value(())
        self.unwatched: Value[tuple[str, ...]] = Value(())
        self.logged: Signal[LogLine] = Signal()
        self.asked_to_quit: Signal[str] = Signal()
        self.commands: list[tuple[Any, ...]] = []
        self.earlier: list[LogLine] = []
        self.key = "the-access-key"
        self.document = FileText("report.pdf", "Page one.")
        self.refuse: AppError | None = None
        self.ready_to_survey = asyncio.Event()
        self.ready_to_survey.set()

    @classmethod
    def ready(cls) -> "FakeCore":
        core = cls()
        core.models.set((STARTER, LARGE))
        core.model.set(LOADED)
        core.server.set(SERVING)
        return core

    async def check_update(self) -> None:
        self._take("check_update")
        self.update.set(Update(1.0, "9.9.9", "https://moat.example/9.9.9"))

    async def engine_build(self) -> str:
        return "llama-cpp-python 0.3.36: armv8.2_2"

    async def start(self) -> None:
        self._take("start")
        self.server.set(SERVING)

    async def stop(self) -> None:
        self._take("stop")
        self.server.set(ServerStatus("stopped"))

    async def quit(self) -> None:
        self._take("quit")
        self.asked_to_quit.emit("moat quit")

    async def load_model(self, name: str) -> None:
        self._take("load_model", name)
        self.model.set(ModelStatus("ready", name, 1.0))

    async def unload_model(self) -> None:
        self._take("unload_model")
        self.model.set(ModelStatus())

    async def cancel_request(self, request_id: int) -> None:
        self._take("cancel_request", request_id)
        self.requests.set(tuple(one for one in self.requests.get() if one.id != request_id))

    async def change_setting(self, field: str, value: Any) -> None:
        self._take("change_setting", field, value)
        self.settings.set(self.settings.get().changed(field, value))

    async def change_settings(self, changes: dict[str, Any]) -> None:
        self._take("change_settings", changes)
        for field, value in changes.items():
            self.settings.set(self.settings.get().changed(field, value))

    async def dismiss_notice(self, text: str) -> None:
        self._take("dismiss_notice", text)
        self.notices.set(tuple(notice for notice in self.notices.get() if notice != text))

    async def recent_logs(self, count: int) -> list[LogLine]:
        return self.earlier[-count:]

    async def plain_secrets_file(self) -> str:
        return self.plain_file

    async def add_key(self, name: str, limits: KeyLimits) -> str:
        self._take("add_key", name, limits)
        self.keys.set((*self.keys.get(), KeyCard(name, limits)))
        return f"moat-key-of-{name}"

    async def revoke_key(self, name: str) -> None:
        self._take("revoke_key", name)
        self.keys.set(tuple(card for card in self.keys.get() if card.name != name))

    async def access_key(self) -> str:
        return self.key

    async def own_key(self) -> str:
        return "the-own-key"

    async def read_document(self, path: str) -> FileText:
        self._take("read_document", path)
        return self.document

    def _take(self, *command: Any) -> None:
        if self.refuse:
            refused, self.refuse = self.refuse, None
            raise refused
        self.commands.append(command)
