"""Plugins as a window sees them: cards, questions to a person, and commands."""

from dataclasses import dataclass
from typing import Literal, Protocol

from server.face import Text
from server.observe import Value

Risk = Literal["read", "change", "danger"]
"""What a call does: it only reads, it changes something, or it cannot be undone."""
SERVER = "server"
"""The name of the option with the address of a plugin's API."""
PluginState = Literal["ok", "warnings", "partly broken", "broken"]


@dataclass(frozen=True, slots=True)
class OperationCard:
    """Something a plugin can do, its risk, and what the person has decided about it."""

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
    """A tool of an MCP server or of the plugin's code. `schema` is its arguments', as JSON."""

    key: str
    description: str
    schema: str
    risk: Risk = "change"


@dataclass(frozen=True, slots=True)
class OptionCard:
    """An option of a plugin that a person sets. `kind` is text, file, folder or folders."""

    name: str
    label: Text
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
    """The technical details of the servers that failed."""
    working: Text = ""
    """What one of its servers does before it can answer, such as downloading its package."""
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    missing_secrets: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """The programs that it starts: its MCP servers."""
    runs_code: bool = False
    database: str = ""
    operations: tuple[OperationCard, ...] = ()
    flows: tuple[FlowCard, ...] = ()
    options: tuple[OptionCard, ...] = ()
    question: str = ""
    previous_version: str | None = None
    """The version that a rollback would restore; None if there is none."""
    changing_methods: bool = False
    sign_in: Literal["", "needed", "open", "done"] = ""
    """Whether a sign-in with its provider is needed, open in the browser, or done."""
    has_tools: bool = False
    """Whether it has an MCP server or code, whose tools can be tried."""
    walled: bool = False
    """Whether the system keeps its code and programs away from other files and the network."""
    changes: tuple[str, ...] = ()
    """The files that have changed since the person enabled it."""
    resources: tuple[str, ...] = ()
    """The resources that its MCP servers offer, once they were asked for their tools."""
    prompts: tuple[str, ...] = ()
    """The names of the prompts that its MCP servers offer."""

    @property
    def has_your_rights(self) -> bool:
        """Whether it runs something outside of a sandbox."""
        return not self.walled and bool(self.commands or self.runs_code)

    @property
    def lacks_address(self) -> bool:
        """Whether it calls an API whose address nobody has entered yet."""
        return any(option.name == SERVER and not option.value for option in self.options)


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for a person, exactly as it would be sent. Body and arguments are JSON."""

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
    """The connected program if it uses this plugin for the first time; empty otherwise."""


@dataclass(frozen=True, slots=True)
class FormCard:
    """A form with what a flow still needs. `schema` is JSON; the format 'binary' is a file."""

    id: str
    plugin: str
    step: str
    schema: str
    reason: str = ""
    expires_at: float = 0.0


@dataclass(frozen=True, slots=True)
class CommonServer:
    """An MCP server of the list that comes with Moat. Nothing of it is here until it is added."""

    name: str
    about: Text
    reaches: Text
    licence: str
    command: str
    asks_hosts: bool = False
    """Whether it can reach only hosts that the person names."""
    added: bool = False


@dataclass(frozen=True, slots=True)
class PluginTest:
    """What a flow would send (dry), or did with made-up (mock) or real answers to a question."""

    text: Text
    requests: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    failed: bool = False


class PluginsFace(Protocol):
    """What a window can see of plugins, and do with them."""

    cards: Value[tuple[PluginCard, ...]]
    approvals: Value[tuple[Approval, ...]]
    forms: Value[tuple[FormCard, ...]]
    unwatched: Value[tuple[str, ...]]
    """The plugins that have run something that Moat cannot watch, since Moat started."""

    async def answer_approval(self, approval_id: str, decision: str, arguments: str) -> None:
        """`decision` is once, always or deny. Empty `arguments` keep those shown."""
        ...

    async def answer_form(self, form_id: str, values: str) -> None:
        """`values` is JSON by name, with a file as its path. Empty means no answer."""
        ...

    async def look_again(self) -> None:
        """Looks for changes in the plugins' folders now, not only before they are used."""
        ...

    async def install(self, path: str) -> str: ...
    async def import_servers(self, path: str) -> list[str]:
        """Makes a plugin of each MCP server that another program lists. They start disabled."""
        ...

    async def common_servers(self) -> list[CommonServer]: ...
    async def add_server(self, name: str, hosts: str) -> str:
        """Makes a plugin of a common MCP server; it starts disabled. `hosts`: with commas."""
        ...

    async def enable(self, key: str) -> None: ...
    async def disable(self, key: str) -> None: ...
    async def remove(self, key: str) -> None: ...
    async def roll_back(self, key: str) -> None: ...
    async def set_secret(self, key: str, name: str, value: str) -> None: ...
    async def sign_in(self, key: str) -> str:
        """Returns the address to open in the browser. The core receives the answer."""
        ...

    async def sign_out(self, key: str) -> None: ...
    async def set_option(self, key: str, name: str, value: str) -> None: ...
    async def set_policy(self, key: str, operation: str, policy: str) -> None: ...
    async def test(self, key: str, flow: str, question: str, mode: str) -> PluginTest: ...
    async def find_tools(self, key: str) -> tuple[ToolCard, ...]:
        """Starts the plugin's servers and code to find out which tools they offer."""
        ...

    async def try_tool(self, key: str, tool: str, arguments: str, mode: str) -> PluginTest:
        """Calls a tool without a model. `arguments` is JSON by name."""
        ...

    async def read_log(self, key: str, count: int) -> list[str]: ...
