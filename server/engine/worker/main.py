"""The worker process: reads frames, answers pings and hands all other work to its threads."""

import gc
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from server.engine.base import EngineOptions
from server.engine.causes import JobRefused
from server.engine.wire import LENGTH, MAX_FRAME_BYTES, Job, pack, unpack
from server.engine.worker.load import backends, selftest
from server.engine.worker.load.calibrate import CalibrationRun
from server.engine.worker.load.context import Context, Embedder, Operations
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import NativeLog, lib
from server.engine.worker.load.plan import Plan, make_plan
from server.engine.worker.prompt.prepare import JOB_FIELDS, IsWanted, Preparer
from server.engine.worker.prompt.template import Template, try_out
from server.engine.worker.prompt.vision import Projector
from server.engine.worker.prompt.vocabulary import Unwanted, Vocabulary
from server.engine.worker.schedule.scheduler import Scheduler
from server.sentences import Sentence, to_wire
from server.system.processes import die_with_parent

Question = dict[str, Any]
MOST_CHARS = 4_000_000
MOST_TOKENS = 4_000_000
"""The limits of a question to the tokeniser, whose answer is sent as one frame."""


class Asks:
    """Answers questions about a loaded model. `others` are questions without arguments, by name."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        preparer: Preparer,
        embedder: Embedder,
        scheduler: Scheduler,
        others: dict[str, Callable[[IsWanted], Any]],
    ) -> None:
        self._vocabulary = vocabulary
        self._preparer = preparer
        self._embedder = embedder
        self._scheduler = scheduler
        self._known: dict[str, Callable[[Question, IsWanted], Any]] = {
            "tokenize": self._tokenize,
            "detokenize": self._detokenize,
            "render": self._render,
            "embed": self._embed,
            "rerank": self._rerank,
            "stats": self._stats,
        }
        self._others = others

    def answer(self, what: str, question: Question, is_wanted: IsWanted) -> Any:
        if what in self._others:
            return self._others[what](is_wanted)
        if what not in self._known:
            raise JobRefused("invalid_request", Sentence("The worker does not know '{0}'.", what))
        return self._known[what](question, is_wanted)

    def _tokenize(self, question: Question, is_wanted: IsWanted) -> list[int]:
        text, special = question["text"], bool(question.get("special", True))
        if len(text) > MOST_CHARS:
            raise JobRefused(
                "invalid_request", Sentence("At most {0} characters are tokenised.", MOST_CHARS)
            )
        found = self._vocabulary.tokenize(text, special=special, is_wanted=is_wanted)
        tokens: list[int] = found.tolist()
        return tokens

    def _detokenize(self, question: Question, _is_wanted: IsWanted) -> str:
        if len(question["tokens"]) > MOST_TOKENS:
            raise JobRefused(
                "invalid_request", Sentence("At most {0} tokens are read at once.", MOST_TOKENS)
            )
        return self._vocabulary.detokenize(question["tokens"])

    def _render(self, question: Question, _is_wanted: IsWanted) -> str:
        return self._preparer.render(Job(**{k: v for k, v in question.items() if k in JOB_FIELDS}))

    def _embed(self, question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        vectors, tokens = self._embedder.embed(question["texts"])
        return {"vectors": vectors, "tokens": tokens}

    def _rerank(self, question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        scores, tokens, method = self._embedder.rerank(question["query"], question["documents"])
        return {"scores": scores, "tokens": tokens, "method": method}

    def _stats(self, _question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        return self._scheduler.stats()


class Pipe:
    """The frames to and from the server. Only one thread may receive; any thread may send."""

    def __init__(self, reading: BinaryIO, writing_fd: int) -> None:
        self._reading = reading
        self._writing_fd = writing_fd
        self._sending = threading.Lock()
        self.received_bytes = 0
        """The size of the last frame that was received."""

    def receive(self) -> dict[str, Any] | None:
        """Returns the next frame; None if the server is gone or sent something else."""
        head = self._reading.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack(head)
        if size > MAX_FRAME_BYTES:
            return None
        body = self._reading.read(size)
        self.received_bytes = size
        if len(body) < size:
            return None
        try:
            return unpack(body)
        except ValueError:
            return None

    def send(self, frame: dict[str, Any]) -> None:
        """Sends a frame. Blocks while the server does not read; ends the process if it is gone."""
        rest = memoryview(pack(frame))
        with self._sending:
            try:
                while rest:
                    rest = rest[os.write(self._writing_fd, rest) :]
            except OSError:
                os._exit(0)


def take_standard_streams() -> Pipe:
    """Moves the pipe to descriptors of its own, so that what native code prints goes to stderr."""
    reading_fd, writing_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return Pipe(os.fdopen(reading_fd, "rb", buffering=1 << 16), writing_fd)


OPTION_FIELDS = frozenset(field.name for field in fields(EngineOptions))
PATH_OPTIONS = ("draft_model", "projector", "prompt_folder")
UNREADABLE = (
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)
T = TypeVar("T")
LARGE_BYTES = 64 * 1024
"""A larger frame takes time to prepare. It has its own lane, so that small ones do not wait."""
BESIDE = ("embed", "rerank", "calibrate")
"""Questions that are computed in contexts of their own. They wait only for each other."""


class Lane:
    """A queue of errands, which are done one after the other on a thread of their own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._errands: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._given = 0
        self.done = 0
        self.beats = 0
        """Grows while the current errand makes progress."""

    @property
    def in_hand(self) -> int:
        return self._given - self.done

    def give(self, errand: Callable[[], None]) -> None:
        self._given += 1
        self._errands.put(errand)

    def beat(self) -> None:
        self.beats += 1

    def start(self) -> None:
        threading.Thread(target=self._run, name=f"{self._name} errands", daemon=True).start()

    def _run(self) -> None:
        while True:
            self._errands.get()()
            self.done += 1


