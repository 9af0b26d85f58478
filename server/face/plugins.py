"""Plugins as a screen sees them: cards, questions that wait for a person, and what can be done."""

from dataclasses import dataclass
from typing import Literal, Protocol

from server.observe import Value

Risk = Literal["read", "change", "danger"]
SERVER = "server"
"""The option with the address of a plugin's API."""
PluginState = Literal["ok", "warnings", "partly broken", "broken"]


@dataclass(frozen=True, slots=True)
class OperationCard:
    """Something a plugin can do, how risky it is, and what was decided about it."""

    key: str
    description: str
    risk: Risk
    policy: Literal["default", "allow", "block"] = "default"


@dataclass(frozen=True, slots=True)
class FlowCard:
    key: str
    description: str
    usable: bool = True


@dataclass(frozen=True, slots=True)
class ToolCard:
    """A tool of an MCP server or of the plugin's code; `schema` is its arguments', as JSON."""

    key: str
    description: str
    schema: str
    risk: Risk = "change"


@dataclass(frozen=True, slots=True)
class OptionCard:
    """What a person sets for a plugin; `kind` is text, file, folder or folders."""

    name: str
    label: str
    kind: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class PluginCard:
    """A plugin on this machine. `review`: it is new or changed, and enabling it accepts that."""

    key: str
    name: str
    description: str
    version: str
    state: PluginState
    enabled: bool
    review: bool
    shipped: bool
    findings: tuple[str, ...] = ()
    failure_details: str = ""
    """What is technical about the servers that failed."""
    working: str = ""
    """What one of its servers is doing before it can answer, such as fetching its package."""
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    missing_secrets: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Programs it would start: its MCP servers."""
    runs_code: bool = False
    database: str = ""
    operations: tuple[OperationCard, ...] = ()
    flows: tuple[FlowCard, ...] = ()
    options: tuple[OptionCard, ...] = ()
    question: str = ""
    previous_version: str | None = None
    """The version a rollback would bring back; None when there is none."""
    changing_methods: bool = False
    sign_in: Literal["", "needed", "open", "done"] = ""
    """Whether a sign-in with its provider is needed, is open in the browser, or is done."""
    has_tools: bool = False
    """It has an MCP server or code of its own, whose tools can be tried."""
    walled: bool = False
    """The system keeps its code and programs from other files and from the network."""
    changes: tuple[str, ...] = ()
    """The files that changed since the person enabled it."""
    resources: tuple[str, ...] = ()
    """What its MCP servers offer to read, once they were asked for their tools."""
    prompts: tuple[str, ...] = ()
    """The prompts that its MCP servers offer, by name."""

    @property
    def has_your_rights(self) -> bool:
        """It runs something that no wall surrounds."""
        return not self.walled and bool(self.commands or self.runs_code)

    @property
    def lacks_address(self) -> bool:
        """It calls an API whose address nobody has entered yet."""
        return any(option.name == SERVER and not option.value for option in self.options)


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for a person: exactly what would be sent. Body and arguments are JSON."""

    id: str
    plugin: str
    operation: str
    risk: Risk
    title: str
    where: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    arguments: str = "{}"
    can_always: bool = True
    expires_at: float = 0.0
    client: str = ""
    """The connected program that uses this plugin for the first time; empty otherwise."""


@dataclass(frozen=True, slots=True)
class FormCard:
    """What a flow still needs. `schema` is JSON; a field of the format 'binary' is a file."""

    id: str
    plugin: str
    step: str
    schema: str
    reason: str = ""
    expires_at: float = 0.0


@dataclass(frozen=True, slots=True)
class CommonServer:
    """An MCP server of the list that comes with Moat. Nothing of it is here before it is added."""

    name: str
    about: str
    reaches: str
    licence: str
    command: str
    asks_hosts: bool = False
    """It reaches only hosts that the person names."""
    added: bool = False


@dataclass(frozen=True, slots=True)
class PluginTest:
    """What a flow would do with a question (dry), does with made-up answers (mock), or did."""

    text: str
    requests: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    failed: bool = False


class PluginsFace(Protocol):
    cards: Value[tuple[PluginCard, ...]]
    approvals: Value[tuple[Approval, ...]]
    forms: Value[tuple[FormCard, ...]]
    unwatched: Value[tuple[str, ...]]
    """The plugins that have run something that Moat cannot watch, since Moat started."""

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        """Decision: once, always or deny; arguments: empty for as shown."""
        ...

    async def answer_form(self, form_id: str, values: str) -> None:
        """Values: JSON by name, a file by its path; empty for no answer."""
        ...

    async def look_again(self) -> None:
        """See now what changed in their folders; otherwise that is seen before they are used."""
        ...

    async def install(self, path: str) -> str: ...
    async def import_servers(self, path: str) -> list[str]:
        """Makes a plugin of each MCP server that another program lists. They start disabled."""
        ...

    async def common_servers(self) -> list[CommonServer]: ...
    async def add_server(self, name: str, hosts: str) -> str:
        """Makes a plugin of a common MCP server, which starts disabled. Hosts: with commas."""
        ...

    async def enable(self, key: str) -> None: ...
    async def disable(self, key: str) -> None: ...
    async def remove(self, key: str) -> None: ...
    async def roll_back(self, key: str) -> None: ...
    async def set_secret(self, key: str, name: str, value: str) -> None: ...
    async def sign_in(self, key: str) -> str:
        """The address to open in the browser; what follows is heard by the core."""
        ...

    async def sign_out(self, key: str) -> None: ...
    async def set_option(self, key: str, name: str, value: str) -> None: ...
    async def set_policy(self, key: str, operation: str, policy: str) -> None: ...
    async def test(self, key: str, flow: str, question: str, mode: str) -> PluginTest: ...
    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        """Starts the plugin's servers and code to hear what they offer."""
        ...

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        """Arguments: JSON by name; no model is asked."""
        ...

    async def read_log(self, key: str, count: int) -> list[str]: ...
