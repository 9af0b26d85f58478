"""Models to have and the machine to run them on: the nouns of finding, fetching and fitting."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from server.observe import Value
from server.settings import EngineElsewhere

Verdict = Literal["runs well", "tight", "does not fit", "unknown"]
KvType = Literal["f16", "q8_0", "q4_0"]
NewerState = Literal["same", "newer", "gone"]
Owner = Literal["ours", "listed", "other", "elsewhere"]
"""In our folder; a file that was added where it lies; in a folder of another program; no file
here: a server runs it."""
DownloadPhase = Literal["waiting", "running", "paused", "verifying", "done", "failed"]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model on this machine, or one that a server elsewhere runs."""

    name: str
    path: str
    size_bytes: int
    label: str = ""
    """A remark: that it is the starter, or that it is damaged."""
    starter: bool = False
    parameters: int = 0
    trained_context_tokens: int = 0
    quantisation: str = ""
    loaded: bool = False
    projector: str = ""
    """The file beside it that lets it see images."""
    owned: Owner = "ours"
    architecture: str = ""
    digest: str = ""
    """64 hexadecimal digits: the file's SHA-256 where that is known, else made from its content."""
    modified_at: float = 0.0
    title: str = ""
    """The name that people know it by."""
    base: str = ""
    """The name of the model itself, if this is a second name."""
    hosts: tuple[str, ...] = ()
    """The servers that run it; empty: its file is here."""
    sees_images: bool = False
    """The server reports it; a model here needs a projector."""
    failure: str = ""
    """Why it could not be loaded when that was last tried."""
    failure_details: str = ""
    """What is technical about that."""

    @property
    def has_eyes(self) -> bool:
        return self.sees_images or bool(self.projector)


@dataclass(frozen=True, slots=True)
class Device:
    """A graphics device, with its memory as its driver tells it."""

    name: str
    backend: str
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast the processor gets on with weights of one number format."""

    form: str
    bytes_per_s: float
    """Weights read for each token that is written."""
    values_per_s: float
    """Products computed while a prompt is read."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast this machine computes, measured once by the engine; without rates: not yet."""

    rates: tuple[Rate, ...] = ()
    step_s: float = 0.0
    """What it takes to begin an operation."""
    others: float = 0.0
    """How many cores other programs kept busy meanwhile."""
    measured_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    memory_bytes: int
    free_bytes: int
    """What programs can still take, without what others use."""
    cores: int = 1
    devices: tuple[Device, ...] = ()
    engine_uses_gpu: bool = False
    features: tuple[str, ...] = ()
    note: str = ""
    """A notice that the engine cannot use a graphics card of this machine."""
    backends: tuple[str, ...] = ()
    """Support for graphics cards that was added to the engine: cuda, vulkan …"""
    pace: Pace = Pace()


@dataclass(frozen=True, slots=True)
class Setup:
    """How a model is to be loaded, as far as it costs memory. 0 context, -1 layers: choose."""

    context_tokens: int = 0
    slots: int = 4
    kv_type: KvType = "f16"
    gpu_layers: int = -1
    batch_tokens: int = 512
    flash_attention: bool | None = None
    gpu_split: tuple[float, ...] = ()
    """Share of each graphics card; empty: by their free memory."""
    projector_bytes: int = 0
    """The memory that the model also needs to see images."""
    draft_bytes: int = 0
    """Weights of a second model that guesses ahead; it has a cache of its own for every slot."""
    draft_width: int = 0
    """Key plus value numbers that one token takes in that cache."""
    draft_heads: int = 0
    cpu_experts: int = -1
    """Layers of a mixture model whose experts stay with the processor; -1: choose."""
    kv_offload: bool = True
    """Whether the cache of layers on the graphics card is there too."""
    main_gpu: int = -1
    """The only card to use; -1: all of them."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes a loaded model takes, by what they are for."""

    weights: int = 0
    repacked: int = 0
    """A second copy of weights in the order that suits the processor."""
    cache: int = 0
    compute: int = 0
    program: int = 0
    gpu: int = 0
    reclaimable: int = 0
    """Part of `weights` that the system may take back: the file's own pages."""

    @property
    def resident(self) -> int:
        """What the worker is seen to hold."""
        return self.weights + self.repacked + self.cache + self.compute + self.program

    @property
    def needed(self) -> int:
        return self.resident - self.reclaimable