class Worker:
    """Serves the frames. It runs on the reader's thread and leaves long work to other threads."""

    def __init__(self, pipe: Pipe, log: NativeLog) -> None:
        self._pipe = pipe
        self._log = log
        self._small, self._large, self._vectors = (
            Lane(name) for name in ("small", "large", "vectors")
        )
        self._scheduler: Scheduler | None = None
        self._preparers: dict[Lane, Preparer] = {}
        self._asks: Asks | None = None
        self._large_asks: Asks | None = None
        self._preparing: set[int] = set()
        self._dropped: set[int] = set()

    def serve(self) -> None:
        """Takes frames until the pipe ends or `quit` arrives."""
        for lane in (self._small, self._large, self._vectors):
            lane.start()
        while (frame := self._pipe.receive()) is not None and frame["op"] != "quit":
            self._take(frame)
        if self._scheduler is not None:
            self._scheduler.stop()

    def _take(self, frame: dict[str, Any]) -> None:
        match frame["op"]:
            case "load":
                load = partial(self._load, frame)
                threading.Thread(target=load, name="engine", daemon=True).start()
            case "generate":
                self._preparing.add(frame["id"])
                lane = self._lane()
                lane.give(lambda: self._generate(lane, frame["id"], frame["job"]))
            case "cancel":
                self._cancel(frame["id"])
            case "ask":
                self._preparing.add(frame["id"])
                lane = self._vectors if frame["what"] in BESIDE else self._lane()
                lane.give(lambda: self._ask(lane, frame["id"], frame["what"], frame["with"]))
            case "ping":
                self._pong(frame["id"])

    def _lane(self) -> Lane:
        """Returns the lane for the last frame, by its size."""
        return self._large if self._pipe.received_bytes > LARGE_BYTES else self._small

    def _is_wanted(self, lane: Lane, request_id: int) -> bool:
        """Whether a request is not cancelled. Each call also counts as progress in preparing it."""
        lane.beats += 1
        return request_id not in self._dropped

    def _cancel(self, request_id: int) -> None:
        if request_id in self._preparing:
            self._dropped.add(request_id)
        if self._scheduler is not None:
            self._scheduler.cancel(request_id)

    def _pong(self, ping_id: int) -> None:
        scheduler, small = self._scheduler, self._small
        frame: dict[str, Any] = {"op": "pong", "id": ping_id, "steps": 0, "running": 0}
        frame |= {"waiting": 0, "errands": small.in_hand, "errands_done": small.done}
        lanes = (small, self._large, self._vectors)
        frame["lanes"] = [[lane.in_hand, lane.done + lane.beats] for lane in lanes]
        if scheduler is not None:
            frame["running"], frame["waiting"] = scheduler.load
            frame["steps"] = scheduler.counters.steps
            frame |= {"beats": scheduler.beats, "is_unseen": scheduler.is_unseen}
        self._pipe.send(frame)

    def _load(self, frame: dict[str, Any]) -> None:
        """Loads the model, then takes steps until the process ends. Runs on the engine's thread."""
        try:
            scheduler, ready = self._open(Path(frame["path"]), options_of(frame["options"]))
        except JobRefused as refused:
            self._pipe.send({"op": "failed", "code": refused.code, "message": refused.message})
            os._exit(1)
        # What exists now stays: a garbage collection of it would only delay a step.
        gc.freeze()
        self._pipe.send(ready)
        scheduler.run()

    def _open(self, path: Path, options: EngineOptions) -> tuple[Scheduler, dict[str, Any]]:
        trials = selftest.usual(lambda: self._pipe.send({"op": "trying"}))
        backends.tell(backends.load(trials, trials.card), sys.stderr)
        lib.llama_backend_init()
        model = Model(path, options, self._tell_progress)
        plan = make_plan(model, options)
        context = Context(model, plan)
        context.use_adapters(options.loras)
        self._log.mute_while(lambda: bool(Operations.aborting))
        words = model.vocabulary
        template = Template(model.template, words.bos, words.eos)
        extra = try_out(template) if model.template else {"template": {}}
        projector = _projector(model, plan)
        preparer = Preparer(words, template, context.sequence_tokens, projector)
        scheduler = Scheduler(model, context, plan, self._tell_step, projector)
        scheduler.prepare(plan)
        embedder = Embedder(model, plan.threads, self._vectors.beat)
        aside = template.beside()
        beside = preparer.beside(aside)
        self._preparers = {self._small: preparer, self._large: beside}
        others: dict[str, Callable[[IsWanted], Any]] = {
            "template": lambda _is_wanted: _try_again(template, aside),
            "calibrate": lambda is_wanted: CalibrationRun(model, plan, is_wanted).run(),
        }
        self._asks = Asks(words, preparer, embedder, scheduler, others)
        self._large_asks = Asks(words, beside, embedder, scheduler, others)
        self._scheduler = scheduler
        sees_images = projector is not None
        facts = model.facts(context.sequence_tokens, extra, sees_images=sees_images)
        return scheduler, {"op": "ready", "facts": facts}

    def _tell_progress(self, done: float) -> None:
        self._pipe.send({"op": "progress", "done": done})

    def _tell_step(self, items: list[list[Any]]) -> None:
        self._pipe.send({"op": "step", "of": items})

    def _generate(self, lane: Lane, request_id: int, job: dict[str, Any]) -> None:
        is_wanted = partial(self._is_wanted, lane, request_id)
        try:
            scheduler, preparer = _require(self._scheduler), _require(self._preparers.get(lane))
            if is_wanted():
                scheduler.submit(preparer.prepare(request_id, job, is_wanted))
        except Unwanted:
            return
        except JobRefused as refused:
            self._tell_step([[request_id, "error", refused.code, refused.message, refused.facts]])
        except Exception as error:  # noqa: BLE001 - one request must not end the others' thread
            blame = _explain(error, Sentence("The request could not be read: {0}.", error))
            self._tell_step([[request_id, "error", *blame, {}]])
        finally:
            self._preparing.discard(request_id)
            if request_id in self._dropped:
                self._dropped.discard(request_id)
                self._cancel(request_id)

    def _ask(self, lane: Lane, ask_id: int, what: str, question: dict[str, Any]) -> None:
        is_wanted = partial(self._is_wanted, lane, ask_id)
        try:
            if not is_wanted():
                return
            asks = _require(self._large_asks if lane is self._large else self._asks)
            value = asks.answer(what, question, is_wanted)
        except Unwanted:
            return
        except JobRefused as refused:
            self._refuse(ask_id, refused.code, refused.message, **refused.facts)
        except Exception as error:  # noqa: BLE001 - one question must not end the others' thread
            self._refuse(
                ask_id,
                *_explain(error, Sentence("The prompt could not be read: {0}.", error)),
            )
        else:
            self._pipe.send({"op": "answer", "id": ask_id, "value": value})
        finally:
            self._preparing.discard(ask_id)
            self._dropped.discard(ask_id)

    def _refuse(self, ask_id: int, code: str, message: Any, **facts: Any) -> None:
        frame = {"op": "refused", "id": ask_id, "code": code, "message": message}
        self._pipe.send({**facts, **frame})


