"""The link to a worker process: its pipe, its log, its pending answers, and why it ended."""

import asyncio
import itertools
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from server.chat import Json
from server.engine import causes
from server.engine.watch import Health, Pulse, WatchLimits
from server.engine.wire import LENGTH, MAX_FRAME_BYTES, pack, unpack
from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    NotSupported,
    OutOfMemory,
    Stopping,
    TemplateRefused,
)
from server.sentences import Sentence, from_wire
from server.tasks import spawn, stop

log = logging.getLogger("engine")
MAX_LINE_BYTES = 4096
_LEVEL = re.compile(r"(debug|info|warning|error|critical):\s*(.*)", re.DOTALL | re.IGNORECASE)
_NAMES = logging.getLevelNamesMapping()


async def follow(stream: asyncio.StreamReader) -> None:
    """Copies the worker's stderr to the log until it ends."""
    rest = b""
    while chunk := await stream.read(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            _write(line)
        if len(rest) > MAX_LINE_BYTES:
            _write(rest)
            rest = b""
    _write(rest)


def _write(line: bytes) -> None:
    text = line[:MAX_LINE_BYTES].decode(errors="replace").strip()
    if not text:
        return
    level, text = level_of(text)
    log.log(level, "%s", text)


def level_of(text: str) -> tuple[int, str]:
    """Returns the level and the rest of a line. A line that names no level is for debugging."""
    named = _LEVEL.match(text)
    if named is None:
        return logging.DEBUG, text
    return _NAMES[named[1].upper()], named[2]


Item = list[Any]
PIPE_BUFFER_BYTES = 1 << 20
LAST = frozenset({"end", "error"})


class WorkerAnswer:
    """The worker's answer to one request, handed over in bursts of items."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.started = False
        self.ended = False
        self.cancelled = False
        self._items: list[Item] = []
        self._error: AppError | None = None
        self._news = asyncio.Event()

    def add(self, item: Item) -> None:
        self.started = True
        self.ended = item[1] in LAST
        self._items.append(item)
        self._news.set()

    def fail(self, error: AppError) -> None:
        self._error = error
        self._news.set()

    async def burst(self) -> list[Item]:
        """Waits for items and returns all that are new. Raises the error if no more can come."""
        await self._news.wait()
        if not self._items and self._error is not None:
            raise self._error
        items, self._items = self._items, []
        if self._error is None:
            self._news.clear()
        return items


class WorkerLink:
    """A worker process from its start to its end. After the end, `error` says why."""

    def __init__(
        self, process: asyncio.subprocess.Process, limits: WatchLimits, on_end: Callable[[], None]
    ) -> None:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        self.error: AppError | None = None
        self._process = process
        self._pipe = process.stdin
        self._limits = limits
        self._pulse = Pulse(process.pid, limits)
        self._on_end = on_end
        self._on_progress: Callable[[float], None] = lambda _done: None
        self._loaded: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._numbers = itertools.count(1)
        self._answers: dict[int, WorkerAnswer] = {}
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._cause = ""
        self._closing = False
        self._stir = asyncio.Event()
        """Ends `_rest`, because a worker with something to do is watched tick by tick."""
        self._log = spawn(follow(process.stderr), "worker-log")
        self._watch = spawn(self._keep_watch(), "worker-watch")
        self._exit = spawn(self._note_exit(), "worker-exit")
        self._life = spawn(self._live(process.stdout), "worker-life")

    @classmethod
    async def open(
        cls,
        command: Sequence[str],
        environment: dict[str, str],
        limits: WatchLimits,
        on_end: Callable[[], None],
    ) -> "WorkerLink":
        # In a session of its own, Ctrl-C in our terminal does not end it, and its own children can
        # be killed together with it.
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            limit=PIPE_BUFFER_BYTES,
        )
        return cls(process, limits, on_end)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_ready(self) -> bool:
        return self.error is None and self.has_loaded

    @property
    def has_loaded(self) -> bool:
        return self._loaded.done() and self._loaded.exception() is None

    async def load(self, path: str, options: Json, on_progress: Callable[[float], None]) -> Json:
        self._on_progress = on_progress
        self._write({"op": "load", "path": path, "options": options})
        return await asyncio.shield(self._loaded)

    @property
    def health(self) -> Health:
        """Whether the worker answers and makes progress; "ok" as long as it is not ready."""
        return self._pulse.health if self.is_ready else "ok"

    @property
    def unanswered(self) -> int:
        """The number of answers that the worker has not finished. Readers may be further behind."""
        return sum(not answer.ended for answer in self._answers.values())

    def begin(self, job: Json) -> WorkerAnswer:
        """Sends a job to the worker. In the end, the caller must `forget` the answer."""
        answer = WorkerAnswer(next(self._numbers))
        # Write first: if that raises, no answer is left that would never be forgotten.
        self._write({"op": "generate", "id": answer.number, "job": job})
        self._answers[answer.number] = answer
        self._stir.set()
        if self.error is not None:
            answer.fail(self.error)
        return answer

    def cancel(self, answer: WorkerAnswer) -> None:
        """Cancels an answer. If it has begun, it still ends with its usage."""
        if not answer.cancelled:
            answer.cancelled = True
            self._write({"op": "cancel", "id": answer.number})

    def forget(self, answer: WorkerAnswer) -> None:
        self._answers.pop(answer.number, None)

    async def ask(self, what: str, arguments: Json) -> Any:
        if self.error is not None:
            raise self.error
        number = next(self._numbers)
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self._write({"op": "ask", "id": number, "what": what, "with": arguments})
            self._stir.set()
            return await future
        except asyncio.CancelledError:
            self._write({"op": "cancel", "id": number})
            raise
        finally:
            del self._asked[number]

    async def close(self) -> None:
        """Asks the worker to quit, then terminates and kills it. Returns when it is gone."""
        self._closing = True
        self._write({"op": "quit"})
        for insist in (self._terminate, self._kill):
            await asyncio.wait([self._life], timeout=self._limits.quit_s)
            if self._life.done():
                return
            insist()
        await asyncio.wait([self._life])

    async def _live(self, pipe: asyncio.StreamReader) -> None:
        try:
            await self._read(pipe)
        except (asyncio.IncompleteReadError, ConnectionError):
            await asyncio.wait([spawn(self._process.wait(), "worker-exit")], timeout=0.5)
            if self._process.returncode is None:
                self._blame(Sentence("it closed its pipe"))
        except (ValueError, LookupError, TypeError) as error:
            log.warning("The engine sent something that is no message: %r", error)
            self._blame(Sentence("it sent something that is no message"))
        self._kill()
        self._end(await self._process.wait())
        await stop(self._watch)
        await stop(self._exit)
        await asyncio.wait([self._log], timeout=0.5)
        await stop(self._log)

    async def _read(self, pipe: asyncio.StreamReader) -> None:
        while True:
            (size,) = LENGTH.unpack(await pipe.readexactly(LENGTH.size))
            if size > MAX_FRAME_BYTES:
                raise ValueError(f"a frame of {size} bytes")
            self._take(unpack(await pipe.readexactly(size)))

    def _end(self, code: int) -> None:
        sentence = Sentence("The engine stopped: {0}.", self._cause or causes.of_exit(code))
        self.error = Stopping() if self._closing else EngineCrashed(sentence)
        self._pipe.close()
        if not self._loaded.done():
            killed = sys.platform != "win32" and code == -signal.SIGKILL
            self._fail_load(
                Sentence("The model could not be loaded. {0}", sentence),
                for_memory=killed and not self._cause,
            )
        elif self.has_loaded and not self._closing:
            log.error("%s", sentence)
        self._on_end()
        for answer in self._answers.values():
            answer.fail(self.error)
        for asked in self._asked.values():
            if not asked.done():
                asked.set_exception(self.error)

    def _take(self, frame: Json) -> None:
        self._pulse.heard()
        match frame["op"]:
            case "step":
                self._take_step(frame["of"])
            case "answer":
                self._settle(frame["id"], lambda asked: asked.set_result(frame["value"]))
            case "refused":
                self._take_refusal(frame["id"], refusal(frame["code"], frame["message"], frame))
            case "pong":
                self._take_pong(frame)
            case "trying":
                self._pulse.trying()
            case "progress":
                if self._pulse.loading(float(frame["done"])) and not self._loaded.done():
                    self._on_progress(frame["done"])
            case "ready" if not self._loaded.done():
                self._pulse.loaded()
                self._loaded.set_result(frame["facts"])
            case "failed" if not self._loaded.done():
                self._fail_load(
                    from_wire(frame["message"]), for_memory=frame["code"] == OutOfMemory.code
                )
            case op:
                raise ValueError(f"an unexpected {op!r}")

    def _take_pong(self, frame: Json) -> None:
        lanes = frame.get("lanes", ((frame["errands"], frame["errands_done"]),))
        beats, is_unseen = frame.get("beats"), bool(frame.get("is_unseen"))
        self._pulse.pong(frame["steps"], frame["running"], lanes, beats=beats, is_unseen=is_unseen)

    def _take_step(self, items: list[Item]) -> None:
        self._pulse.stepped()
        for item in items:
            answer = self._answers.get(item[0])
            if answer is not None:
                answer.add(item)

    def _take_refusal(self, number: int, error: AppError) -> None:
        answer = self._answers.get(number)
        if answer is not None:
            answer.fail(error)
        self._settle(number, lambda asked: asked.set_exception(error))

    def _settle(self, number: int, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        asked = self._asked.get(number)
        if asked is not None and not asked.done():
            settle(asked)

    def _fail_load(self, reason: str, *, for_memory: bool) -> None:
        self._loaded.set_exception((OutOfMemory if for_memory else ModelLoadFailed)(reason))
        # Retrieved, so that asyncio does not warn if nobody waits for this load any more.
        self._loaded.exception()

    async def _keep_watch(self) -> None:
        while True:
            await asyncio.sleep(self._limits.tick_s)
            if self._is_at_rest:
                await self._rest()
            complaint = self._pulse.tick()
            if complaint:
                self._blame(complaint)
            # A worker that ended may have left a child that holds its pipe open.
            if complaint or self._process.returncode is not None:
                self._kill()
            if self.has_loaded:
                self._write({"op": "ping", "id": 0})

    @property
    def _is_at_rest(self) -> bool:
        """Whether the worker is alive, has nothing to do and has answered the last ping."""
        has_work = self._answers or self._asked or self._process.returncode is not None
        return self.has_loaded and self._pulse.is_calm and not has_work

    async def _rest(self) -> None:
        """Waits until there is work, the process ends, or the next ping is due."""
        self._stir.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.rest_s):
                await self._stir.wait()

    async def _note_exit(self) -> None:
        await self._process.wait()
        self._stir.set()

    def _blame(self, cause: str) -> None:
        self._cause = self._cause or cause

    def _write(self, frame: Json) -> None:
        if self.error is None and not self._pipe.is_closing():
            self._pipe.write(pack(frame))

    def _terminate(self) -> None:
        with suppress(ProcessLookupError):
            self._process.terminate()

    def _kill(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)


_PLAIN: dict[str, type[AppError]] = {
    kind.code: kind for kind in (TemplateRefused, NotSupported, ModelLoadFailed, EngineCrashed)
}
_OF_PARAMETER: dict[str, type[BadRequest]] = {kind.code: kind for kind in (BadRequest, BadSchema)}


def refusal(code: str, sent: Any, facts: dict[str, Any]) -> AppError:
    """Returns the error for a worker's refusal, with the numbers that it reported."""
    message = from_wire(sent)
    if code == ContextOverflow.code and {"needed", "available"} <= facts.keys():
        is_certain = bool(facts.get("is_certain", True))
        return ContextOverflow(
            facts["needed"], facts["available"], facts.get("context"), is_certain=is_certain
        )
    if code == Busy.code:
        return Busy(facts.get("waiting", 0))
    if code == Stopping.code:
        return Stopping()
    if code in _OF_PARAMETER:
        return _OF_PARAMETER[code](message, facts.get("param"))
    return _PLAIN.get(code, AppError)(message)