@dataclass(frozen=True, slots=True)
class Fit:
    verdict: Verdict
    why: str
    memory: Memory = field(default_factory=Memory)
    needed_bytes: int = 0
    free_bytes: int = 0
    setup: Setup = field(default_factory=Setup)
    """The setup it would be loaded with, with nothing left to choose."""
    layers: int = 0
    trained_context_tokens: int = 0
    reads: float = 0.0
    writes: float = 0.0
    """Tokens per second; 0: not known."""
    is_measured: bool = False
    """They come from its own use; else they are predicted."""


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository that search found."""

    repo: str
    downloads: int = 0
    likes: int = 0
    licence: str = ""
    gated: bool = False
    updated: str = ""
    architecture: str = ""
    parameters: int = 0


@dataclass(frozen=True, slots=True)
class HubFile:
    """One choice in a repository: a file, or the parts of a split one."""

    name: str
    quantisation: str
    parts: tuple[str, ...]
    size_bytes: int
    fit: Fit = field(default_factory=lambda: Fit("unknown", ""))
    recommended: bool = False
    installed: bool = False


@dataclass(frozen=True, slots=True)
class HubListing:
    repo: str
    revision: str
    licence: str
    gated: bool
    address: str
    """Its page, where terms are accepted and questions asked."""
    files: tuple[HubFile, ...] = ()
    projectors: tuple[HubFile, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ScanIssue:
    """A file in which a scanner of the hub found something."""

    file: str
    level: str
    """In the hub's words: suspicious, unsafe …"""


@dataclass(frozen=True, slots=True)
class HubCard:
    """What is said of a repository, to be read before anything of it is fetched."""

    repo: str
    revision: str
    licence: str = ""
    licence_name: str = ""
    licence_address: str = ""
    gated: bool = False
    is_scanned: bool = False
    issues: tuple[ScanIssue, ...] = ()
    text: str = ""
    """Markdown, of strangers."""


@dataclass(frozen=True, slots=True)
class Newer:
    """What the hub has today of an installed model."""

    name: str
    repo: str
    state: NewerState
    address: str
    updated: str = ""
    """The day on which the repository was last changed."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Download:
    id: str
    name: str
    repo: str
    phase: DownloadPhase
    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_s: float = 0.0
    left_s: float | None = None
    reason: str = ""
    """Why it waits, failed, or what it does about a fault just now."""
    sha256: str = ""
    """The checksum of its first file, as the hub reports it."""
    details: str = ""
    """What is technical about a failure."""


@dataclass(frozen=True, slots=True)
class SpeedTrial:
    """Tokens per second, read and written, of one way to compute a model."""

    flash_attention: bool
    batch_tokens: int
    threads: int
    read: float
    write: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fastest way to compute a model on this machine, and what it was compared with."""

    model: str
    key: str
    flash_attention: bool
    batch_tokens: int
    threads: int
    depth: int = 0
    """Tokens that each trial read."""
    took_s: float = 0.0
    others: float = 0.0
    """How many cores other programs kept busy meanwhile."""
    measured_at: float = 0.0
    trials: tuple[SpeedTrial, ...] = ()
    is_used: bool = False
    """Models are loaded by it. A new one is used from the next start on."""


@dataclass(frozen=True, slots=True)
class Building:
    """Support for a graphics card that is being compiled, and how far it is."""

    kind: str
    percent: int = 0


@dataclass(frozen=True, slots=True)
class GraphicsOffer:
    """Support for a graphics card of this machine that Moat lacks and can fetch."""

    kind: str = ""
    """cuda; empty: nothing is offered."""
    card: str = ""
    uses_vulkan: bool = False
    """The card is in use already, by Vulkan."""
    size_bytes: int = 0
    """0: the list of the releases was not read yet."""
    times_vulkan: float = 0.0
    """How many times as fast as Vulkan it was measured to be; 0: it was not measured."""
    measured_on: str = ""
    download: Download | None = None
    building: Building | None = None


