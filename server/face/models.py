"""Data and interfaces for finding, downloading and judging models, and for the machine."""

from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from server.face import Text
from server.observe import Value
from server.settings import EngineElsewhere

Verdict = Literal["runs well", "tight", "does not fit", "unknown"]
KvType = Literal["f16", "q8_0", "q4_0"]
NewerState = Literal["same", "newer", "gone"]
Owner = Literal["ours", "listed", "other", "elsewhere"]
"""Where a model's file is.

In Moat's folder; added where it lies; in another program's folder; or nowhere here, because a
server runs the model.
"""
DownloadPhase = Literal["waiting", "running", "paused", "verifying", "done", "failed"]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model on this machine, or one that a server elsewhere runs."""

    name: str
    path: str
    size_bytes: int
    label: Text = ""
    """A remark, for example that it is the starter or damaged."""
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
    """64 hexadecimal digits: the file's SHA-256 if it is known, else a hash of its beginning."""
    modified_at: float = 0.0
    title: str = ""
    """The model's name for people."""
    base: str = ""
    """The model's own name, if this card is for an alias."""
    hosts: tuple[str, ...] = ()
    """The servers that run it; empty if its file is here."""
    sees_images: bool = False
    """Whether a server reports it. A model here needs a projector instead."""
    failure: Text = ""
    """Why it could not be loaded the last time."""
    failure_details: str = ""
    """The technical details of the failure."""

    @property
    def has_eyes(self) -> bool:
        return self.sees_images or bool(self.projector)


@dataclass(frozen=True, slots=True)
class Device:
    """A graphics device and its memory, as reported by its driver."""

    name: str
    backend: str
    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """How long the processor takes for a row of a matrix of weights."""

    values: int
    bytes: float
    once_s: float
    """Seconds to read it from memory and multiply it with one word, as when writing."""
    each_s: float
    """Seconds to multiply it with each of many words, as when reading a prompt."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How fast the processor handles weights of one number format, in short and in long rows."""

    form: str
    short: Row
    long: Row

    @property
    def bytes_per_s(self) -> float:
        return self.long.bytes / self.long.once_s

    @property
    def values_per_s(self) -> float:
        return self.long.values / self.long.each_s


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast this machine computes, measured once by the engine. Without rates: not yet."""

    rates: tuple[Rate, ...] = ()
    step_s: float = 0.0
    """Seconds that it takes to start an operation."""
    others: float = 0.0
    """How many cores other programs kept busy during the measurement."""
    measured_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Machine:
    memory_bytes: int
    free_bytes: int
    """The memory that programs can still take."""
    cores: int = 1
    devices: tuple[Device, ...] = ()
    engine_uses_gpu: bool = False
    features: tuple[str, ...] = ()
    note: Text = ""
    """Why the engine cannot use a graphics card of this machine, if so."""
    backends: tuple[str, ...] = ()
    """Graphics support that was added to the engine: cuda, vulkan …"""
    pace: Pace = Pace()


@dataclass(frozen=True, slots=True)
class Setup:
    """How to load a model, as far as it affects memory. Context 0 and layers -1 mean: choose."""

    context_tokens: int = 0
    slots: int = 4
    kv_type: KvType = "f16"
    gpu_layers: int = -1
    batch_tokens: int = 512
    flash_attention: bool | None = None
    gpu_split: tuple[float, ...] = ()
    """Each card's share; empty means in proportion to free memory."""
    projector_bytes: int = 0
    """The memory that the projector needs, which lets the model see images."""
    draft_bytes: int = 0
    """Bytes of the draft model's weights. It has its own cache for every slot."""
    draft_width: int = 0
    """Key and value elements that one token takes in the draft model's cache."""
    draft_heads: int = 0
    cpu_experts: int = -1
    """Layers of a mixture model whose experts stay on the processor; -1 means: choose."""
    kv_offload: bool = True
    """Whether the cache of layers on the graphics card is on the card, too."""
    main_gpu: int = -1
    """The only card to use; -1 means all."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The bytes that a loaded model takes, by purpose."""

    weights: int = 0
    repacked: int = 0
    """A second copy of weights, reordered for the processor."""
    cache: int = 0
    compute: int = 0
    program: int = 0
    gpu: int = 0
    reclaimable: int = 0
    """The part of `weights` that the system may take back: the file's own pages."""

    @property
    def resident(self) -> int:
        """The memory that the worker is seen to hold."""
        return self.weights + self.repacked + self.cache + self.compute + self.program

    @property
    def needed(self) -> int:
        return self.resident - self.reclaimable


