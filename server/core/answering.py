"""How a request gets its answer: from a conversation, from an agent, or from the engine itself."""

from collections.abc import Awaitable, Callable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from server.asking.ask import Means
from server.chat import ChatRequest
from server.conversation.agents.base import Agents
from server.conversation.run import converse
from server.core.keys import Keys
from server.core.running_requests import Requests
from server.core.served_models import Keeper
from server.dashboard.links import AllowedFiles
from server.engine.base import Embeddings, Engine, Ranking
from server.errors import EngineCrashed, KeyMayNot, ModelLoadFailed, NotSupported, Stopping
from server.events import Events, Usage
from server.face.core import About
from server.plugins.approvals import chat_key
from server.plugins.service import PluginHouse
from server.protocols.base import AgentRun, Ask, Look, LookResult, Manage, Managed, Run
from server.system.lazy import Late

trial: Any = Late("server.dashboard.trial")

ASKABLE = frozenset({"tokenize", "detokenize", "embed", "rerank", "apply_template", "load"})
RESTING = {"running": 0, "waiting": 0}
"""The figures of a model that is not loaded."""


async def _no_figures() -> str:
    raise NotSupported("There are no figures here.")


@dataclass(frozen=True, slots=True)
class Answering:
    engine: Callable[[str | None], Awaitable[Engine]]
    model_name: Callable[[], str]
    """Returns the name of the model that answers when a request names none."""
    house: PluginHouse
    agents: Agents
    requests: Requests
    keeper: Keeper | None = None
    trials: Path | None = None
    """Where it is kept which models are able to make plans; None: none is asked to."""
    files: AllowedFiles | None = None
    show_figures: Callable[[], Awaitable[str]] = _no_figures
    keys: Keys | None = None

    def chat(self, request: ChatRequest | Run | AgentRun, about: About) -> Events:
        """Every event of a conversation's answer, tracked and cancellable."""
        asked = request.model
        if asked is None and not isinstance(request, AgentRun):
            asked = self._default_for(about.key)
            request = replace(request, model=asked or None)
        if isinstance(request, ChatRequest) and self.keeper is not None:
            request = self.keeper.resolve(request)
        model = request.model or self.model_name()
        about = replace(about, model=model, asked=asked or model)
        answers = request.choices if isinstance(request, ChatRequest) else 1
        return self.requests.track(self._run(request, about), about, answers)

    async def ask(self, ask: Ask) -> Any:
        if ask.what == "stats":
            return await self._stats(ask.by.key)
        if ask.what == "metrics":
            return await self._figures(ask.by.key)
        if ask.what not in ASKABLE:
            raise NotSupported(f"The engine does not support this: {ask.what}.")
        model = ask.model or self._default_for(ask.by.key)
        if self.keys and (refusal := self.keys.find_refusal(ask.by.key, self._names(model))):
            raise refusal
        try:
            with self.keys.count(ask.by.key) if self.keys else nullcontext(None) as spend:
                engine = await self.engine(model)
                found = await getattr(engine, ask.what)(**ask.arguments)
                if isinstance(found, Embeddings | Ranking):
                    self.requests.figures.count(model, ask.by.key, Usage(found.tokens))
                    if spend is not None:
                        spend(found.tokens)
                return found
        finally:
            if ask.keep_s is not None and self.keeper is not None:
                self.keeper.keep_named(ask.model, ask.keep_s)

    def _default_for(self, key: str) -> str:
        """The model that answers when none is named: the first that the key may use."""
        name = self.model_name()
        if self.keys is None or self.keys.may_use(key, name):
            return name
        limits = self.keys.limits_of(key)
        return limits.models[0] if limits else name

    def _names(self, model: str) -> tuple[str, ...]:
        base = self.keeper.base_name(model) if self.keeper is not None else model
        return (model, base or model)

    async def _figures(self, key: str) -> str:
        limits = self.keys.limits_of(key) if self.keys else None
        if limits is not None and not limits.figures:
            raise KeyMayNot(key, "read the figures")
        return await self.show_figures()

    async def manage(self, manage: Manage) -> Managed:
        if self.keeper is None:
            raise NotSupported("There are no models here.")
        return await manage.do(self.keeper)

    async def _stats(self, key: str) -> Any:
        """Returns the counts of the default model, if it is loaded. Looking does not load it."""
        may_look = self.keys is None or self.keys.may_use(key, self.model_name())
        engine = self.keeper.peek() if self.keeper is not None and may_look else None
        if engine is None:
            return RESTING
        try:
            return await engine.stats()
        except (Stopping, EngineCrashed, ModelLoadFailed):  # it left while we looked
            return RESTING

    async def look(self, look: Look) -> LookResult:
        return await look.find(self.agents)

    async def _run(self, request: ChatRequest | Run | AgentRun, about: About) -> Events:
        if isinstance(request, AgentRun):
            run = request.converse()
        elif isinstance(request, Run):
            run = request.converse(await self._means(request.model, about))
        else:
            means = replace(await self._means(request.model, about), text_only=True)
            chat = chat_key(about.client, about.chat, is_own=about.is_own)
            run = converse(means, replace(request, client=about.client, chat=chat))
        async with aclosing(run) as events:
            async for event in events:
                yield event

    async def _means(self, model: str | None, about: About) -> Means:
        talk = self.house.talk_for(is_own=about.is_own)
        can_plan = trial.trials_at(self.trials).is_able if self.trials else None
        engine = await self.engine(model)
        return Means(engine, about.client, talk, files=self.files, can_plan=can_plan)