@dataclass(frozen=True, slots=True)
class TemplateNote:
    kind: Literal["differs", "content", "address", "unreadable", "missing"]
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ModelDetail:
    """What a model's file says of itself, and how it would run here."""

    name: str
    path: str
    size_bytes: int
    title: str = ""
    architecture: str = ""
    parameters: int = 0
    quantisation: str = ""
    trained_context_tokens: int = 0
    licence: str = ""
    tool_style: str = ""
    template: str = ""
    shards: int = 1
    is_embedder: bool = False
    projector: str = ""
    damaged: str = ""
    template_notes: tuple[TemplateNote, ...] = ()
    fit: Fit = field(default_factory=lambda: Fit("unknown", ""))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A model of the catalogue, judged for this machine."""

    repo: str
    file: str
    title: str
    good_at: str
    uses: tuple[str, ...]
    licence: str
    parameters: int
    size_bytes: int
    context_tokens: int
    fit: Fit
    recommended: bool = False
    installed: bool = False
    parts: tuple[str, ...] = ()
    projector: str = ""
    why: str = ""
    """Why it is the recommended one."""
    is_about: bool = False
    """The size is computed; the hub names the exact one when the download begins."""


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """Models another program keeps on this machine."""

    program: str
    path: str
    models: int
    size_bytes: int
    used: bool = False


EnginePhase = Literal["unknown", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class EngineState:
    """An engine elsewhere, and its server's last answer."""

    engine: EngineElsewhere
    phase: EnginePhase = "unknown"
    reason: str = ""
    """Why it failed."""
    model: str = ""
    kind: str = ""
    """The program that serves it, where it says so: llama-server, vllm, sglang."""
    context_tokens: int = 0
    parameters: int = 0
    sees_images: bool = False
    out: tuple[str, ...] = ()
    """Those of its hosts that do not answer just now."""
    is_given: bool = False
    """Set by the command line or the environment, for this run."""
    details: str = ""
    """What is technical about the reason."""


class ModelsFace(Protocol):
    """What a screen sees of models and of the machine, and what it can do about them."""

    cards: Value[tuple[ModelCard, ...]]
    downloads: Value[tuple[Download, ...]]
    refreshing: Value[str]
    """What is asked of the hub while new models are looked for; empty otherwise."""
    pace: Value[Pace]
    """How fast this machine is. Suggestions and estimates follow when it is measured."""

    async def search(self, text: str) -> list[HubModel]: ...
    async def list_repository(self, repo: str) -> HubListing: ...
    async def download(self, repo: str, file: str) -> str: ...
    async def pause_download(self, download_id: str) -> None: ...
    async def resume_download(self, download_id: str) -> None: ...
    async def cancel_download(self, download_id: str) -> None: ...
    async def import_file(self, path: str) -> str: ...
    async def delete(self, name: str) -> int: ...
    async def describe(self, name: str) -> ModelDetail: ...
    async def change_own_setting(self, name: str, field: str, value: Any) -> None:
        """Sets what holds for that model alone; with None it is as for all models again."""
        ...

    async def estimate(self, name: str, setup: Setup) -> Fit: ...
    async def suggest(self) -> list[Suggestion]: ...
    async def refresh_suggestions(self) -> int:
        """Asks the hub for new models that fit; returns how many are offered beside our own."""
        ...

    async def cancel_refresh(self) -> None: ...
    async def survey_machine(self) -> Machine: ...
    async def measure_pace(self) -> Machine: ...
    async def engine_build(self) -> str: ...
    async def find_folders(self) -> list[FoundFolder]: ...
    async def set_hub_token(self, token: str) -> None: ...
    async def read_hub_card(self, repo: str) -> HubCard: ...
    async def find_newer(self, name: str) -> Newer:
        """Asks the hub, and compares every byte where the sizes agree."""
        ...

    async def download_newer(self, name: str) -> str:
        """Replaces the file that is here once the new one has come and is checked."""
        ...

    async def find_hub_login(self) -> str:
        """Where other programs keep a token of this person; empty: nowhere, or it is in use."""
        ...

    async def use_hub_login(self) -> None: ...


class GraphicsFace(Protocol):
    """Support for graphics cards that is lacking: fetched, or compiled in a clone."""

    offer: Value[GraphicsOffer]

    async def check(self) -> None:
        """Reads the signed list of the releases: it has the size of what is offered."""
        ...

    async def fetch(self) -> str:
        """Begins to fetch what is offered; returns the id of the download."""
        ...

    async def pause_download(self, download_id: str) -> None: ...
    async def resume_download(self, download_id: str) -> None: ...
    async def cancel_download(self, download_id: str) -> None: ...
    async def stop_building(self) -> None:
        """Ends the compilation until the next start."""
        ...


class SpeedsFace(Protocol):
    """The measured speeds of models."""

    results: Value[tuple[Calibration, ...]]

    async def measure(self, name: str) -> None:
        """Loads the model if need be, and measures how it is computed fastest."""
        ...


class EnginesFace(Protocol):
    """The engines elsewhere."""

    states: Value[tuple[EngineState, ...]]

    async def test(self, engine: EngineElsewhere, key: str) -> EngineState: ...
    async def add(self, engine: EngineElsewhere, key: str) -> None:
        """Adds an engine, or replaces the one of that name. An empty key leaves the old key."""
        ...

    async def remove(self, name: str) -> None: ...