@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict on a model for this machine, with its reason."""

    verdict: Verdict
    why: Text
    memory: Memory = field(default_factory=Memory)
    needed_bytes: int = 0
    free_bytes: int = 0
    setup: Setup = field(default_factory=Setup)
    """The setup it would be loaded with; nothing is left to choose."""
    layers: int = 0
    trained_context_tokens: int = 0
    reads: float = 0.0
    writes: float = 0.0
    """Tokens per second, read and written; 0 if unknown."""
    is_measured: bool = False
    """Whether the speeds come from its use. Otherwise they are predicted."""


@dataclass(frozen=True, slots=True)
class HubModel:
    """A repository found by a search."""

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
    """A choice in a repository: a file, or the parts of a split one."""

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
    """The repository's page, where one accepts terms and asks questions."""
    files: tuple[HubFile, ...] = ()
    projectors: tuple[HubFile, ...] = ()
    note: Text = ""


@dataclass(frozen=True, slots=True)
class ScanIssue:
    """A file in which one of the hub's scanners found something."""

    file: str
    level: str
    """The hub's word for it: suspicious, unsafe …"""


@dataclass(frozen=True, slots=True)
class HubCard:
    """A repository's card, to be read before anything is downloaded."""

    repo: str
    revision: str
    licence: str = ""
    licence_name: str = ""
    licence_address: str = ""
    gated: bool = False
    is_scanned: bool = False
    issues: tuple[ScanIssue, ...] = ()
    text: str = ""
    """Markdown written by strangers."""
    problem: Text = ""
    """Why the text could not be read, if there is one."""


@dataclass(frozen=True, slots=True)
class Newer:
    """The hub's current version of an installed model."""

    name: str
    repo: str
    state: NewerState
    address: str
    updated: str = ""
    """The day of the repository's last change."""
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
    reason: Text = ""
    """Why it waits or has failed, or how it handles a fault at the moment."""
    sha256: str = ""
    """The SHA-256 of its first file, according to the hub."""
    details: str = ""
    """The technical details of a failure."""


@dataclass(frozen=True, slots=True)
class SpeedTrial:
    """The tokens per second, read and written, of one way to compute a model."""

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
    """The number of tokens that each trial read."""
    took_s: float = 0.0
    others: float = 0.0
    """How many cores other programs kept busy during the measurement."""
    measured_at: float = 0.0
    trials: tuple[SpeedTrial, ...] = ()
    is_used: bool = False
    """Whether models are loaded with it. A new one is used from the next start on."""


@dataclass(frozen=True, slots=True)
class Building:
    """Graphics support that is being compiled, and its progress."""

    kind: str
    percent: int = 0


@dataclass(frozen=True, slots=True)
class GraphicsOffer:
    """Graphics support that this machine could use, and that Moat lacks and can download."""

    kind: str = ""
    """"cuda", or empty if nothing is offered."""
    card: str = ""
    uses_vulkan: bool = False
    """Whether the card is already in use through Vulkan."""
    size_bytes: int = 0
    """0 until the list of releases was read."""
    times_vulkan: float = 0.0
    """How many times as fast as Vulkan it was measured to be; 0 if it was not measured."""
    measured_on: str = ""
    download: Download | None = None
    building: Building | None = None


@dataclass(frozen=True, slots=True)
class TemplateNote:
    kind: Literal["differs", "content", "address", "unreadable", "missing"]
    text: Text
    detail: Text = ""


