"""An engine in a child process, which is watched, and restarted when it dies.

A request becomes a job for the worker, and the worker's items become pieces.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from server.chat import SAMPLED, ChatRequest, Constraint, Json, Prompt, Sampling
from server.engine import styles
from server.engine.base import Embeddings, EngineOptions, LoadState, ModelFacts, Ranking
from server.engine.link import Item, WorkerAnswer, WorkerLink, refusal
from server.engine.styles.base import Format, Parser, Prepared
from server.engine.styles.messages import IMAGE_MARK
from server.engine.watch import Health, WatchLimits
from server.engine.wire import Job
from server.errors import (
    AppError,
    BadSchema,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    Stopping,
)
from server.events import (
    Finished,
    Piece,
    Pieces,
    PromptProgress,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.observe import Value
from server.schemas.bounded import locate
from server.sentences import Sentence, from_wire
from server.system import processes
from server.tasks import spawn, stop


class Thoughts:
    """Counts the tokens of thoughts. It gets each text with its tokens, then the parsed pieces."""

    def __init__(self) -> None:
        self.tokens = 0
        self._heard: list[tuple[str, int]] = []
        self._thinking = False

    def hear(self, text: str, tokens: int) -> None:
        self._heard.append((text, tokens))

    def see(self, pieces: Sequence[Piece]) -> None:
        """Counts the thoughts among the pieces. Text without a piece yet (half a mark) waits."""
        if not pieces:
            return
        thoughts = [piece.text for piece in pieces if isinstance(piece, ReasoningDelta)]
        after = self._count(thoughts) if thoughts else []
        self._thinking = isinstance(pieces[-1], ReasoningDelta)
        self._heard = after if self._thinking else []

    def end(self, *, thinks: bool = True) -> None:
        """Counts the remaining text as a thought if the text before it was one.

        With `thinks=False` it is not counted: the parser holds it back, as part of the answer.
        """
        if self._thinking and thinks:
            self.tokens += sum(tokens for _, tokens in self._heard)

    def _count(self, thoughts: list[str]) -> list[tuple[str, int]]:
        """Counts the tokens of the thoughts. Returns the texts after the last of them."""
        # Pieces are trimmed, and may contain white space of a text that was already counted.
        first, last = thoughts[0].strip(), thoughts[-1].strip()
        whole = "".join(text for text, _ in self._heard)
        begin = 0 if self._thinking else max(whole.find(first), 0)
        found = whole.find(last, begin)
        end = found + len(last) if found >= 0 else len(whole)
        at = 0
        after = []
        for text, tokens in self._heard:
            if at >= end:
                after.append((text, tokens))
            elif at + len(text) > begin:
                self.tokens += tokens
            at += len(text)
        return after


class PlainText:
    """The parser for a raw prompt: its continuation is plain text."""

    stopped = False
    holds = False

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        return [TextDelta(text, logprobs)] if text or logprobs else []

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        return [Finished(reason, usage)]


OPTIONS = TypeAdapter(EngineOptions)
CONTINUE_MARK = f"<goes on here {secrets.token_hex(8)}>"
"""Marks where an answer continues. It is random, so that no message can contain it."""


LONGEST_TOKEN = 256
"""The most characters of a token: no known vocabulary has a longer one."""
USUAL_TOKEN = 4
"""The usual characters of a token, to estimate the size of a prompt that is refused."""


def size_of(request: ChatRequest) -> int:
    """Returns the size of the text in characters. In a prompt of tokens, each counts as one."""
    prompt = len(request.prompt or ())
    return prompt + sum(len(message.content) + 1 for message in request.messages)


def check_fits(request: ChatRequest, facts: ModelFacts) -> None:
    """Raises ContextOverflow, before any work, for a prompt that cannot fit: a message takes at
    least one token, and a token has at most LONGEST_TOKEN characters."""
    room = facts.context_tokens
    if not room:
        return
    tokens = size_of(request) // LONGEST_TOKEN
    if isinstance(request.prompt, tuple | list):
        tokens = len(request.prompt)
    if max(len(request.messages), tokens) > room:
        usual = max(len(request.messages), tokens, size_of(request) // USUAL_TOKEN)
        raise ContextOverflow(usual, room - 1, room, is_certain=False)


def prepare(request: ChatRequest, style: Format, facts: ModelFacts) -> Prepared:
    if not request.is_raw:
        return style.prepare(request, facts)
    return Prepared((), PlainText(), constraint=request.constraint, stop=request.stop)


def job_of(request: ChatRequest, prepared: Prepared) -> Json:
    constraint = prepared.constraint
    messages = list(prepared.messages)
    if request.continues:
        messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}{CONTINUE_MARK}"}
    job = Job(
        messages=messages,
        tools=list(prepared.tools),
        template_options=dict((*prepared.options, *request.template_options)),
        prompt=request.prompt if isinstance(request.prompt, str | None) else list(request.prompt),
        infill=asdict(request.infill) if request.infill else None,
        continue_mark=CONTINUE_MARK if request.continues else "",
        images=[image.data for message in request.messages for image in message.images],
        image_mark=IMAGE_MARK,
        sampling=_sampling(request.sampling),
        max_tokens=request.max_tokens,
        stop=list(prepared.stop),
        constraint=_constraint(constraint) if constraint else None,
        trigger=prepared.trigger,
        trigger_lead=prepared.trigger_lead,
        trigger_thought=prepared.trigger_thought,
        visible_tokens=list(prepared.visible_tokens),
        top_logprobs=request.top_logprobs,
        client=request.client,
    )
    # A shallow copy: a conversation may be megabytes, and packing copies it anyway.
    return {field.name: getattr(job, field.name) for field in fields(job)}


def _sampling(sampling: Sampling) -> Json:
    """Returns the settings for the worker, without the note of who set them."""
    return {name: value for name, value in asdict(sampling).items() if name in SAMPLED}


def _constraint(constraint: Constraint) -> Json:
    return {"kind": constraint.kind, "source": constraint.source, "strict": constraint.strict}


def facts_of(frame: Json) -> ModelFacts:
    known = {name: frame[name] for name in ModelFacts.__dataclass_fields__ if name in frame}
    special = tuple(known.get("special_tokens", ()))
    return ModelFacts(**{**known, "special_tokens": special})


class Reading:
    """Turns bursts of a worker's items into pieces. Text that arrives together is one piece.

    After the last piece `ended` is set. If the worker refused to continue, `error` is set.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._text: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._thoughts = Thoughts()
        self.ended = False
        self.error: AppError | None = None

    def pieces(self, items: list[Item]) -> list[Piece]:
        made: list[Piece] = []
        progress: PromptProgress | None = None
        for item in items:
            match item:
                case [_, "text", text, logprobs, *counted]:
                    self._text.append(text)
                    self._thoughts.hear(text, counted[0] if counted else 0)
                    self._logprobs += map(_logprob, logprobs or ())
                case [_, "prompt", done, total]:
                    progress = PromptProgress(done, total)
                case [_, "end", reason, usage, *stop_text]:
                    made += self._feed()
                    made += self._end(reason, usage, *stop_text)
                case [_, "error", code, message, facts]:
                    self.error = refusal(code, message, facts)
        made += self._feed()
        return [progress, *made] if progress else made

    @property
    def stopped(self) -> bool:
        """Whether the parser needs no more text, so that the worker can be cancelled."""
        return self._parser.stopped

    def _end(self, reason: StopReason, usage: Json, stop_text: str | None = None) -> list[Piece]:
        self.ended = True
        self._thoughts.end(thinks=not self._parser.holds)
        used = Usage(**usage, reasoning_tokens=self._thoughts.tokens)
        pieces = self._parser.end(reason, used)
        if stop_text and pieces[-1] == Finished("stop", used):
            return [*pieces[:-1], Finished("stop", used, stop_text)]
        return pieces

    def _feed(self) -> list[Piece]:
        if not self._text:
            return []
        text, logprobs = "".join(self._text), tuple(self._logprobs)
        self._text, self._logprobs = [], []
        pieces = self._parser.feed(text, logprobs)
        self._thoughts.see(pieces)
        return pieces


