"""An engine in a child process: started, watched, started again when it dies."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from server.chat import ChatRequest, Json, Prompt
from server.engine import styles
from server.engine.base import Embeddings, EngineOptions, LoadState, ModelFacts, Ranking
from server.engine.jobs import (
    Reading,
    check_fits,
    facts_of,
    job_of,
    options_of,
    prepare,
    size_of,
)
from server.engine.link import Answer, WorkerLink
from server.engine.styles.base import Format, Prepared
from server.engine.watch import Health, Limits
from server.errors import AppError, BadSchema, Busy, EngineCrashed, ModelLoadFailed, Stopping
from server.events import Piece, Pieces, PromptProgress
from server.observe import Value
from server.schemas.faults import locate
from server.system import processes
from server.tasks import spawn, stop

log = logging.getLogger("engine")
CALM_S = 60.0
"""A crash longer ago than this no longer delays a restart."""
LONGEST_DELAY_S = 2.0
TOO_MANY_CRASHES = 6
"""After this many crashes within CALM_S, the worker starts again only when it is needed."""
LARGE_CHARS = 64 * 1024
EMBEDDED_AT_ONCE = 8
"""Texts in one message to the worker."""


class WorkerProcess:
    """One model in one worker. A crash ends the answers it had begun. The others are retried."""

    def __init__(
        self,
        path: Path,
        options: EngineOptions | None = None,
        *,
        choose: Callable[[ModelFacts], Format] | None = None,
        command: Sequence[str] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self._path = path
        self._options = options or EngineOptions()
        self._choose = choose or styles.choose
        self._command = command or processes.command("worker")
        self._limits = limits or Limits()
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
                # One that the worker had not yet looked at is less likely to be what ended it.
                if spoken or link.error is None or crashes > (1 if answer.started else 2):
                    raise
            else:
                return
            finally:
                link.forget(answer)

    def _check_room(self, link: WorkerLink) -> None:
        """Refuses at once: in a burst the worker itself would need seconds to refuse everybody."""
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
        """Prepares the request in the model's style. A large one does not hold up the others."""
        style, facts = self._style, self.facts
        assert style
        check_fits(request, facts)

        def work() -> tuple[Prepared, Json]:
            prepared = prepare(request, style, facts)
            return prepared, job_of(request, prepared)

        is_large = size_of(request) > LARGE_CHARS or request.tools or request.constraint
        return await asyncio.to_thread(work) if is_large else work()

    async def _try_template_again(self, request: ChatRequest) -> None:
        """A busy machine may have kept the worker from trying the template while it loaded."""
        if request.prompt is not None or not self.facts.extra.get("template_again"):
            return
        async with self._trying_template:
            if self.facts.extra["template_again"]:
                self.facts.extra.update(await self._ask("template"))
                self._choose_style()

    def _choose_style(self) -> None:
        if lost := self.facts.extra.get("template_lost"):
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
        """Embeds a few texts at a time, so that chats come in between and a cancel ends it."""
        vectors: list[list[float]] = []
        tokens = 0
        for at in range(0, len(texts), EMBEDDED_AT_ONCE):
            some = await self._ask("embed", texts=list(texts[at : at + EMBEDDED_AT_ONCE]))
            vectors += some["vectors"]
            tokens += some["tokens"]
        return Embeddings(vectors, tokens)

    async def stats(self) -> dict[str, Any]:
        """Returns the worker's figures and its load options."""
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
        """Measures how the model is computed fastest here; ends at once when it is cancelled."""
        found: dict[str, Any] = await self._ask("calibrate")
        return found

    async def _ask(self, what: str, **arguments: Any) -> Any:
        link = await self._ready()
        try:
            return await link.ask(what, arguments)
        except EngineCrashed:
            if link.error is None:
                raise
        return await (await self._ready()).ask(what, arguments)

    async def _ready(self) -> WorkerLink:
        """Returns the living, loaded worker. Waits for it, or starts it."""
        if self._closed:
            raise Stopping
        if self._starting is None:
            if self._link is not None and self._link.is_ready:
                return self._link
            self._starting = spawn(self._start(), "worker-start")
        # Shielded: whoever leaves must not take the load away from the others who wait for it.
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
            self.state.set(LoadState("failed", 0.0, str(error)))
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
            raise ModelLoadFailed(f"The engine could not be started: {error}.") from error
        try:
            facts = await link.load(str(self._path), options_of(self._options), self._show_progress)
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
            self.state.set(LoadState("failed", 0.0, f"{link.error} This happened repeatedly."))
            return
        repeats = len(self._crashes) - 1
        delay_s = min(LONGEST_DELAY_S, 0.25 * 2 ** (repeats - 1)) if repeats else 0.0
        self.state.set(LoadState("loading", 0.0, f"{link.error} It is being restarted."))
        self._starting = spawn(self._start(delay_s), "worker-restart")


async def _next(reading: Reading, answer: Answer, link: WorkerLink) -> list[Piece]:
    if reading.error is not None:
        raise reading.error
    pieces = reading.pieces(await answer.burst())
    if reading.stopped and not reading.ended:
        link.cancel(answer)
    return pieces