@dataclass(frozen=True, slots=True)
class ModelDetail:
    """The metadata of a model's file, and how the model would run here."""

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
    damaged: Text = ""
    template_notes: tuple[TemplateNote, ...] = ()
    fit: Fit = field(default_factory=lambda: Fit("unknown", ""))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A model of the catalogue, judged for this machine."""

    repo: str
    file: str
    title: str
    good_at: Text
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
    why: Text = ""
    """Why it is recommended."""
    is_about: bool = False
    """Whether the size is computed. A download asks the hub for the exact size."""


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """Models that another program keeps on this machine."""

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
    reason: Text = ""
    """Why it failed."""
    model: str = ""
    kind: str = ""
    """The server's program, if it reports it: llama-server, vllm, sglang."""
    context_tokens: int = 0
    parameters: int = 0
    sees_images: bool = False
    out: tuple[str, ...] = ()
    """The hosts that do not answer at the moment."""
    is_given: bool = False
    """Whether the command line or the environment set it, for this run only."""
    details: str = ""
    """The technical details of the reason."""


class ModelsFace(Protocol):
    """What a window can see of models and of the machine, and do with them."""

    cards: Value[tuple[ModelCard, ...]]
    downloads: Value[tuple[Download, ...]]
    refreshing: Value[Text]
    """What the hub is asked while new models are looked for; empty otherwise."""
    pace: Value[Pace]
    """How fast this machine is. A new measurement updates suggestions and estimates."""

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
        """Changes a setting for that model only. None restores the value for all models."""
        ...

    async def estimate(self, name: str, setup: Setup) -> Fit: ...
    async def suggest(self) -> list[Suggestion]: ...
    async def refresh_suggestions(self) -> int:
        """Asks the hub for new models that fit, and returns how many were found."""
        ...

    async def cancel_refresh(self) -> None: ...
    async def survey_machine(self) -> Machine: ...
    async def measure_pace(self) -> Machine: ...
    async def engine_build(self) -> str: ...
    async def find_folders(self) -> list[FoundFolder]: ...
    async def set_hub_token(self, token: str) -> None: ...
    async def read_hub_card(self, repo: str) -> HubCard: ...
    async def find_newer(self, name: str) -> Newer:
        """Compares a model with the hub's version: the sizes, then every byte."""
        ...

    async def download_newer(self, name: str) -> str:
        """Downloads the hub's version. It replaces the installed file once it is verified."""
        ...

    async def find_hub_login(self) -> str:
        """Returns where another program keeps this person's token; empty if unknown or in use."""
        ...

    async def use_hub_login(self) -> None: ...


class GraphicsFace(Protocol):
    """Graphics support that is missing: downloaded, or compiled in a clone."""

    offer: Value[GraphicsOffer]

    async def check(self) -> None:
        """Reads the signed list of releases, which names the size of what is offered."""
        ...

    async def fetch(self) -> str:
        """Starts the download of what is offered, and returns its id."""
        ...

    async def pause_download(self, download_id: str) -> None: ...
    async def resume_download(self, download_id: str) -> None: ...
    async def cancel_download(self, download_id: str) -> None: ...
    async def stop_building(self) -> None:
        """Stops compiling until the next start."""
        ...


class SpeedsFace(Protocol):
    """The measured speeds of models."""

    results: Value[tuple[Calibration, ...]]

    async def measure(self, name: str) -> None:
        """Loads the model if necessary, and measures which way to compute it is fastest."""
        ...


class EnginesFace(Protocol):
    """The engines elsewhere."""

    states: Value[tuple[EngineState, ...]]

    async def test(self, engine: EngineElsewhere, key: str) -> EngineState: ...
    async def add(self, engine: EngineElsewhere, key: str) -> None:
        """Adds an engine, or replaces the one of that name. An empty key leaves the old key."""
        ...

    async def remove(self, name: str) -> None: ...
