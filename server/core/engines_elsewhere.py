"""The engines on other servers: which exist, what they report, how they are reached."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from server.egress import Egress
from server.engine.base import LoadState, ModelFacts
from server.engine.elsewhere.engine import Remote, RemoteEngine
from server.engine.elsewhere.several import Several
from server.errors import AppError, BadRequest, ModelLoadFailed
from server.face.models import EngineState, ModelCard
from server.observe import Value
from server.sentences import Sentence
from server.settings import ENGINE_FORM, EngineElsewhere, Settings
from server.system.keychain import Keychain, given_secret, variable_of
from server.system.limits import one_line
from server.tasks import spawn, stop

SETTING = "engines.elsewhere"
PATH = "engine:"
"""Prefix of the value that replaces the path for a model that has no file here."""
TESTING = Sentence("testing a remote engine")
PATIENCE_S = 15.0
"""Seconds that a server may take to describe itself."""
SILENT = Sentence("It does not respond.")
Change = Callable[[str, Any], Awaitable[None]]


class EnginesElsewhere:
    """The engines of the settings and those given for this run.

    Implements `server.face.models.EnginesFace`.
    """

    def __init__(
        self,
        door: tuple[Egress, Keychain],
        settings: Callable[[], Settings],
        change: Change,
        on_change: Callable[[], None],
        names_here: Callable[[], Iterable[str]],
    ) -> None:
        self.states: Value[tuple[EngineState, ...]] = Value(())
        self.hide: Callable[[str], None] = lambda _secret: None
        self._door, self._keychain = door
        self._settings = settings
        self._change = change
        self._on_change = on_change
        self._names_here = names_here
        self._given: tuple[EngineElsewhere, ...] = ()
        self._keys: dict[str, str] = {}
        self._allowed: dict[str, tuple[str, ...]] = {}
        self._testing = asyncio.Lock()
        self._looks: dict[str, asyncio.Task[None]] = {}

    def all(self) -> tuple[EngineElsewhere, ...]:
        """Returns all engines. Those given for this run replace settings of the same name."""
        names = {engine.name for engine in self._given}
        kept = self._settings().engines.elsewhere
        return (*self._given, *(engine for engine in kept if engine.name not in names))

    def find(self, name: str | None) -> EngineElsewhere | None:
        return next((engine for engine in self.all() if engine.name == name), None)

    def cards(self, taken: Iterable[str]) -> tuple[ModelCard, ...]:
        """Returns their models' cards, without names that a model on this machine has."""
        names = set(taken)
        return tuple(_card(state) for state in self.states.get() if state.engine.name not in names)

    def follow(self) -> None:
        """Allows requests to the current engines only, and asks new engines about themselves."""
        engines = {engine.name: engine for engine in self.all()}
        for name, urls in tuple(self._allowed.items()):
            if name not in engines or engines[name].urls != urls:
                self._door.forget(_reason(name))
                del self._allowed[name]
        for name, engine in engines.items():
            for url in engine.urls:
                self._door.allow(url, _reason(name), stays=True)
            self._allowed[name] = engine.urls
        known = {state.engine.name: state for state in self.states.get()}
        asked = [state.engine for state in known.values()]
        new = [engine for engine in engines.values() if engine not in asked]
        fresh = {far.name: EngineState(far, is_given=far in self._given) for far in new}
        self.states.set(tuple((known | fresh)[name] for name in engines))
        for engine in new:
            self._look_at(engine)

    async def close(self) -> None:
        for looking in self._looks.values():
            await stop(looking)

    async def give(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Takes engines for this run, as `moat serve --engine` does, and returns their names.

        If a model on this machine has the same name, the host is added to the engine's name.
        """
        names = set(self._names_here())
        for text in texts:
            try:
                engine = EngineElsewhere.of(text)
            except ValueError:
                raise BadRequest(f"'{text}' is not understood. {ENGINE_FORM}", "engine") from None
            if engine.name in engine.hosts:
                engine = await self._name_by_model(engine)
            if engine.name in names:
                name = f"{engine.name}@{engine.hosts[0]}"
                engine = engine.model_copy(update={"name": name})
            self._refuse_shared_key(engine.name)
            self._given = (*(other for other in self._given if other.name != engine.name), engine)
        self.follow()
        return tuple(engine.name for engine in self._given)

    def reach(self, engine: EngineElsewhere) -> Several:
        """Returns the engine that sends requests to these servers."""
        name = engine.name
        self._keys.pop(name, None)  # it may have another key by now
        made = Several(_remotes(engine, _reason(name), self._door, lambda: self._key_of(name)))
        made.state.connect(lambda state: self._see(engine, made, state))
        made.out.connect(lambda out: self._show(engine, out=out))
        return made

    async def test(self, engine: EngineElsewhere, key: str) -> EngineState:
        """Returns what its first server reports. Raises if any of its servers does not answer."""
        key = key.strip() or await self._find_key(engine.name)
        if key:
            self.hide(key)

        async def given() -> str:
            return key

        async with self._testing:
            for url in engine.urls:
                self._door.allow(url, TESTING, stays=True)
            try:
                remotes = _remotes(engine, TESTING, self._door, given)
                facts = [await _ask(remote) for remote in remotes]
            finally:
                self._door.forget(TESTING)
        return replace(EngineState(engine), **_describe(facts[0]))

    async def add(self, engine: EngineElsewhere, key: str) -> None:
        if engine.name in self._names_here():
            raise BadRequest(
                Sentence("A model on this machine is called '{0}'.", engine.name), "name"
            )
        if any(engine.name == given.name for given in self._given):
            raise BadRequest(
                Sentence("'{0}' was set on the command line for this session.", engine.name), "name"
            )
        self._refuse_shared_key(engine.name)
        if key.strip():
            self.hide(key.strip())
            await self._keychain.set(_secret(engine.name), key.strip())
        others = [
            other for other in self._settings().engines.elsewhere if other.name != engine.name
        ]
        await self._change(SETTING, [far.model_dump() for far in (*others, engine)])
        self._look_at(engine)

    async def remove(self, name: str) -> None:
        kept = self._settings().engines.elsewhere
        if not any(engine.name == name for engine in kept):
            raise BadRequest(Sentence("There is no engine '{0}' in the settings.", name), "name")
        await self._change(SETTING, [engine.model_dump() for engine in kept if engine.name != name])
        self._keys.pop(name, None)
        await self._keychain.delete(_secret(name))

    async def _name_by_model(self, engine: EngineElsewhere) -> EngineElsewhere:
        try:
            found = await self.test(engine, "")
        except AppError:
            return engine  # it is not there yet, and its host will do as a name
        name = found.model.rpartition("/")[2] if found.model.endswith(".gguf") else found.model
        return engine.model_copy(update={"name": name.removesuffix(".gguf") or engine.name})

    async def _key_of(self, name: str) -> str:
        """Returns the key or "". It is remembered until the engine is reached anew."""
        if name not in self._keys:
            key = await self._find_key(name)
            if key:
                self.hide(key)
            self._keys[name] = key
        return self._keys[name]

    async def _find_key(self, name: str) -> str:
        self._refuse_shared_key(name)
        return await self._keychain.get(_secret(name)) or ""

    def _refuse_shared_key(self, name: str) -> None:
        """Raises if a variable is set that could be the key of this engine or of another."""
        variable = variable_of(_secret(name))
        others = (engine.name for engine in self.all() if engine.name != name)
        other = next((far for far in others if variable_of(_secret(far)) == variable), None)
        if other is not None and given_secret(_secret(name)):
            raise BadRequest(
                Sentence(
                    "The variable {0} would be the key of '{1}' and of '{2}'. Rename one of them.",
                    variable,
                    other,
                    name,
                ),
                "name",
            )

    def _look_at(self, engine: EngineElsewhere) -> None:
        """Asks the engine in the background what it serves."""
        looking = self._looks.pop(engine.name, None)
        if looking is not None:
            looking.cancel()
        self._looks[engine.name] = spawn(self._look(engine), f"ask {engine.name} who it is")

    async def _look(self, engine: EngineElsewhere) -> None:
        asked = self.reach(engine)
        with suppress(AppError, TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await asked.load()
        if asked.state.get().phase != "failed" and not asked.facts.name:
            self._show(engine, phase="failed", reason=SILENT, details="")
        await asked.close()

    def _see(self, engine: EngineElsewhere, made: Several, state: LoadState) -> None:
        if state.phase == "ready":
            self._show(engine, reason="", details="", **_describe(made.facts))
        elif state.phase == "failed":
            self._show(engine, phase="failed", reason=state.reason, details=state.details)

    def _show(self, engine: EngineElsewhere, **changes: Any) -> None:
        before = self.states.get()
        states = [
            replace(state, **changes) if state.engine == engine else state for state in before
        ]
        self.states.set(tuple(states))
        if self.states.get() != before:
            self._on_change()


def _remotes(
    engine: EngineElsewhere, reason: str, door: Egress, key: Callable[[], Awaitable[str]]
) -> list[RemoteEngine]:
    sees = {"yes": True, "no": False}.get(engine.images)
    return [
        RemoteEngine(
            Remote(
                url,
                engine.model,
                reason,
                engine.context_tokens,
                round(engine.billions * 1e9),
                sees,
                engine.tools == "server",
            ),
            door,
            key,
        )
        for url in engine.urls
    ]


async def _ask(remote: RemoteEngine) -> ModelFacts:
    try:
        async with asyncio.timeout(PATIENCE_S):
            return await remote.find_facts()
    except TimeoutError:
        raise ModelLoadFailed(Sentence("The engine at {0} does not answer.", remote.host)) from None


def _describe(facts: ModelFacts) -> dict[str, Any]:
    """Returns the fields of an `EngineState` that a server reports."""
    return {
        "phase": "ready",
        "model": one_line(facts.name),
        "kind": facts.extra.get("kind", ""),
        "context_tokens": facts.context_tokens,
        "parameters": facts.parameters,
        "sees_images": facts.sees_images,
    }


def _card(state: EngineState) -> ModelCard:
    engine = state.engine
    return ModelCard(
        engine.name,
        PATH + engine.name,
        0,
        parameters=state.parameters or round(engine.billions * 1e9),
        trained_context_tokens=state.context_tokens or engine.context_tokens,
        owned="elsewhere",
        digest=hashlib.sha256(engine.model_dump_json().encode()).hexdigest(),
        title=engine.name,
        hosts=engine.hosts,
        sees_images=state.sees_images,
    )


def _reason(name: str) -> str:
    return Sentence("the engine {0}", name)


def _secret(name: str) -> str:
    return f"engine-{name}"
