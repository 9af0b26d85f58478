"""Permissions for calls: asks a person about the exact request, and remembers the answer."""

import asyncio
import hashlib
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from server.chat import Json
from server.errors import BadRequest, FlowFailed
from server.face.plugins import Approval
from server.flows.base import Action, Risk
from server.observe import Value
from server.sentences import Sentence
from server.system.files import JsonFile


def _is_known(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(x, str) for x in value[:2])


PATIENCE_S = 120.0
GRANTED_S = 4 * 3600.0
"""Seconds that a permission given once holds in its chat."""
Policy = Literal["default", "allow", "block"]
CLIENT = "client"
"""Stands in the place of a fingerprint: the program may use the plugin at all."""
_Grant = tuple[str, str, str]
"""The chat or client, the plugin, and the action's fingerprint."""


ask_client: ContextVar[Callable[[Approval], Awaitable[bool]] | None] = ContextVar(
    "ask_client", default=None
)
"""Asks the connected program's own user, if it can. Returns whether they agree. Set per call."""


class About(Protocol):
    """The operation that a decision is about."""

    @property
    def key(self) -> str: ...
    @property
    def risk(self) -> Risk: ...
    @property
    def fingerprint(self) -> str: ...


@dataclass(slots=True)
class _Waiting:
    shown: Approval
    action: Action
    answer: asyncio.Future[tuple[str, Json]] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Approvals:
    """Decisions about operations: lasting ones in a file, others in memory for GRANTED_S."""

    def __init__(self, path: Path, patience_s: float = PATIENCE_S) -> None:
        self._file = JsonFile(path, "The permissions", is_precious=True)
        self._patience_s = patience_s
        entries = self._file.read()
        self._policies: dict[str, list[str]] = {
            key: value for key, value in entries.items() if _is_known(value)
        }
        """The policy of each operation, and the fingerprint that it was given for."""
        self._odd = {key: entries[key] for key in entries if key not in self._policies}
        """Entries in another version's form. They are kept unchanged."""
        self._granted: dict[_Grant, float] = {}
        self._waiting: dict[str, _Waiting] = {}
        self.pending: Value[tuple[Approval, ...]] = Value(())

    def policy(self, plugin: str, action: About) -> Policy:
        """Returns the lasting decision. Permission for another fingerprint does not count."""
        found, fingerprint, *_ = self._policies.get(f"{plugin}/{action.key}", ["default", ""])
        if found == "block":
            return "block"
        return "allow" if found == "allow" and fingerprint == action.fingerprint else "default"

    def decided_operations(self, plugin: str) -> dict[str, str]:
        """Returns the operations with a decision, and the fingerprints at that time."""
        return {
            key.removeprefix(f"{plugin}/"): decided[1]
            for key, decided in self._policies.items()
            if key.startswith(f"{plugin}/") and decided[1] != CLIENT
        }

    def set_policy(self, plugin: str, action: About, policy: str) -> None:
        if policy not in ("default", "allow", "block"):
            raise BadRequest(
                Sentence("'{0}' is not a policy: use default, allow or block.", policy), "policy"
            )
        if policy == "allow" and action.risk == "danger":
            raise BadRequest(
                Sentence("A dangerous operation needs permission every time."), "policy"
            )
        key = f"{plugin}/{action.key}"
        self._policies.pop(key, None)
        self._odd.pop(key, None)
        if policy != "default":
            self._policies[key] = [policy, action.fingerprint]
        self._save()

    def forget(self, plugin: str) -> None:
        """Forgets all decisions about a plugin that was removed."""
        for entries in (self._policies, self._odd):
            for key in [key for key in entries if key.startswith(f"{plugin}/")]:
                del entries[key]
        self._granted = {grant: at for grant, at in self._granted.items() if grant[1] != plugin}
        self._save()

    async def ask(
        self,
        plugin: str,
        action: Action,
        arguments: Json,
        *,
        confirm: bool,
        chat: str,
        client: str = "",
    ) -> Json:
        """Returns the allowed arguments, which the person may have changed.

        Raises FlowFailed `denied` if the person refuses or does not answer in time. A connected
        program's first call of a plugin needs permission even if it only reads.
        """
        risk: Risk = "danger" if confirm else action.risk
        policy = self.policy(plugin, action)
        if policy == "block":
            raise FlowFailed("denied", Sentence("{0} is blocked under Plugins.", action.key))
        grant = (chat, plugin, action.fingerprint)
        is_granted = policy == "allow" or self._is_granted(grant)
        is_known = self._is_known(client, plugin)
        if is_known and (risk == "read" or (risk == "change" and is_granted)):
            return arguments
        shown = _approval_for(plugin, action, arguments, risk, "" if is_known else client)
        # A program cannot vouch for itself, nor for what cannot be undone: Moat's window asks.
        ask = ask_client.get() if is_known and risk != "danger" else None
        if ask is not None:
            decision, allowed = await self._ask_client(ask, shown), arguments
        else:
            decision, allowed = await self._wait(shown, action)
        if decision == "deny":
            raise FlowFailed("denied", Sentence("{0} was not allowed.", action.key))
        if risk == "change":
            self._granted[grant] = time.monotonic()
        if client:
            self._granted[client, plugin, CLIENT] = time.monotonic()
        return allowed

    def is_blocked(self, plugin: str, operation: str) -> bool:
        return self._policies.get(f"{plugin}/{operation}", [""])[0] == "block"

    def _is_known(self, client: str, plugin: str) -> bool:
        is_kept = _client_key(plugin, client) in self._policies
        return not client or is_kept or self._is_granted((client, plugin, CLIENT))

    def _is_granted(self, grant: _Grant) -> bool:
        now = time.monotonic()
        self._granted = {held: at for held, at in self._granted.items() if now - at < GRANTED_S}
        return grant in self._granted

    def answer(self, approval_id: str, decision: str, arguments: str) -> None:
        """Takes a person's decision. `arguments` is JSON; empty means as shown."""
        waiting = self._waiting.get(approval_id)
        if waiting is None:
            raise BadRequest(Sentence("This question is no longer open."), "approval_id")
        if decision not in ("once", "always", "deny"):
            raise BadRequest(
                Sentence("'{0}' is not an answer: use once, always or deny.", decision), "decision"
            )
        if not waiting.answer.done():
            changed = read_arguments(arguments or waiting.shown.arguments)
            # Save it now, so that the next list of decisions includes it.
            if decision == "always":
                self._keep(waiting)
            waiting.answer.set_result((decision, changed))

    def _keep(self, waiting: _Waiting) -> None:
        """Saves a lasting permission for the program, and for an operation that makes changes."""
        shown = waiting.shown
        if not shown.can_always:
            return
        if shown.client:
            self._policies[_client_key(shown.plugin, shown.client)] = ["allow", CLIENT]
            self._save()
        if shown.risk == "change":
            self.set_policy(shown.plugin, waiting.action, "allow")

    async def _ask_client(self, ask: Callable[[Approval], Awaitable[bool]], shown: Approval) -> str:
        try:
            async with asyncio.timeout(self._patience_s):
                return "once" if await ask(shown) else "deny"
        except TimeoutError:
            raise self._nobody(shown) from None

    def _nobody(self, shown: Approval) -> FlowFailed:
        message = Sentence(
            "Nobody answered in {0:.0f} s: {1} is denied.", self._patience_s, shown.operation
        )
        return FlowFailed("denied", message)

    async def _wait(self, shown: Approval, action: Action) -> tuple[str, Json]:
        shown = replace(shown, expires_at=time.time() + self._patience_s)
        waiting = self._waiting[shown.id] = _Waiting(shown, action)
        self._publish()
        try:
            async with asyncio.timeout(self._patience_s):
                return await waiting.answer
        except TimeoutError:
            raise self._nobody(shown) from None
        finally:
            del self._waiting[shown.id]
            self._publish()

    def _publish(self) -> None:
        self.pending.set(tuple(waiting.shown for waiting in self._waiting.values()))

    def _save(self) -> None:
        self._file.write({**self._odd, **self._policies})


