"""The agents of this house: the model itself, the flows of plugins, and those elsewhere."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from server.conversation.agents.base import Agents
from server.conversation.agents.copilotkit import CopilotKitEndpoint
from server.conversation.agents.flows import FlowAgents
from server.conversation.agents.langgraph import LangGraphServer
from server.conversation.agents.local import Copilot
from server.conversation.agents.remote import Elsewhere, Peer, RemoteSource
from server.conversation.plugin_tools import PluginTools
from server.conversation.threads.files import ThreadFiles
from server.conversation.threads.threads import Threads
from server.egress import Egress
from server.engine.base import Engine
from server.plugins.service import PluginHouse
from server.settings import CopilotSettings

KINDS: dict[str, Callable[[Peer], RemoteSource]] = {
    "copilotkit": CopilotKitEndpoint,
    "langgraph": LangGraphServer,
}


def gather(
    egress: Egress,
    settings: Callable[[], CopilotSettings],
    house: PluginHouse,
    engine: Callable[[str | None], Awaitable[Engine]],
    threads_folder: Path,
) -> Agents:
    elsewhere = Elsewhere(egress, KINDS, lambda: settings().remote_agents)
    answer_tokens, offered = lambda: settings().answer_tokens, PluginTools(house).offered
    talk = lambda is_own: house.talk_for(is_own=is_own)  # noqa: E731
    copilot = Copilot(engine, elsewhere.tools, answer_tokens, talk, offered)
    flows = FlowAgents(house, engine)
    kept = ThreadFiles(threads_folder, lambda: settings().keep_threads)
    return Agents(lambda: (copilot, flows, *elsewhere.sources()), Threads(keeper=kept))