def _logprob(row: list[Any]) -> TokenLogprob:
    text, token, logprob, *top = row
    return TokenLogprob(text, token, logprob, tuple(map(_logprob, top[0])) if top else ())


log = logging.getLogger("engine")
CALM_S = 60.0
"""In seconds. A crash that is longer ago no longer delays a restart."""
LONGEST_DELAY_S = 2.0
TOO_MANY_CRASHES = 6
"""After this many crashes within CALM_S, the worker is restarted only when it is needed."""
LARGE_CHARS = 64 * 1024
"""A request with more text is prepared on another thread."""
EMBEDDED_AT_ONCE = 8
"""The most texts in one message to the worker."""


class WorkerProcess:
    """A model in a worker. A crash ends the answers that had begun; the others are retried."""

    def __init__(
        self,
        path: Path,
        options: EngineOptions | None = None,
        *,
        choose: Callable[[ModelFacts], Format] | None = None,
        command: Sequence[str] | None = None,
        limits: WatchLimits | None = None,
    ) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self._path = path
        self._options = options or EngineOptions()
        self._choose = choose or styles.choose
        self._command = command or processes.command("worker")
        self._limits = limits or WatchLimits()
        self._style: Format | None = None
        self._link: WorkerLink | None = None
        self._starting: asyncio.Task[WorkerLink | AppError] | None = None
        self._trying_template = asyncio.Lock()
        self._crashes: list[float] = []
        self._closed = False

    @property
    def pid(self) -> int | None:
        return self._link.pid if self._link and self._link.error is None else None

    @property
    def health(self) -> Health:
        return self._link.health if self._link is not None else "ok"

    async def load(self) -> None:
        await self._ready()

    async def close(self) -> None:
        self._closed = True
        await stop(self._starting)
        if self._link is not None:
            await self._link.close()
        self.state.set(LoadState())

    async def generate(self, request: ChatRequest) -> Pieces:
        crashes = 0
        while True:
            link = await self._ready()
            self._check_room(link)
            await self._try_template_again(request)
            prepared, job = await self._prepared(request)
            reading = Reading(prepared.parser)
            answer = link.begin(job)
            spoken = False
            try:
                while not reading.ended:
                    for piece in await _next(reading, answer, link):
                        spoken = spoken or not isinstance(piece, PromptProgress)
                        yield piece
            except (GeneratorExit, asyncio.CancelledError):
                if not reading.ended:
                    link.cancel(answer)
                raise
            except BadSchema as error:
                raise await asyncio.to_thread(locate, error, request) from error
            except EngineCrashed:
                crashes += 1
                # A request that the worker had not begun is less likely to have caused the crash.
                if spoken or link.error is None or crashes > (1 if answer.started else 2):
                    raise
            else:
                return
            finally:
                link.forget(answer)

    def _check_room(self, link: WorkerLink) -> None:
        """Raises Busy if too many wait. In a burst, the worker would take seconds to refuse."""
        waiting = link.unanswered - self._options.slots
        if waiting >= self._options.queue_limit:
            raise Busy(waiting)

    async def apply_template(self, request: ChatRequest) -> str:
        await self._ready()
        await self._try_template_again(request)
        _, job = await self._prepared(request)
        text: str = await self._ask("render", **job)
        return text

    async def _prepared(self, request: ChatRequest) -> tuple[Prepared, Json]:
        """Prepares the request in the model's style; on another thread if it is large."""
        style, facts = self._style, self.facts
        assert style
        check_fits(request, facts)

        def work() -> tuple[Prepared, Json]:
            prepared = prepare(request, style, facts)
            return prepared, job_of(request, prepared)

        is_large = size_of(request) > LARGE_CHARS or request.tools or request.constraint
        return await asyncio.to_thread(work) if is_large else work()

    async def _try_template_again(self, request: ChatRequest) -> None:
        """Tries the template again if the machine was too busy for that while the model loaded."""
        if request.prompt is not None or not self.facts.extra.get("template_again"):
            return
        async with self._trying_template:
            if self.facts.extra["template_again"]:
                self.facts.extra.update(await self._ask("template"))
                self._choose_style()

    def _choose_style(self) -> None:
        if lost := from_wire(self.facts.extra.get("template_lost", "")):
            log.warning("The chat template of %s could not be tried out: %s", self._path.stem, lost)
        self._style = self._choose(self.facts)

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        tokens: list[int] = await self._ask("tokenize", text=text, special=special)
        return tokens

    async def detokenize(self, tokens: Sequence[int]) -> str:
        text: str = await self._ask("detokenize", tokens=list(tokens))
        return text

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        scores: list[float] = []
        tokens = 0
        method: Any = "embeddings"
        for at in range(0, len(documents), EMBEDDED_AT_ONCE):
            asked = list(documents[at : at + EMBEDDED_AT_ONCE])
            some = await self._ask("rerank", query=query, documents=asked)
            scores += some["scores"]
            tokens += some["tokens"]
            method = some["method"]
        return Ranking(scores, tokens, method)

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        """Embeds a few texts at a time, so that chats come in between and it can be cancelled."""
        vectors: list[list[float]] = []
        tokens = 0
        for at in range(0, len(texts), EMBEDDED_AT_ONCE):
            some = await self._ask("embed", texts=list(texts[at : at + EMBEDDED_AT_ONCE]))
            vectors += some["vectors"]
            tokens += some["tokens"]
        return Embeddings(vectors, tokens)

    async def stats(self) -> dict[str, Any]:
        """Returns the worker's figures, with properties of the model."""
        stats: dict[str, Any] = await self._ask("stats")
        return {
            **stats,
            "slots": self._options.slots,
            "context_tokens": self.facts.context_tokens,
            "chat_template": self.facts.template,
            "bos_token": self.facts.bos,
            "eos_token": self.facts.eos,
        }

    async def calibrate(self) -> dict[str, Any]:
        """Measures how the model is computed fastest here. Cancelling ends it at once."""
        found: dict[str, Any] = await self._ask("calibrate")
        return found

    async def _ask(self, what: str, **arguments: Any) -> Any:
        """Asks the worker; once more if it crashed meanwhile."""
        link = await self._ready()
        try:
            return await link.ask(what, arguments)
        except EngineCrashed:
            if link.error is None:
                raise
        return await (await self._ready()).ask(what, arguments)

    async def _ready(self) -> WorkerLink:
        """Returns the worker, alive and loaded. Starts it, or waits for it, if needed."""
        if self._closed:
            raise Stopping
        if self._starting is None:
            if self._link is not None and self._link.is_ready:
                return self._link
            self._starting = spawn(self._start(), "worker-start")
        # Shielded: a caller that is cancelled must not cancel the load for the others.
        outcome = await asyncio.shield(self._starting)
        if isinstance(outcome, AppError):
            raise outcome
        return outcome

    async def _start(self, delay_s: float = 0.0) -> WorkerLink | AppError:
        try:
            await asyncio.sleep(delay_s)
            self.state.set(LoadState("loading", 0.0, self.state.get().reason))
            link = await self._open()
        except ModelLoadFailed as error:
            log.error("%s", error)  # noqa: TRY400 - the sentence is the whole story
            self.state.set(LoadState.failed(error))
            return error
        except asyncio.CancelledError:
            # Only `close` cancels it. A caller that waits for the load gets an error instead.
            return Stopping()
        finally:
            if self._starting is asyncio.current_task():
                self._starting = None
        if link.error is None:
            self.state.set(LoadState("ready", 1.0))
        return link

    async def _open(self) -> WorkerLink:
        try:
            link = self._link = await WorkerLink.open(
                self._command, processes.environment("worker"), self._limits, self._on_end
            )
        except OSError as error:
            raise ModelLoadFailed(
                Sentence("The engine could not be started. Install Moat again, or see the log.")
            ) from error
        try:
            options = OPTIONS.dump_python(self._options, mode="json")
            facts = await link.load(str(self._path), options, self._show_progress)
        except ModelLoadFailed:
            await link.close()
            raise
        self.facts = facts_of(facts)
        self.facts.extra["tool_signatures"] = self._options.tool_signatures
        self._choose_style()
        return link

    def _show_progress(self, done: float) -> None:
        self.state.set(LoadState("loading", done, self.state.get().reason))

    def _on_end(self) -> None:
        link = self._link
        if self._closed or link is None or link.error is None or not link.has_loaded:
            return
        now = asyncio.get_running_loop().time()
        self._crashes = [at for at in self._crashes if now - at < CALM_S] + [now]
        if len(self._crashes) >= TOO_MANY_CRASHES:
            reason = Sentence("{0} This happened repeatedly.", link.error)
            self.state.set(LoadState("failed", 0.0, reason, link.error.details))
            return
        repeats = len(self._crashes) - 1
        delay_s = min(LONGEST_DELAY_S, 0.25 * 2 ** (repeats - 1)) if repeats else 0.0
        self.state.set(
            LoadState("loading", 0.0, Sentence("{0} It is being restarted.", link.error))
        )
        self._starting = spawn(self._start(delay_s), "worker-restart")


async def _next(reading: Reading, answer: WorkerAnswer, link: WorkerLink) -> list[Piece]:
    if reading.error is not None:
        raise reading.error
    pieces = reading.pieces(await answer.burst())
    if reading.stopped and not reading.ended:
        link.cancel(answer)
    return pieces