def _try_again(template: Template, aside: Template) -> dict[str, Any]:
    found = try_out(template)
    aside.reads_parts = template.reads_parts
    return found


def _require(part: T | None) -> T:
    if part is None:
        raise JobRefused("invalid_request", Sentence("No model is loaded yet."))
    return part


def _explain(error: Exception, unreadable: str) -> tuple[str, Any]:
    """Returns the code and the message for an error, which is the request's fault or ours."""
    if isinstance(error, UNREADABLE):
        return "invalid_request", to_wire(unreadable)
    _write_traceback(error)
    return "engine_crashed", to_wire(
        Sentence("llama.cpp could not compute the answer; the log says why.")
    )


def end_with_failing_threads() -> None:
    """Ends the process when a thread fails: the others would wait for it for ever."""

    def end(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None:
            _write_traceback(failed.exc_value)
        os._exit(70)

    threading.excepthook = end


def _write_traceback(error: BaseException) -> None:
    for line in "".join(traceback.format_exception(error)).splitlines():
        sys.stderr.write(f"error: {line}\n")


def _projector(model: Model, plan: Plan) -> Projector | None:
    """Opens the projector, if any. If it does not fit, returns None: the model still reads text."""
    if model.options.projector is None:
        return None
    try:
        return Projector(model.options.projector, model, plan)
    except JobRefused as refused:
        sys.stderr.write(f"warning: {refused}\n")
        return None


def options_of(raw: dict[str, Any]) -> EngineOptions:
    known = {name: value for name, value in raw.items() if name in OPTION_FIELDS}
    for name in PATH_OPTIONS:
        if known.get(name) is not None:
            known[name] = Path(known[name])
    known["loras"] = tuple(Path(path) for path in known.get("loras") or ())
    known["gpu_split"] = tuple(known.get("gpu_split") or ())
    return EngineOptions(**known)


def main() -> None:
    die_with_parent()
    # Ctrl-C in a terminal reaches every process, but our parent decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = take_standard_streams()
    log = NativeLog()
    log.install()
    end_with_failing_threads()
    Worker(pipe, log).serve()
    sys.stderr.flush()
    # Native threads may still compute. They need no orderly end.
    os._exit(0)
