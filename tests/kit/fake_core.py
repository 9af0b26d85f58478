"""A core without a server: tests set its values, and it records the commands it receives."""

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
    ModelStatus,
    RunningRequest,
    ServerStatus,
    Update,
    Use,
)
from server.face.models import ModelCard
from server.models.library import LABEL
from server.observe import Signal, Value
from server.settings import Settings
from tests.kit.fake_plugins import FakePlugins
from tests.kit.fake_shelf import FakeEngines, FakeGraphics, FakeModels, FakeSpeeds
from tests.kit.fake_sources import FakeSources

STARTER = ModelCard(
    "SmolLM2-135M-Instruct",
    "/models/smollm2.gguf",
    98_000_000,
    label=LABEL,
    starter=True,
    parameters=135_000_000,
    trained_context_tokens=8192,
    quantisation="Q4_1",
)
LARGE = ModelCard("Qwen3-8B", "/models/qwen3-8b.gguf", 5_030_000_000, quantisation="Q4_K_M")
SERVING = ServerStatus("ready", "http://127.0.0.1:7777")
LOADED = ModelStatus("ready", STARTER.name, 1.0, context_tokens=8192, device="CPU")


class FakeCore:
    """Implements server.face.core.Face. `refuse` makes the next command fail with that error."""

    plain_file = ""
    """The file with unencrypted secrets, as on a system without a keyring."""

    def __init__(self) -> None:
        self.server = Value(ServerStatus())
        self.model = Value(ModelStatus())
        self.settings = Value(Settings())
        self.models = FakeModels(self.take, self.settings)
        self.engines = FakeEngines(self.take)
        self.graphics, self.speeds = FakeGraphics(self.take), FakeSpeeds(self.take)
        self.plugins = FakePlugins(self.take)
        self.sources = FakeSources(self.take)
        self.requests: Value[tuple[RunningRequest, ...]] = Value(())
        self.load = Value(Load())
        self.notices: Value[tuple[str, ...]] = Value(())
        self.answered: Value[tuple[AnsweredRequest, ...]] = Value(())
        self.knocks: Value[tuple[Knock, ...]] = Value(())
        self.outgoing: Value[tuple[Use, ...]] = Value(())
        self.keys: Value[tuple[KeyCard, ...]] = Value(())
        self.opened_at = Value(0.0)
        self.update = Value(Update())
        self.logged: Signal[LogLine] = Signal()
        self.asked_to_quit: Signal[str] = Signal()
        self.commands: list[tuple[Any, ...]] = []
        self.earlier: list[LogLine] = []
        self.key = "the-access-key"
        self.document = FileText("report.pdf", "Page one.")
        self.refuse: AppError | None = None

    @classmethod
    def ready(cls) -> "FakeCore":
        core = cls()
        core.models.cards.set((STARTER, LARGE))
        core.model.set(LOADED)
        core.server.set(SERVING)
        return core

    async def check_update(self) -> None:
        self.take("check_update")
        self.update.set(Update(1.0, "9.9.9", "https://moat.example/9.9.9"))

    async def start(self) -> None:
        self.take("start")
        self.server.set(SERVING)

    async def stop(self) -> None:
        self.take("stop")
        self.server.set(ServerStatus("stopped"))

    async def quit(self) -> None:
        self.take("quit")
        self.asked_to_quit.emit("moat quit")

    async def load_model(self, name: str) -> None:
        self.take("load_model", name)
        self.model.set(ModelStatus("ready", name, 1.0))

    async def unload_model(self) -> None:
        self.take("unload_model")
        self.model.set(ModelStatus())

    async def check_engine(self) -> None:
        self.take("check_engine")

    async def cancel_request(self, request_id: int) -> None:
        self.take("cancel_request", request_id)
        self.requests.set(tuple(one for one in self.requests.get() if one.id != request_id))

    async def change_setting(self, field: str, value: Any) -> None:
        self.take("change_setting", field, value)
        self.settings.set(self.settings.get().changed(field, value))

    async def change_settings(self, changes: dict[str, Any]) -> None:
        self.take("change_settings", changes)
        for field, value in changes.items():
            self.settings.set(self.settings.get().changed(field, value))

    async def dismiss_notice(self, text: str) -> None:
        self.take("dismiss_notice", text)
        self.notices.set(tuple(notice for notice in self.notices.get() if notice != text))

    async def recent_logs(self, count: int) -> list[LogLine]:
        return self.earlier[-count:]

    async def plain_secrets_file(self) -> str:
        return self.plain_file

    async def add_key(self, name: str, limits: KeyLimits) -> str:
        self.take("add_key", name, limits)
        self.keys.set((*self.keys.get(), KeyCard(name, limits)))
        return f"moat-key-of-{name}"

    async def revoke_key(self, name: str) -> None:
        self.take("revoke_key", name)
        self.keys.set(tuple(card for card in self.keys.get() if card.name != name))

    async def access_key(self) -> str:
        return self.key

    async def own_key(self) -> str:
        return "the-own-key"

    async def recall(self, text: str) -> str:
        return text

    async def read_document(self, path: str) -> FileText:
        self.take("read_document", path)
        return self.document

    def take(self, *command: Any) -> None:
        if self.refuse:
            refused, self.refuse = self.refuse, None
            raise refused
        self.commands.append(command)
