"""Answers requests with a conversation, an agent or the engine itself.

Also serves the models of this machine to connected programs: their names, facts and downloads.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from server.asking.ask import CanPlan, Means
from server.chat import ChatRequest, Json
from server.conversation.agents.base import Agents
from server.conversation.agents.copilotkit import CopilotKitEndpoint
from server.conversation.agents.langgraph import LangGraphServer
from server.conversation.agents.local import Copilot
from server.conversation.agents.plugins import FlowAgents, PluginTools
from server.conversation.agents.remote import Elsewhere, Peer, RemoteSource
from server.conversation.run import converse
from server.conversation.threads import ThreadFiles, Threads
from server.core.calibration import KeptTrial
from server.core.keys import Keys
from server.core.running_requests import Requests
from server.dashboard.links import AllowedFiles
from server.egress import Egress
from server.engine.base import Embeddings, Engine, Ranking
from server.engine.pool import Pool
from server.errors import (
    BadRequest,
    EngineCrashed,
    HubFailed,
    KeyMayNot,
    ModelLoadFailed,
    NotSupported,
    Stopping,
)
from server.events import Events, Usage
from server.face.core import About
from server.face.models import Download, ModelCard
from server.models.aliases import Alias, Aliases, NameTaken, complete
from server.models.gguf.header import Header
from server.models.service import ModelShelf
from server.plugins.approvals import chat_key
from server.plugins.service import PluginHouse
from server.protocols.base import AgentRun, Ask, Look, LookResult, Manage, Managed, Run
from server.sentences import Sentence
from server.settings import CopilotSettings, OwnSettings

AT_WORK = ("waiting", "running", "verifying")


class Keeper:
    """The models that clients see and manage; implements `server.protocols.base.ModelKeeper`."""

    def __init__(
        self,
        held: tuple[ModelShelf, Pool],
        aliases: Aliases,
        default: Callable[[], str],
        own: Callable[[str], OwnSettings],
    ) -> None:
        """`own` returns the settings of one model."""
        self._shelf, self._pool = held
        self._aliases = aliases
        self._default = default
        self.own = own
        self._followers: Counter[str] = Counter()

    def cards(self) -> tuple[ModelCard, ...]:
        """Returns a card for each model and for each of its aliases."""
        return self._aliases.cards(self._shelf.cards.get())

    def base_name(self, name: str | None) -> str | None:
        """Returns the name of the model behind an alias; other names are returned unchanged."""
        if not name or self._aliases.find(name) is None:
            return name
        return next((card.base or name for card in self.cards() if card.name == name), name)

    def resolve(self, request: ChatRequest) -> ChatRequest:
        """Adds the alias's defaults and the model's own settings to the request."""
        alias, base = self._aliases.find(request.model), self.base_name(request.model)
        if alias is not None and base is not None:
            request = alias.apply(request, base)
        return complete(request, self.own(base or ""))

    def peek(self) -> Engine | None:
        """Returns the default model's engine if it is loaded, else None."""
        return self._pool.peek(self._default())

    def keep_named(self, name: str | None, seconds: float) -> None:
        self._pool.keep(self.base_name(name) or self._default(), seconds)

    def keep(self, card: ModelCard, seconds: float) -> None:
        self._pool.keep(card.base or card.name, seconds)

    async def header(self, card: ModelCard) -> Header:
        if card.hosts:
            known: Json = {"general.name": card.title, "general.architecture": "elsewhere"}
            known |= {"elsewhere.context_length": card.trained_context_tokens}
            return Header(known)
        return await asyncio.to_thread(self._shelf.headers.check, Path(card.path))

    def alias(self, card: ModelCard) -> Alias | None:
        return self._aliases.find(card.name) if card.base else None

    def name_model(self, name: str, alias: Alias) -> None:
        self._aliases.set(name, alias, self._shelf.cards.get())

    async def delete(self, card: ModelCard) -> None:
        alias = self.alias(card)
        if alias is not None and not alias.is_pulled:
            self._aliases.remove(card.name)
            return
        others = ", ".join(f"'{name}'" for name in self._aliases.made_from(card.path))
        if others:
            raise NameTaken(
                Sentence(
                    "Deleting '{0}' would also delete {1}: delete that model first.",
                    card.name,
                    others,
                )
            )
        await self._shelf.delete(card.base or card.name)

    def forget(self, path: str) -> None:
        """Removes the aliases of a model file that was deleted."""
        self._aliases.forget(path)

    async def pull(self, name: str) -> AsyncGenerator[Download, None]:
        """Pulls a model and returns its progress.

        If the caller leaves, the download pauses, unless somebody else started it or follows it.
        """
        busy = {
            download.id for download in self._shelf.downloads.get() if download.phase in AT_WORK
        }
        path, number = await self._shelf.pull(name)
        if all(card.name != name for card in self._shelf.cards.get()):
            self.name_model(name, Alias(path=str(path), is_pulled=True))
        is_ours = number not in busy or bool(self._followers[number])
        return self._follow(number, is_ours=is_ours)

    async def _follow(self, number: str, *, is_ours: bool) -> AsyncGenerator[Download, None]:
        if not number:
            return
        news = asyncio.Event()
        disconnect = self._shelf.downloads.connect(lambda _all: news.set())
        self._followers[number] += 1
        try:
            while True:
                news.clear()
                yield (now := self._now(number))
                if now.phase == "done":
                    return
                await news.wait()
        finally:
            disconnect()
            self._followers[number] -= 1
            if is_ours and not self._followers[number]:
                await self._pause(number)

    def _now(self, number: str) -> Download:
        found = next(
            (download for download in self._shelf.downloads.get() if download.id == number), None
        )
        if found is None:
            raise BadRequest(Sentence("The download was cancelled."), "model")
        if found.phase == "failed":
            raise HubFailed(found.reason)
        return found

    async def _pause(self, number: str) -> None:
        """Pauses a download that is at work. The next pull continues it."""
        if any(each.id == number and each.phase in AT_WORK for each in self._shelf.downloads.get()):
            await self._shelf.pause_download(number)


