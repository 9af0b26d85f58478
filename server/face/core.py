"""The core's interface for windows: mirrored values, signals and commands.

`Core` implements it in its own process; `app.shell.link.Link` mirrors it from another. To add a
value, a signal or a command, add one line here and its counterpart in the core. Models, engines
elsewhere and plugins have interfaces of their own: `face.models.download(…)` is a method of the
class that does the work, with nothing in between.
"""

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any, Literal, Protocol

from server.face import Text
from server.face.models import EnginesFace, GraphicsFace, ModelsFace, SpeedsFace
from server.face.plugins import PluginsFace
from server.observe import Signal, Value
from server.settings import Settings

SourcePhase = Literal["reading", "ready", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A file or folder and the progress of its indexing."""

    path: str
    phase: SourcePhase = "reading"
    done: int = 0
    total: int = 0
    """Files read so far, and files to read."""
    files: int = 0
    passages: int = 0
    """Files and passages in the index."""
    notes: tuple[Text, ...] = ()
    """What could not be read."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage and its place: a page of a paged file, or a sheet of a workbook."""

    name: str
    path: str
    page: int
    """Counts from 1; 0 means that the file has no pages."""
    sheet: str
    text: str


class SourcesFace(Protocol):
    cards: Value[tuple[SourceCard, ...]]

    async def index(self, path: str) -> None:
        """Indexes new and changed files of a file or folder, in the background."""
        ...

    async def stop(self, path: str) -> None:
        """Stops indexing. What was read stays."""
        ...

    async def forget(self, path: str) -> None: ...
    async def find(self, paths: list[str], question: str, most: int) -> list[FoundPassage]:
        """Returns the passages nearest to the question, after reading what has changed."""
        ...


Phase = Literal["stopped", "starting", "ready", "failed", "hung"]
ModelPhase = Literal["empty", "loading", "ready", "failed"]


def is_here(host: str) -> bool:
    """Whether a connection to this host (and port) stays on this machine."""
    head, _, port = host.rpartition(":")
    return _is_loopback(host) or (port.isdecimal() and _is_loopback(head))


def _is_loopback(host: str) -> bool:
    name = host.strip("[]").lower()
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def find_away(hosts: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the hosts that are other machines."""
    return tuple(host for host in hosts if not is_here(host))


@dataclass(frozen=True, slots=True)
class About:
    """The origin of a request: the route, the client and the model."""

    route: str
    client: str = ""
    model: str = ""
    is_own: bool = False
    """Whether the request comes from the person's own window."""
    chat: str = ""
    """The client's name for the chat, if it sends one."""
    request_id: str = ""
    """The id by which the client can cancel it in another request."""
    key: str = ""
    """The name of the key that it came with; empty if no key was required."""
    asked: str = ""
    """The model name in the request, which may be an alias of `model`."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of the HTTP server. `hung` means that its process does not answer."""

    phase: Phase = "stopped"
    address: str = ""
    reason: Text = ""
    details: str = ""
    """The technical details of the reason."""
    port_note: Text = ""
    """A notice that the wanted port was not available and another is used."""
    secure_address: str = ""
    certificate: str = ""
    trust: str = ""
    """The HTTPS address, the certificate to trust for it, and the command that does so."""
    network_address: str = ""
    """The address for other machines; empty if they cannot connect."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """The state of the default model."""

    phase: ModelPhase = "empty"
    name: str = ""
    progress: float = 0.0
    reason: Text = ""
    context_tokens: int = 0
    device: str = ""
    sees_images: bool = False
    hosts: tuple[str, ...] = ()
    """The servers that run it; empty if Moat runs it itself."""
    details: str = ""
    """The technical details of the reason."""


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
    """The engine's current load."""

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
    """A web page's request, or one with a missing or wrong key, and whether it was let in."""

    at: float
    origin: str
    method: str
    client: str
    outcome: Literal["let in", "origin", "key"]
    path: str = ""


@dataclass(frozen=True, slots=True)
class KeyLimits:
    """The limits of a key. 0 and an empty list mean no limit."""

    models: tuple[str, ...] = ()
    at_once: int = 0
    """The most requests at a time."""
    tokens_per_day: int = 0
    """Counts prompts and answers, from midnight to midnight UTC."""
    figures: bool = False
    """Whether it may read `/metrics`, which names all keys."""


@dataclass(frozen=True, slots=True)
class KeyCard:
    """A named key. Nobody but its holder knows the key itself."""

    name: str
    limits: KeyLimits = field(default_factory=KeyLimits)
    created_at: float = 0.0
    tokens_today: int = 0


@dataclass(frozen=True, slots=True)
class Use:
    """An outgoing request: its time, host, reason, status and size of the answer."""

    at: float
    host: str
    reason: Text
    status: int = 0
    bytes_received: int = 0


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a person's file, and notes on what could not be read."""

    name: str
    text: str
    notes: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class LogLine:
    at: float
    level: str
    source: str
    text: str
    number: int = 0
    """Counts the lines of one Moat from 1 on; 0 if the line was not counted."""


@dataclass(frozen=True, slots=True)
class Update:
    """The last announcement. Without a version, nothing newer is known."""

    checked_at: float = 0.0
    version: str = ""
    page: str = ""
    notes: str = ""


class Face(Protocol):
    """Everything that a window or a terminal can see and do."""

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
    notices: Value[tuple[Text, ...]]
    answered: Value[tuple[AnsweredRequest, ...]]
    knocks: Value[tuple[Knock, ...]]
    outgoing: Value[tuple[Use, ...]]
    keys: Value[tuple[KeyCard, ...]]
    opened_at: Value[float]
    update: Value[Update]
    logged: Signal[LogLine]
    asked_to_quit: Signal[str]
    """Emitted by `moat quit`. Whoever keeps Moat running must end it then."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def quit(self) -> None: ...
    async def load_model(self, name: str) -> None: ...
    async def unload_model(self) -> None: ...
    async def check_engine(self) -> None:
        """Checks that the graphics cards are still present and the model still answers."""
        ...

    async def cancel_request(self, request_id: int) -> None: ...
    async def change_setting(self, field: str, value: Any) -> None: ...
    async def change_settings(self, changes: dict[str, Any]) -> None: ...
    async def dismiss_notice(self, text: str) -> None: ...
    async def recent_logs(self, count: int) -> list[LogLine]: ...
    async def access_key(self) -> str: ...
    async def add_key(self, name: str, limits: KeyLimits) -> str:
        """Makes a key and returns it. It cannot be shown again."""
        ...

    async def revoke_key(self, name: str) -> None: ...
    async def plain_secrets_file(self) -> str:
        """Returns the file with unencrypted secrets; empty if the system's keyring holds them."""
        ...

    async def check_update(self) -> None: ...
    async def own_key(self) -> str:
        """Returns the secret that marks a request as the window's own."""
        ...

    async def recall(self, text: str) -> Text:
        """Returns the sentence that an answer reported over HTTP, which carries plain text."""
        ...

    async def read_document(self, path: str) -> FileText: ...
