"""A kit with contents that a test chooses, and actions with scripted answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from server.chat import Json
from server.data.sqlite import Database
from server.errors import FlowFailed
from server.face.plugins import Approval
from server.flows.base import Action, FormAnswer, Missing, Output, Preview, Reach, Risk
from server.plugins.service import PluginHouse
from server.tasks import spawn


def answer_approvals(house: PluginHouse, decision: str) -> list[Approval]:
    """Answers each approval with this decision. Returns a list to which approvals are added."""
    seen: list[Approval] = []

    def answer(waiting: tuple[Approval, ...]) -> None:
        for approval in waiting:
            if approval.id not in [other.id for other in seen]:
                seen.append(approval)
                spawn(house.answer_approval(approval.id, decision, ""), "answer an approval")

    house.approvals.connect(answer)
    return seen


@dataclass(slots=True)
class ScriptedAction:
    key: str = "GET /things"
    schema: Json = field(default_factory=lambda: {"type": "object", "properties": {}})
    answer: Callable[[Json], Any] = lambda arguments: {"got": arguments}
    risk: Risk = "read"
    description: str = "things"
    fingerprint: str = "f1"
    calls: list[Json] = field(default_factory=list)
    surroundings: Json = field(default_factory=dict)

    def preview(self, arguments: Json) -> Preview:
        return Preview(self.key, "http://127.0.0.1", {"X": "•••"}, arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:
        self.calls.append(arguments)
        self.surroundings = surroundings
        answer = self.answer(arguments)
        if isinstance(answer, Exception):
            raise answer
        return Output(answer, "done")


@dataclass(slots=True)
class PlainKit:
    actions: dict[str, Action] = field(default_factory=dict)
    base: Database | None = None
    allows: bool = True
    notes: list[str] = field(default_factory=list)
    plugin: str = "p"
    told: list[FormAnswer] = field(default_factory=list)
    """A person's answers to forms. If it is empty, nobody is there to see a form."""
    forms: list[Missing] = field(default_factory=list)

    async def ask(self, step: str, missing: Missing) -> FormAnswer | None:
        self.forms.append(missing)
        return self.told.pop(0) if self.told else None

    async def action(self, reach: Reach, name: str) -> Action:
        if name not in self.actions:
            raise FlowFailed("not_found", f"There is no {name}.")
        return self.actions[name]

    async def database(self) -> Database:
        assert self.base
        return self.base

    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:
        if not self.allows and (confirm or action.risk != "read"):
            raise FlowFailed("denied", f"{action.key} was not allowed.")
        return arguments

    def note(self, text: str) -> None:
        self.notes.append(text)
