"""Forms that ask a person for what a flow still needs: values, or files they pick."""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server.chat import Json
from server.errors import BadRequest, FlowFailed
from server.face.plugins import FormCard
from server.flows.base import FormAnswer, Missing
from server.observe import Value
from server.schemas.fill import is_file, is_files

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
    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._waiting: dict[str, _Waiting] = {}
        self.pending: Value[tuple[FormCard, ...]] = Value(())

    async def ask(self, plugin: str, step: str, missing: Missing) -> FormAnswer:
        """Returns what the person filled in. Raises FlowFailed if they refuse or nobody is
        there."""
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
            raise FlowFailed("slot_missing", "Nobody filled in the form in time.") from None
        finally:
            del self._waiting[shown.id]
            self._publish()
        if answer is None:
            raise FlowFailed("denied", "The form was closed without an answer.")
        return answer

    def answer(self, form_id: str, values: str) -> None:
        """Takes values as JSON, by name. Empty: the person does not want to answer."""
        waiting = self._waiting.get(form_id)
        if waiting is None:
            raise BadRequest("This form is no longer open.", "form_id")
        answer = _read_answer(waiting.missing.schema, _object(values)) if values else None
        if not waiting.answer.done():
            waiting.answer.set_result(answer)

    def _publish(self) -> None:
        self.pending.set(tuple(waiting.shown for waiting in self._waiting.values()))


def _read_answer(schema: Json, given: Json) -> FormAnswer:
    """Names each file uniquely in the values; its path is listed separately."""
    parts = schema["properties"]
    if strange := next((name for name in given if name not in parts), None):
        raise BadRequest(f"The form has no field '{strange}'.", strange)
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
        raise BadRequest(f"There is no file '{path.name}'.", name)
    if path.stat().st_size > LARGEST_FILE:
        raise BadRequest(f"{path.name} is larger than {LARGEST_FILE // 1024**2} MB.", name)
    return path


def _object(text: str) -> Json:
    try:
        found = json.loads(text)
    except ValueError:
        raise BadRequest("The answers are not JSON.", "values") from None
    if not isinstance(found, dict):
        raise BadRequest("The answers must be an object.", "values")
    return found
