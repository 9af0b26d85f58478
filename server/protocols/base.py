"""A protocol is data: endpoints that turn a checked body into a request and events into frames."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import uuid4

from server.asking.ask import Means
from server.chat import ChatRequest
from server.conversation.agents.base import Agents
from server.conversation.threads import EVERYBODY, ResponseMemory
from server.engine.pool import Loaded
from server.errors import AppError, KeyForbids, ModelNotFound
from server.events import Events
from server.face.core import About
from server.face.models import Download, ModelCard
from server.models.aliases import Alias
from server.models.gguf.header import Header

Frames = AsyncGenerator[bytes, None]
EVENT_STREAM = "text/event-stream"
KEEP_ALIVE = b": still here\n\n"
KeepAlive = bytes | Callable[[bytes], bytes]
"""A frame that only shows that the answer is still to come. A function gets the frame before it,
which is empty if there was none."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A plain JSON answer, or a text if `text` is given."""

    body: Any = None
    status: int = 200
    text: str | None = None
    content_type: str = "application/json"


Readiness = Literal["ready", "idle", "loading", "failed", "no model", "not answering"]
"""Whether the default model answers. `idle`: it is loaded by the next request."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a protocol knows of the server: its checked address, its models, the default one."""

    address: str
    models: tuple[ModelCard, ...] = ()
    """Each model, and again under each of its other names."""
    default_model: str = ""
    version: str = ""
    engine_health: Literal["ok", "busy", "not answering"] = "ok"
    readiness: Readiness = "ready"
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """The request's headers, names in lower case, without those that carry secrets."""
    is_own: bool = False
    """The request comes from the person's own window."""
    request_id: str = field(default_factory=lambda: uuid4().hex)
    """The id under which the running request is tracked."""
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
        """The page that asks; empty for a program."""
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
    """A file of a form. Its name is whatever the sender chose."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the engine that is not a conversation. `then(result)` answers or asks on."""

    what: str
    model: str | None
    arguments: dict[str, Any]
    then: Callable[[Any], "Reply | Ask"]
    keep_s: float | None = None
    """How long the model is to stay loaded afterwards; None: as the settings say."""
    by: About = field(default_factory=lambda: About(""))
    """Who asks; added on the way."""


class ModelKeeper(Protocol):
    """The models of this machine, as far as a client may see and change them."""

    async def header(self, card: ModelCard) -> Header: ...
    def alias(self, card: ModelCard) -> Alias | None: ...
    def name_model(self, name: str, alias: Alias) -> None:
        """Gives a model another name."""

    def keep(self, card: ModelCard, seconds: float) -> None:
        """Keeps a loaded model that long after its last answer."""

    async def delete(self, card: ModelCard) -> None: ...
    async def pull(self, name: str) -> AsyncGenerator[Download, None]:
        """Starts or refuses a download, then yields its progress until it is done."""


@dataclass(frozen=True, slots=True)
class Manage:
    """A look at the models of this machine, or a change. `do` answers, streams or asks on."""

    do: Callable[[ModelKeeper], Awaitable["Managed"]]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends the running request of that id, if there is one, and gives this answer."""

    request_id: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Run:
    """A conversation with its own steps: `converse` yields its events with the given means."""

    converse: Callable[[Means], Events]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run of an agent with its own rendering: one route can speak several dialects.

    `render` streams at once, so that a failure comes in the stream. `collect` makes one answer.
    """

    converse: Callable[[], Events]
    render: Callable[[Events], Frames] | None = None
    collect: Callable[[Events], Awaitable[Reply]] | None = None
    content_type: str = EVENT_STREAM
    keep_alive: KeepAlive = KEEP_ALIVE
    model: str | None = None


LookResult = Reply | AgentRun | Frames
Managed = Reply | Frames | ChatRequest | Ask


@dataclass(frozen=True, slots=True)
class Look:
    """A request that takes time: `find` answers, begins a run of an agent, or replays one."""

    find: Callable[[Agents], Awaitable[LookResult]]


Accepted = ChatRequest | Run | Reply | Ask | Cancel | Look | Manage
Accept = Callable[[Any, Facts], Accepted]
Render = Callable[[Events, Any, Facts], Frames]
Collect = Callable[[Events, Any, Facts], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`render` streams, `collect` answers with one body. `streams(body)` picks one of them."""

    method: str
    path: str
    accept: Accept
    render: Render | None = None
    collect: Collect | None = None
    streams: Callable[[Any], bool] = lambda _body: True
    content_type: str = EVENT_STREAM
    failed: Callable[[Exception], Reply] | None = None
    """Words an error before a stream began. None: the server's plain form."""
    needs_body: bool = True
    reads_body: bool = True
    """False for a request that is always refused: its body may be gigabytes."""
    takes_form: bool = False
    """A form with a file may come instead of JSON. Its fields are then the body."""
    takes_credentials: bool = False
    """An allowed page may send its cookies to this path and those below it."""
    keep_alive: KeepAlive = KEEP_ALIVE
