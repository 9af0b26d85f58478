"""What a screen sees of the core: the list of mirrored state, signals and commands.

`Core` has all of it in its own process; `app.shell.link.Link` mirrors it from another. Adding a
value, a signal or a command is one line here and its counterpart in the core. Models, engines
elsewhere and plugins have rooms of their own: `face.models.download(…)` is a method of the class
that does it, with no other in between.
"""

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, Protocol

from server.face.models import EnginesFace, GraphicsFace, ModelsFace, SpeedsFace
from server.face.plugins import PluginsFace
from server.observe import Signal, Value
from server.settings import Settings

SourcePhase = Literal["reading", "ready", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A file or folder and how far its indexing is."""

    path: str
    phase: SourcePhase = "reading"
    done: int = 0
    total: int = 0
    """Files: those that are read, of those to be read."""
    files: int = 0
    passages: int = 0
    """What the index holds of it."""
    notes: tuple[str, ...] = ()
    """What could not be read."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage with its place: a page of a paged file, a sheet of a workbook."""

    name: str
    path: str
    page: int
    """Counts from 1; 0: the file has no pages."""
    sheet: str
    text: str


class SourcesFace(Protocol):
    cards: Value[tuple[SourceCard, ...]]

    async def index(self, path: str) -> None:
        """Reads what is new or changed in a file or folder, in the background."""
        ...

    async def stop(self, path: str) -> None:
        """Ends the reading. What was read stays."""
        ...

    async def forget(self, path: str) -> None: ...
    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        """Returns the passages nearest to the question, after what has changed was read."""
        ...


Phase = Literal["stopped", "starting", "ready", "failed", "hung"]
ModelPhase = Literal["empty", "loading", "ready", "failed"]


def is_here(host: str) -> bool:
    """Whether a connection to this host (and port) stays on this machine."""
    head, _, port = host.rpartition(":")
    name = (head if port.isdecimal() else host).strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def find_away(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the hosts that are other machines."""
    return tuple(host for host in hosts if not is_here(host))


@dataclass(frozen=True, slots=True)
class About:
    """A request's origin: where it came in, from whom, and for which model."""

    route: str
    client: str = ""
    model: str = ""
    is_own: bool = False
    """The request comes from the person's own window."""
    chat: str = ""
    """The client's name for the chat, if it sends one."""
    request_id: str = ""
    """What it can be cancelled by from outside."""
    key: str = ""
    """The name of the key that it came with; empty where none was asked for."""
    asked: str = ""
    """The name that the model was asked for by, where that is another one."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The HTTP side: where it listens, or why it does not. `hung`: its process does not answer."""

    phase: Phase = "stopped"
    address: str = ""
    reason: str = ""
    details: str = ""
    """What is technical about the reason."""
    port_note: str = ""
    """A notice that another port than the wanted one is used."""
    secure_address: str = ""
    certificate: str = ""
    trust: str = ""
    """Where HTTPS is, the file to trust for it, and the command that does so."""
    network_address: str = ""
    """Where other machines reach it; empty while they cannot."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The model that answers by default."""

    phase: ModelPhase = "empty"
    name: str = ""
    progress: float = 0.0
    reason: str = ""
    context_tokens: int = 0
    device: str = ""
    sees_images: bool = False
    hosts: tuple[str, ...] = ()
    """The servers that run it; empty: Moat runs it itself."""
    details: str = ""
    """What is technical about the reason."""


RequestPhase = Literal["waiting", "reading", "writing"]


@dataclass(frozen=True, slots=True)
class RunningRequest:
    id: int
    client: str
    route: str
    model: str
    started_at: float
    phase: RequestPhase
    tokens: int = 0
    prompt_done: int = 0
    prompt_total: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """How busy the engine is just now."""

    running: int = 0
    waiting: int = 0
    tokens_per_s: float = 0.0
    memory_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request that has ended. `outcome` is 'stop', 'length', …, or the code of its failure."""

    id: int
    client: str
    route: str
    model: str
    started_at: float
    took_s: float
    outcome: str
    prompt_tokens: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Knock:
    """A web page's request at the gate, or anybody's with a missing or wrong key."""

    at: float
    origin: str
    method: str
    client: str
    outcome: Literal["let in", "origin", "key"]
    path: str = ""


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """What the holder of a key may do. 0 and an empty list: no limit."""

    models: tuple[str, ...] = ()
    at_once: int = 0
    """Requests at a time."""
    tokens_per_day: int = 0
    """Counts prompts and answers, from midnight to midnight UTC."""
    figures: bool = False
    """Whether it may read `/metrics`, which names all keys."""


@dataclass(frozen=True, slots=True)
class KeyCard:
    """A named key; the key itself is known to nobody but its holder."""

    name: str
    limits: KeyLimits = field(default_factory=KeyLimits)
    created_at: float = 0.0
    tokens_today: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """One outgoing request: when, where to, why, how it went, how much came back."""

    at: float
    host: str
    reason: str
    status: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, slots=True)
class FileText:
    """A file of the person's as text, and what of it could not be read."""

    name: str
    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogLine:
    at: float
    level: str
    source: str
    text: str
    number: int = 0
    """Counts the lines of one Moat from 1 on; 0 where nobody counted."""


@dataclass(frozen=True, slots=True)
class Update:
    """The last announcement. Without a version, nothing newer is known."""

    checked_at: float = 0.0
    version: str = ""
    page: str = ""
    notes: str = ""


class Face(Protocol):
    @property
    def models(self) -> ModelsFace: ...
    @property
    def engines(self) -> EnginesFace: ...
    @property
    def graphics(self) -> GraphicsFace: ...
    @property
    def speeds(self) -> SpeedsFace: ...
    @property
    def plugins(self) -> PluginsFace: ...
    @property
    def sources(self) -> SourcesFace: ...

    server: Value[ServerStatus]
    model: Value[ModelStatus]
    requests: Value[tuple[RunningRequest, ...]]
    load: Value[Load]
    settings: Value[Settings]
    notices: Value[tuple[str, ...]]
    answered: Value[tuple[AnsweredRequest, ...]]
    knocks: Value[tuple[Knock, ...]]
    outgoing: Value[tuple[Use, ...]]
    keys: Value[tuple[KeyCard, ...]]
    opened_at: Value[float]
    update: Value[Update]
    logged: Signal[LogLine]
    asked_to_quit: Signal[str]
    """Sent by `moat quit`. Whatever keeps Moat running ends it."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def quit(self) -> None: ...
    async def load_model(self, name: str) -> None: ...
    async def unload_model(self) -> None: ...
    async def check_engine(self) -> None:
        """Sees whether the graphics cards are still there and the model still answers."""
        ...

    async def cancel_request(self, request_id: int) -> None: ...
    async def change_setting(self, field: str, value: Any) -> None: ...
    async def change_settings(self, changes: dict[str, Any]) -> None: ...
    async def dismiss_notice(self, text: str) -> None: ...
    async def recent_logs(self, count: int) -> list[LogLine]: ...
    async def access_key(self) -> str: ...
    async def add_key(self, name: str, limits: KeyLimits) -> str:
        """The new key, which is shown this once."""
        ...

    async def revoke_key(self, name: str) -> None: ...
    async def plain_secrets_file(self) -> str:
        """Returns the file with unencrypted secrets; empty if the system's keyring holds them."""
        ...

    async def check_update(self) -> None: ...
    async def own_key(self) -> str:
        """Sent with a request, it shows that the request is the window's own."""
        ...

    async def read_document(self, path: str) -> FileText: ...
