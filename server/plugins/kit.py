"""Kits: what a flow gets from its plugin for a run, such as actions, permissions and forms.

`PluginKit` is for real runs. `RehearsalKit` is for trials, which send nothing. `Forms` asks a
person for missing values or files.
"""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from server.chat import Json
from server.data.sqlite import Database
from server.errors import BadRequest, FlowFailed
from server.face.plugins import FormCard
from server.flows.base import Action, FormAnswer, Kit, Missing, Output, Preview, Reach, Risk
from server.observe import Value
from server.plugins.api.action import ApiAction
from server.plugins.approvals import Approvals
from server.plugins.plugin import Plugin
from server.schemas.fill import is_file, is_files
from server.sentences import Sentence

MOST_DEPTH = 6
PATIENCE_S = 600.0
LARGEST_FILE = 32 * 1024 * 1024


@dataclass(slots=True)
class _Waiting:
    shown: FormCard
    missing: Missing
    answer: asyncio.Future[FormAnswer | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Forms:
    """The forms that wait for a person; `pending` holds their cards for the window."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._waiting: dict[str, _Waiting] = {}
        self.pending: Value[tuple[FormCard, ...]] = Value(())

    async def ask(self, plugin: str, step: str, missing: Missing) -> FormAnswer:
        """Shows a form and returns its answer. Raises FlowFailed if it is closed or times out."""
        shown = FormCard(
            uuid.uuid4().hex, plugin, step, json.dumps(missing.schema), missing.reason,
            time.time() + self._patience_s,
        )  # fmt: skip
        waiting = self._waiting[shown.id] = _Waiting(shown, missing)
        self._publish()
        try:
            async with asyncio.timeout(self._patience_s):
                answer = await waiting.answer
        except TimeoutError:
            raise FlowFailed(
                "slot_missing", Sentence("Nobody filled in the form in time.")
            ) from None
        finally:
            del self._waiting[shown.id]
            self._publish()
        if answer is None:
            raise FlowFailed("denied", Sentence("The form was closed without an answer."))
        return answer

    def answer(self, form_id: str, values: str) -> None:
        """Takes the values as a JSON object. An empty text closes the form without an answer."""
        waiting = self._waiting.get(form_id)
        if waiting is None:
            raise BadRequest(Sentence("This form is no longer open."), "form_id")
        answer = _read_answer(waiting.missing.schema, values) if values else None
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _publish(self) -> None:
        self.pending.set(tuple(waiting.shown for waiting in self._waiting.values()))


def _read_answer(schema: Json, text: str) -> FormAnswer:
    """Reads a form's answer. Each file gets a unique name in the values; `paths` has its path."""
    try:
        given = json.loads(text)
    except ValueError:
        raise BadRequest(Sentence("The answers are not JSON."), "values") from None
    if not isinstance(given, dict):
        raise BadRequest(Sentence("The answers must be an object."), "values")
    parts = schema["properties"]
    if strange := next((name for name in given if name not in parts), None):
        raise BadRequest(Sentence("The form has no field '{0}'.", strange), strange)
    values: Json = {}
    paths: dict[str, str] = {}
    for name, value in given.items():
        if is_files(parts[name]) and isinstance(value, list):
            values[name] = [_unique_name(_file(name, path_text), paths) for path_text in value]
        elif is_file(parts[name]):
            values[name] = _unique_name(_file(name, value), paths)
        else:
            values[name] = value
    return FormAnswer(values, paths)


def _unique_name(path: Path, paths: dict[str, str]) -> str:
    """Returns the file's name, with a number if another file has the same name."""
    name, count = path.name, 1
    while paths.setdefault(name, str(path)) != str(path):
        count += 1
        name = f"{path.stem} ({count}){path.suffix}"
    return name


def _file(name: str, given: Any) -> Path:
    path = Path(str(given))
    if not path.is_file():
        raise BadRequest(Sentence("There is no file '{0}'.", path.name), name)
    if path.stat().st_size > LARGEST_FILE:
        raise BadRequest(
            Sentence("{0} is larger than {1} MB.", path.name, LARGEST_FILE // 1024**2), name
        )
    return path


@dataclass(slots=True)
class PluginKit:
    source: Plugin
    approvals: Approvals
    chat: str
    forms: Forms | None = None
    """Shows forms in the window of the person who asks; None if the client cannot show them."""
    client: str = ""
    """The connected program that asks; empty if a person asks."""
    is_own: bool = False
    """Whether the run is from Moat's own window, which needs no permission to use a plugin."""

    @property
    def plugin(self) -> str:
        return self.source.key

    async def action(self, reach: Reach, name: str) -> Action:
        return await self.source.action(reach, name)

    async def database(self) -> Database:
        return await self.source.database()

    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:
        return await self.approvals.ask(
            self.plugin, action, arguments, confirm=confirm, chat=self.chat, client=self.client
        )

    async def ask(self, step: str, missing: Missing) -> FormAnswer | None:
        return await self.forms.ask(self.plugin, step, missing) if self.forms else None

    def note(self, text: str) -> None:
        self.source.journal.note(text)


def lent_to(client: str, kit: Kit) -> Kit:
    """Returns the kit for a connected program, which needs a person's permission at first."""
    if isinstance(kit, PluginKit) and not kit.is_own:
        return replace(kit, client=client)
    return kit


class Rehearsed(FlowFailed):
    """Raised by a dry run before its first call."""

    def __init__(self) -> None:
        super().__init__("denied", Sentence("The dry run stops here: nothing was sent."))


@dataclass(slots=True)
class RehearsalKit:
    """The kit for a trial, which sends nothing.

    A dry run ends before its first call. With `mock` it goes on with answers made from the API's
    description.
    """

    source: Plugin
    mock: bool
    is_enabled: bool
    """Whether the plugin is enabled. Its code and programs run only then, even in a trial."""
    shown: list[Preview] = field(default_factory=list)

    @property
    def plugin(self) -> str:
        return self.source.key

    async def action(self, reach: Reach, name: str) -> Action:
        if reach != "api" and not self.is_enabled:
            message = Sentence(
                "Enable {0} first: even a trial of this step runs its code.", self.plugin
            )
            raise FlowFailed("denied", message)
        real = await self.source.action(reach, name)
        return _Rehearsal(
            real, real.key, real.description, real.schema, real.risk, real.fingerprint
        )

    async def database(self) -> Database:
        return await self.source.database()

    async def approve(self, action: Action, arguments: Json, *, confirm: bool) -> Json:  # noqa: ARG002
        self.shown.append(action.preview(arguments))
        if not self.mock:
            raise Rehearsed
        return arguments

    async def ask(self, step: str, missing: Missing) -> FormAnswer | None:  # noqa: ARG002
        return None

    def note(self, text: str) -> None:
        self.source.journal.note(f"rehearsal: {text}")


@dataclass(frozen=True, slots=True)
class _Rehearsal:
    real: Action
    key: str
    description: str
    schema: Json
    risk: Risk
    fingerprint: str

    def preview(self, arguments: Json) -> Preview:
        return self.real.preview(arguments)

    async def call(self, arguments: Json, surroundings: Json, timeout_s: float) -> Output:  # noqa: ARG002
        if not isinstance(self.real, ApiAction):
            return Output({"mock": True, "arguments": arguments}, "made up")
        parts = self.real.operation.parts
        if parts.example is not None:
            return Output(parts.example, "the example of the description")
        return Output(made_up(parts.answer), "made up from the description")


def made_up(schema: Json, depth: int = 0) -> Any:
    """Makes a value of the schema's shape: its example, its default, or a simple value."""
    for key in ("example", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("anyOf"):
        return made_up(schema["anyOf"][0], depth)
    kind = schema.get("type")
    if kind == "object" and depth < MOST_DEPTH:
        parts = schema.get("properties", {})
        return {name: made_up(part, depth + 1) for name, part in parts.items()}
    if kind == "array" and depth < MOST_DEPTH:
        return [made_up(schema.get("items", {}), depth + 1)]
    plainest = {"integer": 1, "number": 1.0, "boolean": True, "string": "text", "array": []}
    return plainest.get(str(kind), {} if kind == "object" else None)


def as_text(preview: Preview) -> str:
    lines = [preview.title, *(f"{name}: {value}" for name, value in preview.headers.items())]
    if preview.body is not None:
        lines += ["", json.dumps(preview.body, ensure_ascii=False, indent=1)]
    return "\n".join(lines)