def chat_key(client: str = "", thread: str = "", *, is_own: bool) -> str:
    """Returns the key of a client's thread. Without a thread each question is a chat of its own."""
    named = json.dumps([is_own, client, thread or uuid.uuid4().hex])
    return hashlib.sha256(named.encode()).hexdigest()


def _client_key(plugin: str, client: str) -> str:
    """Returns the key of a permission. It starts with the plugin, so `forget` finds it."""
    return f"{plugin}/by {client}"


def _approval_for(
    plugin: str, action: Action, arguments: Json, risk: Risk, client: str
) -> Approval:
    seen = action.preview(arguments)
    return Approval(
        uuid.uuid4().hex,
        plugin,
        action.key,
        risk,
        seen.title,
        seen.where,
        tuple((name, str(value)) for name, value in seen.headers.items()),
        "" if seen.body is None else json.dumps(seen.body, ensure_ascii=False, indent=1),
        json.dumps(arguments, ensure_ascii=False, indent=1),
        risk != "danger",
        client=client,
    )


def read_arguments(text: str) -> Json:
    """Parses a person's arguments. Raises BadRequest if they are not a JSON object."""
    try:
        found: Any = json.loads(text)
    except ValueError:
        raise BadRequest(Sentence("The arguments are not JSON."), "arguments") from None
    if not isinstance(found, dict):
        raise BadRequest(Sentence("The arguments must be an object."), "arguments")
    return found
