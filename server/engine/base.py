"""The interface of engines, which answer chat requests on this machine or on another."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from server.chat import ChatRequest, Prompt
from server.errors import AppError, ModelLoadFailed
from server.events import Pieces
from server.observe import Value

T = TypeVar("T")
KvType = Literal["f16", "q8_0", "q4_0"]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The options to load a model with. None leaves the choice to the worker."""

    context_tokens: int | None = None
    slots: int = 4
    threads: int | None = None
    batch_tokens: int = 512
    gpu_layers: int = 0
    gpu_split: tuple[float, ...] = ()
    main_gpu: int = -1
    """The only card to use; -1 means all."""
    kv_offload: bool = True
    cpu_experts: int = -1
    """Layers of a mixture model whose experts stay on the processor; -1: as memory requires."""
    kv_type: KvType = "f16"
    flash_attention: bool | None = None
    device_sampling: bool | None = None
    """Whether llama.cpp samples inside its graph, for answers whose settings allow it."""
    prompt_cache_mb: int = 1024
    prompt_disk_mb: int = 0
    prompt_folder: Path | None = None
    speculate: bool = True
    draft_model: Path | None = None
    projector: Path | None = None
    loras: tuple[Path, ...] = ()
    queue_limit: int = 64
    tool_signatures: Literal["typescript", "json"] = "typescript"
    """How tools are described to a model whose template has no form for them."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The properties of a loaded model."""

    name: str = ""
    parameters: int = 0
    size_bytes: int = 0
    context_tokens: int = 0
    vocabulary: int = 0
    template: str = ""
    bos: str = ""
    eos: str = ""
    special_tokens: tuple[str, ...] = ()
    sees_images: bool = False
    device: str = "cpu"
    extra: dict[str, Any] = field(default_factory=dict)


LoadPhase = Literal["empty", "loading", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class LoadState:
    phase: LoadPhase = "empty"
    progress: float = 0.0
    reason: str = ""
    details: str = ""
    """Technical details of the reason."""

    @classmethod
    def failed(cls, error: AppError) -> "LoadState":
        return cls("failed", 0.0, str(error), error.details)


@contextmanager
def loading(state: Value[LoadState]) -> Iterator[None]:
    """Shows in the state that a load has begun and how it ended. Raises ModelLoadFailed."""
    state.set(LoadState("loading"))
    try:
        yield
    except AppError as error:
        state.set(LoadState.failed(error))
        raise ModelLoadFailed(str(error)) from error
    except BaseException:
        state.set(LoadState())  # the caller has left
        raise
    state.set(LoadState("ready", 1.0))


@dataclass(frozen=True, slots=True)
class Embeddings:
    """A vector for each text, and the number of tokens that the model read for all of them."""

    vectors: list[list[float]]
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores of how well each document fits a question, by a ranking model or by embeddings."""

    scores: list[float]
    tokens: int = 0
    method: Literal["rank", "embeddings"] = "embeddings"


class Engine(Protocol):
    """A model. If it refuses a request, `generate` raises AppError before its first piece."""

    facts: ModelFacts
    state: Value[LoadState]

    async def load(self) -> None: ...
    async def close(self) -> None: ...
    def generate(self, request: ChatRequest) -> Pieces: ...
    async def apply_template(self, request: ChatRequest) -> str: ...
    async def tokenize(self, text: str, *, special: bool = True) -> list[int]: ...
    async def detokenize(self, tokens: Sequence[int]) -> str: ...
    async def embed(self, texts: Sequence[Prompt]) -> Embeddings: ...
    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking: ...
    async def stats(self) -> dict[str, Any]: ...


class Forwarding(ABC):
    """An engine that passes every question on to another engine."""

    @abstractmethod
    async def _ask(self, ask: Callable[[Engine], Awaitable[T]]) -> T:
        """Finds the other engine and calls `ask` with it."""

    async def apply_template(self, request: ChatRequest) -> str:
        return await self._ask(lambda engine: engine.apply_template(request))

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        return await self._ask(lambda engine: engine.tokenize(text, special=special))

    async def detokenize(self, tokens: Sequence[int]) -> str:
        return await self._ask(lambda engine: engine.detokenize(tokens))

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        return await self._ask(lambda engine: engine.embed(texts))

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        return await self._ask(lambda engine: engine.rerank(query, documents))

    async def stats(self) -> dict[str, Any]:
        return await self._ask(lambda engine: engine.stats())