KINDS: dict[str, Callable[[Peer], RemoteSource]] = {
    "copilotkit": CopilotKitEndpoint,
    "langgraph": LangGraphServer,
}


def gather_agents(
    egress: Egress,
    settings: Callable[[], CopilotSettings],
    house: PluginHouse,
    engine: Callable[[str | None], Awaitable[Engine]],
    folder: Path,
    own: Callable[[str | None], OwnSettings],
) -> Agents:
    """Collects the agents for CopilotKit pages: the model, plugins' flows, remote agents."""
    elsewhere = Elsewhere(egress, KINDS, lambda: settings().remote_agents)
    answer_tokens, offer = lambda: settings().answer_tokens, PluginTools(house).offer
    talk = lambda is_own: house.talk_for(is_own=is_own)  # noqa: E731
    copilot = Copilot(engine, elsewhere.tools, answer_tokens, talk, offer, own)
    copilot.can_plan = KeptTrial(folder)
    flows = FlowAgents(house, engine)
    kept = ThreadFiles(folder / "threads", lambda: settings().keep_threads)
    return Agents(lambda: (copilot, flows, *elsewhere.sources()), Threads(kept))


ASKABLE = frozenset({"tokenize", "detokenize", "embed", "rerank", "apply_template", "load"})
"""The engine's methods that `Answering.ask` may call."""
RESTING = {"running": 0, "waiting": 0}
"""The counts of a model that is not loaded."""


@dataclass(frozen=True, slots=True)
class Answering:
    """The entry for all requests. It passes them to a conversation, an agent or the engine."""

    engine: Callable[[str | None], Awaitable[Engine]]
    model_name: Callable[[], str]
    """Returns the name of the model that answers requests without a model."""
    house: PluginHouse
    agents: Agents
    requests: Requests
    keeper: Keeper
    can_plan: CanPlan
    files: AllowedFiles
    show_figures: Callable[[], Awaitable[str]]
    keys: Keys

    def chat(self, request: ChatRequest | Run | AgentRun, about: About) -> Events:
        """Returns the events of an answer. The request is tracked and can be cancelled."""
        asked = request.model
        if asked is None and not isinstance(request, AgentRun):
            asked = self._default_for(about.key)
            request = replace(request, model=asked or None)
        if isinstance(request, ChatRequest):
            request = self.keeper.resolve(request)
        model = request.model or self.model_name()
        about = replace(about, model=model, asked=asked or model)
        answers = request.choices if isinstance(request, ChatRequest) else 1
        return self.requests.track(partial(self._begin, request, about), about, answers)

    async def ask(self, ask: Ask) -> Any:
        if ask.what == "stats":
            return await self._stats(ask.by.key)
        if ask.what == "metrics":
            return await self._figures(ask.by.key)
        if ask.what not in ASKABLE:
            raise NotSupported(Sentence("The engine does not support this: {0}.", ask.what))
        model = ask.model or self._default_for(ask.by.key)
        names = (model, self.keeper.base_name(model) or model)
        if refusal := self.keys.find_refusal(ask.by.key, names):
            raise refusal
        try:
            with self.keys.count(ask.by.key) as spend:
                engine = await self.engine(model)
                found = await getattr(engine, ask.what)(**ask.arguments)
                if isinstance(found, Embeddings | Ranking):
                    self.requests.figures.count(model, ask.by.key, Usage(found.tokens))
                    spend(found.tokens)
                return found
        finally:
            if ask.keep_s is not None:
                self.keeper.keep_named(ask.model, ask.keep_s)

    def _default_for(self, key: str) -> str:
        """Returns the model for requests without one: the default, or one that the key may use."""
        name = self.model_name()
        if self.keys.may_use(key, name):
            return name
        limits = self.keys.limits_of(key)
        return limits.models[0] if limits else name

    async def _figures(self, key: str) -> str:
        limits = self.keys.limits_of(key)
        if limits is not None and not limits.figures:
            raise KeyMayNot(key, "read the figures")
        return await self.show_figures()

    async def manage(self, manage: Manage) -> Managed:
        return await manage.do(self.keeper)

    async def _stats(self, key: str) -> Any:
        """Returns the counts of the default model, if it is loaded. Looking does not load it."""
        engine = self.keeper.peek() if self.keys.may_use(key, self.model_name()) else None
        if engine is None:
            return RESTING
        try:
            return await engine.stats()
        except (Stopping, EngineCrashed, ModelLoadFailed):  # the engine stopped meanwhile
            return RESTING

    async def look(self, look: Look) -> LookResult:
        return await look.find(self.agents)

    async def _begin(self, request: ChatRequest | Run | AgentRun, about: About) -> Events:
        """Waits for the model if one is needed, and returns the events of the run."""
        if isinstance(request, AgentRun):
            return request.converse()
        means = await self._means(request.model, about)
        if isinstance(request, Run):
            return request.converse(means)
        chat = chat_key(about.client, about.chat, is_own=about.is_own)
        asked = replace(request, client=about.client, chat=chat)
        return converse(replace(means, text_only=True), asked)

    async def _means(self, model: str | None, about: About) -> Means:
        talk = self.house.talk_for(is_own=about.is_own)
        engine = await self.engine(model)
        return Means(engine, about.client, talk, files=self.files, can_plan=self.can_plan)
