"""A protocol is data: endpoints that turn a checked body into a request and events into frames."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import uuid4

from server.asking.ask import Means
from server.chat import ChatRequest
from server.conversation.agents.base import Agents
from server.conversation.threads.responses import ResponseMemory
from server.conversation.threads.threads import EVERYBODY
from server.engine.pool import Loaded
from server.errors import AppError, KeyForbids, ModelNotFound
from server.events import Events
from server.face.core import About, ModelCard
from server.face.models import Download
from server.models.aliases import Alias
from server.models.gguf.header import Header

Frames = AsyncGenerator[bytes, None]
EVENT_STREAM = "text/event-stream"
KEEP_ALIVE = b": still here\n\n"
KeepAlive = bytes | Callable[[bytes], bytes]
"""What says nothing but that the answer is still to come. A function gets the frame before it,
which is empty when there was none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A plain JSON answer (or text, when `text` is given)."""

    body: Any = None
    status: int = 200
    text: str | None = None
    content_type: str = "application/json"


Readiness = Literal["ready", "idle", "loading", "failed", "no model", "not answering"]
"""Whether the default model answers. `idle`: it is loaded by the next request."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a protocol may know of the server: its checked address, its models, the default one."""

    address: str
    models: tuple[ModelCard, ...] = ()
    """Each of them, and once more under every other name it has."""
    default_model: str = ""
    version: str = ""
    engine_health: Literal["ok", "busy", "not answering"] = "ok"
    readiness: Readiness = "ready"
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """The request's headers, names in lower case, without those that carry secrets."""
    is_own: bool = False
    """It came from the person's own window."""
    request_id: str = field(default_factory=lambda: uuid4().hex)
    """Known to who tracks the requests under way."""
    owner: str = ""
    """Whose responses it may see: the same for the same page and key, a secret to others."""
    holder: str = ""
    """The name of the key that it came with, where that is one of several."""
    forbidden: frozenset[str] = frozenset()
    """Models that are here but not for this key."""
    responses: ResponseMemory = field(default_factory=ResponseMemory)
    loaded: tuple[Loaded, ...] = ()

    @property
    def origin(self) -> str:
        """The page it came from; a program has none."""
        return self.headers.get("origin", "")

    @property
    def sees(self) -> str | None:
        """Whose kept threads it may see: those of its place, or of everybody."""
        return EVERYBODY if self.is_own else self.place

    @property
    def place(self) -> str:
        """Where threads are kept for it: by its origin, and by its key where it has its own."""
        return f"{self.origin} {self.holder}" if self.holder else self.origin

    def miss(self, name: str) -> AppError:
        """Why the model of that name does not answer."""
        if name in self.forbidden:
            return KeyForbids(self.holder, name, tuple(card.name for card in self.models))
        return ModelNotFound(name, tuple(card.name for card in self.models))


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came in a form; its name is the sender's word, nothing more."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the engine that is no conversation; `then(result)` answers or asks on."""

    what: str
    model: str | None
    arguments: dict[str, Any]
    then: Callable[[Any], "Reply | Ask"]
    keep_s: float | None = None
    """How long the model is to stay loaded afterwards; None: as the settings say."""
    by: About = field(default_factory=lambda: About(""))
    """Who asks; added on the way."""


class ModelKeeper(Protocol):
    """The models of this machine, as far as a client may look at them and change them."""

    async def header(self, card: ModelCard) -> Header: ...
    def alias(self, card: ModelCard) -> Alias | None: ...
    def name_model(self, name: str, alias: Alias) -> None:
        """Gives a model another name."""

    def keep(self, card: ModelCard, seconds: float) -> None:
        """Keeps a loaded model for so long after its last answer."""

    async def delete(self, card: ModelCard) -> None: ...
    async def pull(self, name: str) -> AsyncGenerator[Download, None]:
        """Begins a download, or refuses; then yields how far it is, until it is done."""


@dataclass(frozen=True, slots=True)
class Manage:
    """A look at the models of this machine, or a change: `do` answers, streams, or asks on."""

    do: Callable[[ModelKeeper], Awaitable["Managed"]]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends the request of that id, if it is under way, and gives this answer."""

    request_id: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Run:
    """A conversation with steps of its own: `converse` yields its events with the means given."""

    converse: Callable[[Means], Events]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run of an agent that brings its own rendering: one route can speak several dialects.

    `render` streams it at once, so that a failure is told in the stream; or `collect` sums it up.
    """

    converse: Callable[[], Events]
    render: Callable[[Events], Frames] | None = None
    collect: Callable[[Events], Awaitable[Reply]] | None = None
    content_type: str = EVENT_STREAM
    keep_alive: KeepAlive = KEEP_ALIVE
    model: str | None = None


Told = Reply | AgentRun | Frames
Managed = Reply | Frames | ChatRequest | Ask


@dataclass(frozen=True, slots=True)
class Look:
    """What takes its time: `find` answers, begins a run of an agent, or replays one."""

    find: Callable[[Agents], Awaitable[Told]]


Accepted = ChatRequest | Run | Reply | Ask | Cancel | Look | Manage
Accept = Callable[[Any, Facts], Accepted]
Render = Callable[[Events, Any, Facts], Frames]
Collect = Callable[[Events, Any, Facts], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`render` streams, `collect` answers with one body; `streams(body)` picks between them."""

    method: str
    path: str
    accept: Accept
    render: Render | None = None
    collect: Collect | None = None
    streams: Callable[[Any], bool] = lambda _body: True
    content_type: str = EVENT_STREAM
    failed: Callable[[Exception], Reply] | None = None
    """How this protocol words an error before a stream began; None: the server's plain form."""
    needs_body: bool = True
    reads_body: bool = True
    """Not where a request is refused whatever it brings, and that may be gigabytes."""
    takes_form: bool = False
    """A form with a file may come in place of JSON; its fields are the body then."""
    takes_credentials: bool = False
    """An allowed page may send its cookies to this path and all below it."""
    keep_alive: KeepAlive = KEEP_ALIVE
