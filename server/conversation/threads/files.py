"""Threads on disk, if the user wants it: a file for each. Switching it off deletes them."""

import asyncio
import hashlib
import json
import logging
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from server.chat import Json
from server.conversation.threads.threads import Keeper, KeptRun, Thread, ThreadMessage
from server.errors import AppError
from server.events import (
    Artifact,
    CallArguments,
    CallOpened,
    Citations,
    ClientToolCall,
    Event,
    Failed,
    Finished,
    Interrupted,
    MessageOpened,
    ReasoningDelta,
    StateChanged,
    StatusNote,
    StepChanged,
    Suggestions,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
)
from server.system.files import write_atomically

log = logging.getLogger(__name__)

KEPT = (
    Artifact, CallArguments, CallOpened, Citations, ClientToolCall, Finished, Interrupted,
    MessageOpened, ReasoningDelta, StateChanged, StatusNote, StepChanged, Suggestions, TextDelta,
    ToolCallFinished, ToolCallStarted,
)  # fmt: skip


@cache
def _events() -> dict[str, TypeAdapter[Event]]:
    """Created at the first use, so that the start does not wait for it."""
    return {kind.__name__: TypeAdapter(kind) for kind in KEPT}


@cache
def _messages() -> TypeAdapter[tuple[ThreadMessage, ...]]:
    return TypeAdapter(
        tuple[ThreadMessage, ...], config={"val_json_bytes": "base64", "ser_json_bytes": "base64"}
    )


class ThreadFiles(Keeper):
    def __init__(self, folder: Path, is_on: Callable[[], bool]) -> None:
        self._folder = folder
        self._is_on = is_on

    def load(self) -> list[Thread]:
        """Reads the threads, oldest first. Leaves out what cannot be read."""
        if not self._is_on():
            return []
        found = [thread for path in self._folder.glob("*.json") if (thread := _read(path))]
        return sorted(found, key=lambda thread: thread.used_at)

    async def save(self, thread: Thread) -> None:
        if not self._is_on():
            return
        try:
            await asyncio.to_thread(write_atomically, self._path(thread), dump(thread))
        except OSError as error:
            log.warning("A conversation could not be kept: %s", error.strerror)
        if not self._is_on():
            self.forget_all()

    def forget(self, thread: Thread) -> None:
        self._path(thread).unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Only a person's wish deletes them: the setting may also be off because its file is
        damaged."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _path(self, thread: Thread) -> Path:
        """Makes a safe file name: a client may use any text as the thread's id."""
        whose = f"{_hash(thread.origin)[:16]}-" if thread.origin else ""
        return self._folder / f"{whose}{_hash(thread.id)[:32]}.json"


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


def dump(thread: Thread) -> str:
    whole = {
        "id": thread.id,
        "origin": thread.origin,
        "agent": thread.agent,
        "created_at": thread.created_at,
        "used_at": thread.used_at,
        "state": thread.state,
        "runs": [_dump_run(run) for run in thread.runs if run.ended],
    }
    return json.dumps(whole, ensure_ascii=False)


def _dump_run(run: KeptRun) -> Json:
    events = [written for event in run.events if (written := _dump_event(event)) is not None]
    return {"id": run.id, "said": json.loads(_messages().dump_json(run.messages)), "events": events}


def _dump_event(event: Event) -> list[Any] | None:
    name = type(event).__name__
    if isinstance(event, Failed):
        return [name, {"code": event.error.code, "message": str(event.error)}]
    adapter = _events().get(name)
    return [name, adapter.dump_python(event, mode="json")] if adapter else None


def _read(path: Path) -> Thread | None:
    try:
        whole = json.loads(path.read_text("utf-8"))
        thread = Thread(whole["id"], whole["agent"], whole["created_at"], whole["used_at"])
        thread.origin, thread.state = str(whole.get("origin", "")), whole["state"]
        for saved in whole["runs"]:
            messages = _messages().validate_json(json.dumps(saved["said"]))
            run = KeptRun(saved["id"], messages, [_read_event(*event) for event in saved["events"]])
            run.end()
            thread.remember(run)
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        log.warning("A kept conversation cannot be read: %s", path.name)
        return None
    return thread


def _read_event(name: str, saved: Any) -> Event:
    if name == "Failed":
        error = AppError(saved["message"])
        error.code = saved["code"]
        return Failed(error)
    return _events()[name].validate_python(saved)
