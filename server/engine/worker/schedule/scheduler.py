"""Computes many answers at once: one thread owns the context, decides whose turn it is, and steps.

A running answer must not notice a prompt that came later: the prompt is read in chunks between the
answer's tokens, cut so that the gap stays near the usual one. Prompts that came before an answer
began are its equals: while little of them is left, they are read first, at full speed, because
every answer then runs in a wider batch and the last first token comes soonest.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from server.engine.causes import JobRefused
from server.engine.worker.decode.batch import Batch, RowBatch
from server.engine.worker.decode.on_device import OnDevice
from server.engine.worker.decode.sampling import CandidateArray, Logits, Sampler
from server.engine.worker.load.context import ABORTED, CACHE_FULL, Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib
from server.engine.worker.load.plan import Plan, ThreadCount
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.prompt.vision import Picture, Projector, View
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.schedule.admission import Admission
from server.engine.worker.schedule.answer import Answer, Item
from server.engine.worker.schedule.compose import (
    LEAST_CHUNK,
    DecodeBatch,
    PromptCut,
    fill_chunk,
    first_size,
    in_sequence,
)
from server.engine.worker.schedule.draft import DraftModel, Purse
from server.engine.worker.schedule.pace import EFFICIENT_TOKENS, SIZES, Copying, StepPace
from server.engine.worker.schedule.prefix import (
    DiskCache,
    HostCache,
    file_mark,
    folder_for,
    make_slots,
)
from server.sentences import Sentence, to_wire
from server.sizes import MB

TRIED = [size for size in SIZES if size >= 16]
TRIED_EACH = 128
"""The tokens of each prompt in a trial: a burst has many prompts."""
LONG_TRIAL_S = 0.25
TRIALS_S = 3.0
"""In seconds. No trial begins later: a driver that prepares slowly is measured in use."""


@dataclass(slots=True)
class Counters:
    steps: int = 0
    decode_s: float = 0.0
    choose_s: float = 0.0
    whole_s: float = 0.0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    pictures: int = 0
    encode_s: float = 0.0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    chosen_on_device: int = 0
    answers: int = 0
    cancelled: int = 0
    refused: int = 0
    cache_full: int = 0


class DecodeFailed(Exception):
    """llama.cpp did not evaluate the batch. `code` is that of llama_decode, or NOT_ENCODED."""

    def __init__(self, code: int) -> None:
        super().__init__(f"llama_decode gave {code}")
        self.code = code


QUICK_LAUNCH_S = 0.002
QUICK_LAUNCH_SHARE = 0.25
"""A device computes by itself if a step is begun within this time, or this share of the step."""


@dataclass(slots=True)
class Together:
    """Answers whose tokens the device chooses, until one of them ends: their rows and sequences."""

    rows: list[tuple[int, int]]
    room: int
    """How many tokens each of them may still write; 0 if their text may end them."""
    tokens: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, answers: list[Answer]) -> "Together | None":
        if not all(answer.on_device and not answer.is_parted for answer in answers):
            return None
        rows = [(answer.row, answer.slot.sequence) for answer in answers]
        may_stop = any(answer.request.stops for answer in answers)
        return cls(rows, 0 if may_stop else min(answer.room for answer in answers))

    def choose(self, tokens: list[int]) -> None:
        """Notes the tokens that follow, one for each answer."""
        self.tokens = tokens
        self.room -= 1


GoOn = Callable[[list[Answer], Together | None], None]


@dataclass(frozen=True, slots=True)
class Begun:
    """A batch that is being evaluated. `guessing_s` is how long its guesses have taken."""

    batch: Batch | RowBatch
    at: float
    launch_s: float
    guessing_s: float
    together: Together | None

    def ran_by_itself(self, seconds: float) -> bool:
        """Whether the device computed by itself, so that there was time for something else."""
        return self.launch_s <= max(QUICK_LAUNCH_S, QUICK_LAUNCH_SHARE * seconds)


class DecodeStep:
    """Evaluates batches, and lets the answers choose their next tokens."""

    def __init__(
        self, context: Context, pace: StepPace, vocabulary: Vocabulary, counters: Counters
    ) -> None:
        self.device: OnDevice | None = None
        self._begun: Begun | None = None
        self._chosen: dict[int, int] = {}
        self._context = context
        self._pace = pace
        self._vocabulary = vocabulary
        self._counters = counters

    @property
    def has_begun(self) -> bool:
        return self._begun is not None

    def begin(
        self,
        batch: Batch | RowBatch,
        guessing_s: float = 0.0,
        together: Together | None = None,
    ) -> None:
        """Begins to evaluate a batch: if the answers are `together`, a token of each."""
        if self.device is not None:
            self.device.expect(together.rows[0][1] if together else None)
        self._context.operations.clear()
        began = perf_counter()
        code = self._context.begin(batch)
        if code:
            raise DecodeFailed(code)
        self._begun = Begun(batch, began, perf_counter() - began, guessing_s, together)

    def complete(self, answers: list[Answer], items: list[Item], go_on: GoOn) -> None:
        """Waits for the step that was begun, and lets the answers choose their next tokens.

        On a device that computes by itself, `go_on` may begin the next step as soon as the tokens
        are known: it need not wait until their text is made and sent.
        """
        begun, usual_s = self._begun, self._pace.decode_s(len(answers))
        assert begun is not None
        assert isinstance(begun.batch, Batch)
        seconds = self._finish()
        began = perf_counter()
        self._pace.note_decode(begun.batch.count, seconds)
        go_on = go_on if begun.ran_by_itself(seconds) else _stay
        if begun.together is not None:
            self._take_chosen(begun.together, begun.batch, answers, items, go_on)
        else:
            self._collect(begun.batch, [answer for answer in answers if not answer.is_parted])
            lost_s = max(0.0, seconds - usual_s) + begun.guessing_s
            self._choose(answers, items, go_on, lost_s, usual_s / len(answers))
        self._counters.choose_s += perf_counter() - began

    def _take_chosen(
        self,
        together: Together,
        batch: Batch,
        answers: list[Answer],
        items: list[Item],
        go_on: GoOn,
    ) -> None:
        """Goes on with the device's tokens if none is an end, before anything is made of them."""
        assert self.device is not None
        self._chosen = self.device.tokens(batch, together.rows)
        tokens = [self._chosen[row] for row, _sequence in together.rows]
        try:
            if together.room > 1 and self._vocabulary.ends.isdisjoint(tokens):
                together.choose(tokens)
                go_on(answers, together)
        finally:
            for answer in answers:
                self._continue(answer, None, items)
                items.extend(answer.items())

    def _choose(
        self,
        answers: list[Answer],
        items: list[Item],
        go_on: GoOn,
        lost_s: float,
        token_s: float,
    ) -> None:
        """Chooses tokens. `lost_s` is the time that guesses took, and `token_s` that of a token."""
        guess_s = lost_s / max(1, sum(len(answer.draft) for answer in answers))
        whole = [answer for answer in answers if not answer.is_parted]
        rows = self._context.rows() if whole else None
        for answer in answers:
            if answer.is_parted:
                answer.pass_part()
                continue
            before = answer.written
            self._continue(answer, rows, items)
            if answer.draft:
                self._settle_draft(answer, answer.written - before, guess_s, token_s)
        try:
            if all(answer.reason is None for answer in answers):
                go_on(answers, None)
        finally:
            for answer in whole:
                if answer.reason != FAILED:
                    items.extend(answer.items())

    def read(self, batch: Batch, answers: list[Answer], items: list[Item]) -> None:
        began = perf_counter()
        seconds = self._evaluate(batch)
        self._pace.note_read(batch.count, seconds)
        self._counters.prompt_tokens += batch.count
        rows = self._context.rows() if batch.outputs else None
        self._collect(batch, [answer for answer in answers if len(answer.todo) <= answer.chunk])
        for answer in answers:
            answer.slot.append(answer.todo[: answer.chunk])
            answer.todo = answer.todo[answer.chunk :]
            items.append(answer.progress())
            if not len(answer.todo):
                assert rows is not None
                self._begin_answer(answer, rows, items)
        self._counters.choose_s += perf_counter() - began - seconds

    def measure(
        self, batch: Batch, slots: int, room: int, clock: Callable[[], float] = perf_counter
    ) -> None:
        """Measures reading and decoding before the first request, up to sizes that take long.

        A device prepares when it first computes a size, so the quickest of some trials counts.
        """
        last_s = clock() + TRIALS_S
        for size in [size for size in TRIED if size <= batch.capacity]:
            prompts = min(slots, -(-size // TRIED_EACH))
            each = size // prompts
            if each > room or clock() > last_s:
                break
            took_s = min(self._trial_s(batch, prompts, each, clock) for _ in range(2))
            self._pace.note_read(each * prompts, took_s)
            if took_s > LONG_TRIAL_S:
                break
        for width in [width for width in SIZES if width <= slots and clock() <= last_s]:
            took_s = min(self._trial_s(batch, width, 1, clock) for _ in range(3))
            self._pace.note_decode(width, took_s)

    def _trial_s(self, batch: Batch, prompts: int, each: int, clock: Callable[[], float]) -> float:
        batch.clear()
        for sequence in range(prompts):
            batch.add([0] * each, sequence, 0, 1)
        began = clock()
        code = self._context.decode(batch)
        took_s = clock() - began
        for sequence in range(prompts):
            self._context.cut(sequence, 0)
        return LONG_TRIAL_S if code else took_s

    def read_rows(self, batch: RowBatch) -> None:
        self._pace.note_read(batch.count, self._evaluate(batch))
        self._counters.prompt_tokens += batch.count

    def _evaluate(self, batch: Batch | RowBatch) -> float:
        self.begin(batch)
        return self._finish()

    def _finish(self) -> float:
        """Waits for the batch that was begun. Returns the seconds that it took."""
        begun, self._begun = self._begun, None
        assert begun is not None
        began = perf_counter()
        self._context.finish()
        ended = perf_counter()
        self._counters.steps += 1
        self._counters.decode_s += begun.launch_s + ended - began
        return ended - begun.at

    def _begin_answer(self, answer: Answer, rows: Logits, items: list[Item]) -> None:
        answer.first_at = perf_counter()
        try:
            self._advance(answer, rows)
        except JobRefused as refused:
            _fail(answer, refused, items)
            return
        self._counters.completion_tokens += answer.written
        items.extend(answer.items())

    def _continue(self, answer: Answer, rows: Logits | None, items: list[Item]) -> None:
        before = answer.written
        answer.slot.append(answer.pending)
        try:
            self._advance(answer, rows)
            self._follow(answer, rows)
        except JobRefused as refused:
            _fail(answer, refused, items)
            return
        self._counters.completion_tokens += answer.written - before

    def _collect(self, batch: Batch, answers: list[Answer]) -> None:
        """Gets the tokens that the device has chosen for these answers, all at once."""
        chosen = [(answer.row, answer.slot.sequence) for answer in answers if answer.on_device]
        self._chosen = self.device.tokens(batch, chosen) if self.device and chosen else {}

    def _advance(self, answer: Answer, rows: Logits | None) -> None:
        if not answer.on_device:
            assert rows is not None
            answer.advance(rows[answer.row], self._vocabulary)
            return
        self._counters.chosen_on_device += 1
        answer.take(self._chosen[answer.row], self._vocabulary)

    def _follow(self, answer: Answer, rows: Logits | None) -> None:
        """Chooses further tokens as long as the guesses are right: these are evaluated already."""
        row = answer.row
        for guess in answer.draft:
            assert rows is not None
            if answer.reason is not None or answer.pending != [guess]:
                return
            answer.slot.append(answer.pending)
            row += 1
            answer.advance(rows[row], self._vocabulary)

    def _settle_draft(self, answer: Answer, gained: int, guess_s: float, token_s: float) -> None:
        """Notes a guess, which costs extra time. A token is worth its share of a usual step."""
        answer.slot.cut(answer.slot.count, self._context)
        answer.payoff.note(gained, token_s + len(answer.draft) * guess_s, token_s)
        self._counters.drafted_tokens += len(answer.draft)
        self._counters.accepted_tokens += max(0, gained - 1)


FAILED = "error"


def _stay(_answers: list[Answer], _together: Together | None) -> None:
    """Begins no step."""


def _fail(answer: Answer, refused: JobRefused, items: list[Item]) -> None:
    answer.reason = FAILED
    items.append([answer.request.id, "error", refused.code, refused.message, refused.facts])


NOT_ENCODED = -3


class PictureReading:
    def __init__(
        self, projector: Projector | None, context: Context, step: DecodeStep, counters: Counters
    ) -> None:
        self.has_encoded = False
        """Whether the last step encoded a picture, which takes long and cannot be divided."""
        self.is_encoding = False
        self._projector = projector
        self._context = context
        self._step = step
        self._counters = counters

    def take(self, answer: Answer, picture: Picture, most: int) -> None:
        """Takes a step: encodes the picture, or reads as many of its rows as there is time for."""
        if answer.view is None:
            answer.view = self._encode(picture)
            self.has_encoded = True
            return
        view = answer.view
        size = first_size(view.left, most) if view.causal else view.left
        self._read(view, size, answer.slot.sequence)
        view.done += size
        if not view.left:
            answer.pass_picture()

    def _encode(self, picture: Picture) -> View:
        assert self._projector is not None
        began = perf_counter()
        self.is_encoding = True
        try:
            view = self._projector.encode(picture)
        finally:
            self.is_encoding = False
        if view is None:
            raise DecodeFailed(NOT_ENCODED)
        self._counters.steps += 1
        self._counters.pictures += 1
        self._counters.encode_s += perf_counter() - began
        return view

    def _read(self, view: View, size: int, sequence: int) -> None:
        part = slice(view.done, view.done + size)
        batch = RowBatch(view.rows[part], view.places[:, part], sequence)
        if view.causal:
            self._step.read_rows(batch)
            return
        self._context.look_back_only(only=False)
        try:
            self._step.read_rows(batch)
        finally:
            self._context.look_back_only(only=True)


STRETCH = 2.1
SHORTEST_GAP_S = 0.015
LONGEST_PAUSE_S = 0.05
"""In seconds. Running answers wait up to this time if many prompts wait or reading is cheap."""
BURST = 4
"""The least number of prompts in a burst."""
BURST_S, BURST_PAUSE_S = 2.0, 0.1
"""A burst that takes up to BURST_S is read in pauses of BURST_PAUSE_S, however many run."""
YOUNG_CHUNK_S = 0.5
LONGEST_HOLD_S = 5.0
SHORT_PROMPT_TOKENS = 512


class Turns:
    """Decides when prompts are read, how much at a time and in which order."""

    def __init__(self, pace: StepPace, most: int) -> None:
        self._pace = pace
        self._most = most
        self._has_read = False
        self._paused_s = 0.0
        """How many seconds running answers have waited for the prompts of a burst."""

    def chunk_tokens(self, running: list[Answer], reading: list[Answer]) -> int:
        """Returns how many prompt tokens to read now; 0 if the running answers decode."""
        if not reading:
            return 0
        if not running:
            return self._most
        earliest = min(answer.first_at for answer in running)
        later = any(answer.request.submitted_at > earliest for answer in reading)
        if not later and self._is_soon_read(reading):
            return self._most
        if later and self._is_burst(reading):
            return self._burst_tokens()
        self._paused_s = 0.0
        self._has_read = not self._has_read
        return self._part_tokens(running, reading, later=later) if self._has_read else 0

    def _part_tokens(self, running: list[Answer], reading: list[Answer], *, later: bool) -> int:
        """Returns a size that running answers hardly notice, unless the prompts came first."""
        if not later:
            return self._pace.chunk_tokens(YOUNG_CHUNK_S, self._most)
        usual_s = self._pace.decode_s(len(running))
        pause_s = max(STRETCH * usual_s, SHORTEST_GAP_S) - usual_s
        # Waiting prompts count as much as running answers.
        fair_s = min(LONGEST_PAUSE_S, pause_s * len(reading) / len(running))
        size = self._pace.chunk_tokens(max(pause_s, fair_s), self._most)
        return self._pace.bargain_tokens(size, self._most, LONGEST_PAUSE_S)

    def cut(self, block: int, apart: int) -> PromptCut:
        return PromptCut(block, self._pace.efficient_tokens(self._most), apart)

    def in_order(self, reading: list[Answer]) -> list[Answer]:
        """Sorts the shortest prompt first, but waiting earns priority."""
        now = perf_counter()

        def left_s(answer: Answer) -> float:
            waited_s = now - answer.request.submitted_at
            return self._pace.reading_s(len(answer.todo)) - waited_s

        return sorted(reading, key=left_s)

    def _is_burst(self, reading: list[Answer]) -> bool:
        """Whether many prompts are soon read. In small parts, the last would wait for seconds."""
        left_s = self._pace.reading_s(sum(len(answer.todo) for answer in reading))
        return len(reading) >= BURST and left_s <= BURST_S

    def _burst_tokens(self) -> int:
        """Returns an efficient size until the pause is over, then 0 for a step of decoding."""
        size = self._pace.chunk_tokens(BURST_PAUSE_S - self._paused_s, self._most)
        part = min(size, self._pace.efficient_tokens(self._most))
        if self._paused_s and part < min(EFFICIENT_TOKENS, self._most):
            self._paused_s = 0.0
            return 0
        self._paused_s += self._pace.expected_s(part)
        return size

    def _is_soon_read(self, reading: list[Answer]) -> bool:
        """Whether all prompts are short, or little is left altogether."""
        left = [len(answer.todo) for answer in reading]
        return max(left) <= SHORT_PROMPT_TOKENS or self._pace.reading_s(sum(left)) <= LONGEST_HOLD_S


class WaitingLine:
    """The queue of requests, which is fair between clients."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._lines: OrderedDict[str, deque[Request]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        """Returns a counter, because other threads call this while the lines change."""
        return self._count

    def join(self, request: Request) -> bool:
        """Adds a request. Returns False if the queue is full."""
        if len(self) >= self.limit:
            return False
        self._lines.setdefault(request.client, deque()).append(request)
        self._count += 1
        return True

    def in_turn(self) -> Iterator[Request]:
        """Yields the first request of each client in turn, then the second of each, and so on."""
        lines = [list(line) for line in self._lines.values()]
        for place in range(max(map(len, lines), default=0)):
            yield from (line[place] for line in lines if place < len(line))

    def leave(self, request: Request, *, served: bool) -> None:
        """Removes a request, `served` or cancelled. A client that was served goes to the back."""
        line = self._lines[request.client]
        line.remove(request)
        self._count -= 1
        if not line:
            del self._lines[request.client]
        elif served:
            self._lines.move_to_end(request.client)


FELT_S = 0.005
"""In seconds. If placing prompts takes longer, the running answers have the next turn."""
BREATH_S = 0.1
IDLE_WAIT_S = 5.0

Emit = Callable[[list[Item]], None]


class Scheduler:
    """Runs on one thread. Others may use `submit`, `cancel`, `stop`, `stats` and the properties."""

    def __init__(
        self,
        model: Model,
        context: Context,
        plan: Plan,
        emit: Emit,
        projector: Projector | None = None,
    ) -> None:
        options = model.options
        self.counters = Counters()
        self._vocabulary = model.vocabulary
        self._context = context
        self._emit = emit
        self._inbox: deque[Request] = deque()
        self._cancelled: deque[int] = deque()
        self._wake = threading.Event()
        self._stopping = self._has_read = False
        self._alone_reading: int | None = None
        self._running: list[Answer] = []
        self._reading: list[Answer] = []
        self._waiting = WaitingLine(options.queue_limit)
        self._array = CandidateArray()
        cache = HostCache(options.prompt_cache_mb * MB)
        shape = (plan.batch_tokens, plan.slots, context.sequence_tokens)
        draft = DraftModel(options.draft_model, model, plan) if options.draft_model else None
        pace = StepPace()
        slots = make_slots(plan.slots, context.sequence_tokens)
        disk, copying = _disk_cache(model, plan), Copying(context, pace)
        self._admission = Admission(context, slots, cache, disk, copying)
        self._purse = Purse()
        guesses = options.speculate and model.can_rewind
        self._decode_batch = DecodeBatch(Batch(*shape), draft, pace, self._purse, speculate=guesses)
        self._read_batch = Batch(*shape)
        self._parts = (plan.read_block, 1 if plan.on_card else LEAST_CHUNK)
        self._turns = Turns(pace, plan.batch_tokens)
        self._threads = ThreadCount(plan.threads, context.use_threads)
        self._step = DecodeStep(context, pace, model.vocabulary, self.counters)
        self._look = PictureReading(projector, context, self._step, self.counters)

    def prepare(self, plan: Plan) -> None:
        """Measures steps on a card and tries to choose tokens there, before the first request."""
        if plan.on_card:
            self._step.measure(self._read_batch, plan.slots, self._context.sequence_tokens)
        if plan.chooses_on_device:
            forced = plan.chooses_on_device == "always"
            batch = self._read_batch
            device = OnDevice(
                self._context, self._vocabulary, batch, slots=plan.slots, forced=forced
            )
            self._step.device = device if device.works and device.least <= plan.slots else None

    def submit(self, request: Request) -> None:
        self._inbox.append(request)
        self._wake.set()

    def cancel(self, request_id: int) -> None:
        self._cancelled.append(request_id)
        if self._alone_reading == request_id:
            self._context.operations.abort()
        self._wake.set()

    def stop(self) -> None:
        self._stopping = True
        self._context.operations.abort()
        self._wake.set()

    @property
    def load(self) -> tuple[int, int]:
        """The number of answers in the making, and the number of requests that wait."""
        return len(self._running) + len(self._reading), len(self._waiting) + len(self._inbox)

    @property
    def beats(self) -> int | None:
        """Grows while a step makes progress; None if that is not visible on this system."""
        return self._context.operations.count

    @property
    def is_unseen(self) -> bool:
        """Whether the current step shows no progress, because it encodes a picture as a whole."""
        return self._look.is_encoding

    def run(self) -> None:
        while not self._stopping:
            if not self.take_step():
                self._rest()
                self._wake.clear()
                self._threads.forget()

    def take_step(self) -> bool:
        """Takes a step. Returns False if there was nothing to do."""
        began = perf_counter()
        items: list[Item] = []
        if self._cancelled and not self._step.has_begun:
            self._drop_cancelled(items)
        if (self._inbox or len(self._waiting)) and not self._step.has_begun:
            self._take_in(items)
        worked = bool(self._running or self._reading)
        if worked:
            self._compute(items)
        if worked:
            self.counters.whole_s += perf_counter() - began
        if items:
            self._emit(items)
        return worked

    def stats(self) -> dict[str, Any]:
        making, waiting = self.load
        cache = self._admission.cache
        return {
            **asdict(self.counters),
            **asdict(self._admission.counts),
            "running": making,
            "waiting": waiting,
            "kept_conversations": len(cache),
            "kept_bytes": cache.size_bytes,
            "threads": self._threads.current,
        }

    def _rest(self) -> None:
        """Waits for requests. Meanwhile it saves conversations, which would cost time later."""
        if self._wake.wait(BREATH_S) or self._admission.keep_one():
            return
        while not self._wake.wait(IDLE_WAIT_S):
            if not self._admission.store_one():
                self._wake.wait()

    def _compute(self, items: list[Item]) -> None:
        answers = self._running[:]
        chunk = 0 if self._step.has_begun else self._chunk_tokens()
        try:
            if chunk:
                reading = self._turns.in_order(self._reading)
                if reading[0].picture is not None:
                    answers = reading[:1]
                    self._look_on(reading[0], chunk, items)
                else:
                    cut = self._turns.cut(*self._parts)
                    answers = fill_chunk(self._read_batch, reading, chunk, cut)
                    self._read(answers, items)
            else:
                if not self._step.has_begun:
                    self._begin(answers)
                self._has_read = False
                self._step.complete(answers, items, self._go_on)
        except DecodeFailed as failed:
            self._recover(answers, failed.code, items)
            return
        self._has_read = bool(chunk)
        for answer in answers:
            if answer.reason is not None:
                self._release(answer)

    def _chunk_tokens(self) -> int:
        """Returns how many prompt tokens to read now; 0 if the running answers decode."""
        # Running answers that waited for a picture, or for the placing of a prompt, come next.
        was_long = self._look.has_encoded or self._admission.placing_s > FELT_S
        held = was_long and bool(self._running)
        self._look.has_encoded, self._admission.placing_s = False, 0.0
        self._threads.look(perf_counter())
        return 0 if held else self._turns.chunk_tokens(self._running, self._reading)

    def _begin(self, answers: list[Answer]) -> None:
        # Guesses make the gap longer, and so does reading: only one of them at a time.
        calm = not (self._reading or self._has_read)
        guessing_s = self._decode_batch.fill(answers, guess=calm)
        self._step.begin(self._decode_batch.batch, guessing_s, Together.of(answers))

    def _go_on(self, answers: list[Answer], together: Together | None) -> None:
        """Begins the next step, unless something else comes first.

        Answers that are `together` have not taken their next tokens yet; others have.
        """
        if self._stopping or self._cancelled or self._inbox or self._reading:
            return
        if self._decode_batch.takes_long or (len(self._waiting) and self._admission.has_room):
            return
        if together is None:
            self._begin(answers)
        else:
            self._decode_batch.advance(together.tokens)
            self._step.begin(self._decode_batch.batch, together=together)

    def _read(self, answers: list[Answer], items: list[Item]) -> None:
        """Reads parts of prompts. Answers whose prompt is complete run from now on."""
        self._alone_reading = answers[0].request.id if len(answers) == 1 else None
        try:
            self._step.read(self._read_batch, answers, items)
        finally:
            self._alone_reading = None
        for answer in answers:
            if not len(answer.todo):
                self._reading.remove(answer)
                self._running.append(answer)
                self._running.sort(key=in_sequence)
                self._decode_batch.unsettle()

    def _look_on(self, answer: Answer, chunk: int, items: list[Item]) -> None:
        """Takes one step of reading the picture that a prompt has come to."""
        assert answer.picture is not None
        self._alone_reading = answer.request.id
        try:
            self._look.take(answer, answer.picture, chunk)
        finally:
            self._alone_reading = None
        items.append(answer.progress())

    def _take_in(self, items: list[Item]) -> None:
        while self._inbox:
            request = self._inbox.popleft()
            if not self._waiting.join(request):
                self.counters.refused += 1
                waiting = len(self._waiting)
                message = f"{waiting} requests wait"
                items.append([request.id, "error", "server_busy", message, {"waiting": waiting}])
        for request in tuple(self._waiting.in_turn()):
            prompts = [answer.request.tokens for answer in self._reading]
            if self._admission.should_wait(request.tokens, prompts):
                continue
            if not self._admit(request):
                return

    def _admit(self, request: Request) -> bool:
        began = perf_counter()
        slot = self._admission.place(request)
        if slot is None:
            return False
        self._waiting.leave(request, served=True)
        self._admission.placing_s += perf_counter() - began
        whole = request.whole_until(slot.count)
        if whole < slot.count:
            slot.cut(whole, self._context)
        sampler = Sampler(request.sampling, self._vocabulary, self._array)
        room = self._context.sequence_tokens
        answer = Answer(request, slot, sampler, room, self._purse)
        self.counters.cached_tokens += request.tokens_until(slot.count)
        self._reading.append(answer)
        if self._step.device is not None:
            self._use_device(self._step.device)
        return True

    def _use_device(self, device: OnDevice) -> None:
        """Moves all answers for which it pays: if the host needs a single row, all are copied."""
        busy = sum(self.load)
        for answer in (*self._running, *self._reading):
            if not answer.on_device:
                answer.on_device = device.take(answer.slot.sequence, answer.request, busy)

    def _drop_cancelled(self, items: list[Item]) -> None:
        """Ends the cancelled answers. Those that have begun report their usage."""
        gone = set()
        while self._cancelled:
            gone.add(self._cancelled.popleft())
        for answer in [*self._running, *self._reading]:
            if answer.request.id in gone:
                items.append([answer.request.id, "end", "stop", answer.usage()])
                self._release(answer)
                self.counters.cancelled += 1
        for request in tuple(self._inbox):
            if request.id in gone:
                self._inbox.remove(request)
        for request in tuple(self._waiting.in_turn()):
            if request.id in gone:
                self._waiting.leave(request, served=False)

    def _release(self, answer: Answer) -> None:
        """Frees the slot. Its state stays there, for the next turn of the conversation."""
        answer.close()
        if self._step.device is not None:
            self._step.device.leave(answer.slot.sequence)
        if answer.view is not None:
            answer.slot.cut(answer.slot.count, self._context)
        self._decode_batch.unsettle()
        answer.slot.busy = False
        answer.slot.used_at = perf_counter()
        self.counters.answers += 1
        for answers in (self._running, self._reading):
            if answer in answers:
                answers.remove(answer)

    def _recover(self, answers: list[Answer], code: int, items: list[Item]) -> None:
        """Handles a failed step: repeats it if aborted, frees a full cache, or ends the answers."""
        self._decode_batch.unsettle()
        for answer in answers:
            answer.draft = []
            if answer.view is not None:
                answer.view.done = 0
            answer.slot.cut(answer.slot.count, self._context)
        if code == ABORTED:
            return
        if code == CACHE_FULL:
            self.counters.cache_full += 1
            if self._admission.evict_idle():
                return
            longest = max(answers, key=lambda answer: answer.slot.count)
            longest.reason = "length"
            items.extend(longest.items())
            self._release(longest)
            return
        for answer in answers:
            message = to_wire(Sentence("llama.cpp could not compute the answer; the log says why."))
            items.append([answer.request.id, "error", "engine_crashed", message, {}])
            answer.slot.cut(0, self._context)
            self._release(answer)


def _disk_cache(model: Model, plan: Plan) -> DiskCache | None:
    options = model.options
    if options.prompt_folder is None:
        return None
    loras = tuple(map(file_mark, options.loras))
    shape = (plan.kv_type, loras, lib.LLAMA_STATE_SEQ_VERSION)
    folder = folder_for(options.prompt_folder, model.path, shape)
    return DiskCache(folder, options.prompt_disk_mb * MB)
