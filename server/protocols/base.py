"""The types that protocols are made of.

A protocol is a tuple of endpoints. `accept` turns the body of a request into one of the `Accepted`
types; `render` and `collect` turn the events of its answer into frames or into one reply.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol
from uuid import uuid4

from server.asking.ask import Means
from server.chat import ChatRequest
from server.conversation.agents.base import Agents
from server.conversation.threads import EVERYBODY, ResponseMemory
from server.engine.pool import LoadedModel
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
"""A frame that keeps a silent stream open, or a function that makes it from the last frame sent
(empty if there was none)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole response: `body` as JSON, or `text` if it is given."""

    body: Any = None
    status: int = 200
    text: str | None = None
    content_type: str = "application/json"


Readiness = Literal["ready", "idle", "loading", "failed", "no model", "not answering"]
"""Whether the default model can answer. `idle`: it is not loaded; the next request loads it."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a protocol may know about the server and the request."""

    address: str
    """The server's URL as the client named it, after the guard has checked the host."""
    models: tuple[ModelCard, ...] = ()
    """The models that the client may use. A model with other names is listed under each of them."""
    default_model: str = ""
    version: str = ""
    engine_health: Literal["ok", "busy", "not answering"] = "ok"
    readiness: Readiness = "ready"
    path: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """The request's headers, with names in lower case and without those that carry secrets."""
    is_own: bool = False
    """Whether the request comes from Moat's own window."""
    request_id: str = field(default_factory=lambda: uuid4().hex)
    """The id by which the request can be cancelled while it runs."""
    owner: str = ""
    """Hashes of the page and the key that sent the request. Responses are kept under them."""
    holder: str = ""
    """The name of the key that came with the request; empty unless it is a named key."""
    forbidden: frozenset[str] = frozenset()
    """Names of models that are installed but that this key may not use."""
    responses: ResponseMemory = field(default_factory=ResponseMemory)
    loaded: tuple[LoadedModel, ...] = ()

    @property
    def origin(self) -> str:
        """The origin of the web page that sent the request; empty for a program."""
        return self.headers.get("origin", "")

    @property
    def sees(self) -> str | None:
        """Whose threads the request may see: those of its `place`; everybody's for our window."""
        return EVERYBODY if self.is_own else self.place

    @property
    def place(self) -> str:
        """The name that its threads are kept under: the origin, and the name of its key."""
        return f"{self.origin} {self.holder}" if self.holder else self.origin

    def miss(self, name: str) -> AppError:
        """Returns the error for a model that does not exist, or that this key may not use."""
        if name in self.forbidden:
            return KeyForbids(self.holder, name, tuple(card.name for card in self.models))
        return ModelNotFound(name, tuple(card.name for card in self.models))


@dataclass(frozen=True, slots=True)
class Upload:
    """A file from a form. The sender chose its name, so the name can be anything."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to the engine, other than a chat. `then(result)` makes the reply or asks again."""

    what: str
    model: str | None
    arguments: dict[str, Any]
    then: Callable[[Any], "Reply | Ask"]
    keep_s: float | None = None
    """How long the model stays loaded afterwards, in seconds; None: as the settings say."""
    by: About = field(default_factory=lambda: About(""))
    """The request that asks. The web server sets it."""


class ModelKeeper(Protocol):
    """What a client may read and change about the models of this machine."""

    async def header(self, card: ModelCard) -> Header: ...
    def alias(self, card: ModelCard) -> Alias | None: ...
    def name_model(self, name: str, alias: Alias) -> None:
        """Adds a name for a model."""

    def keep(self, card: ModelCard, seconds: float) -> None:
        """Keeps a loaded model for so many seconds after its last answer; 0 unloads it."""

    async def delete(self, card: ModelCard) -> None: ...
    async def pull(self, name: str) -> AsyncGenerator[Download, None]:
        """Starts a download, or raises an error. The generator yields the progress to its end."""


@dataclass(frozen=True, slots=True)
class Manage:
    """Reads or changes the models of this machine. `do` returns a reply, a stream, or a request."""

    do: Callable[[ModelKeeper], Awaitable["Managed"]]


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancels the request with this id, if it still runs, and sends the reply."""

    request_id: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Run:
    """A conversation that takes its own steps. `converse` yields its events."""

    converse: Callable[[Means], Events]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run of an agent that brings its own rendering, because a route can speak several dialects.

    `render` streams at once, so a failure is part of the stream. `collect` makes one reply.
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
    """A request that takes time. `find` returns a reply, a run to start, or frames to replay."""

    find: Callable[[Agents], Awaitable[LookResult]]


Accepted = ChatRequest | Run | Reply | Ask | Cancel | Look | Manage
Accept = Callable[[Any, Facts], Accepted]
Render = Callable[[Events, Any, Facts], Frames]
Collect = Callable[[Events, Any, Facts], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A route. `render` streams, `collect` makes one reply; `streams(body)` chooses one of them."""

    method: str
    path: str
    accept: Accept
    render: Render | None = None
    collect: Collect | None = None
    streams: Callable[[Any], bool] = lambda _body: True
    content_type: str = EVENT_STREAM
    failed: Callable[[Exception], Reply] | None = None
    """Formats an error that occurs before the stream begins. None: OpenAI's format."""
    needs_body: bool = True
    """Whether an empty body is an error."""
    reads_body: bool = True
    """False for a route that refuses every request: the body could have gigabytes."""
    takes_form: bool = False
    """Whether the body may also be a form with a file. `accept` then gets its fields as a dict."""
    takes_credentials: bool = False
    """Whether an allowed page may send cookies to this path and the paths below it."""
    keep_alive: KeepAlive = KEEP_ALIVE
