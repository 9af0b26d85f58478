"""One step: evaluate a batch, let the answers in it choose what follows, and count it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from server.engine.worker.decode.batch import Batch, RowBatch
from server.engine.worker.decode.candidates import Logits
from server.engine.worker.decode.on_device import OnDevice
from server.engine.worker.load.context import Context
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.refusals import Refused
from server.engine.worker.schedule.answer import Answer, Item
from server.engine.worker.schedule.pace import SIZES, Pace

TRIED = [size for size in SIZES if size >= 16]
TRIED_EACH = 128
"""So much of a trial is one prompt: a burst has many."""
LONG_TRIAL_S = 0.25
TRIALS_S = 3.0
"""No trial begins later: a driver that prepares slowly is learned while it works."""


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


class Failed(Exception):
    """llama.cpp did not evaluate the batch; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(f"llama_decode gave {code}")
        self.code = code


class Step:
    def __init__(
        self, context: Context, pace: Pace, vocabulary: Vocabulary, counters: Counters
    ) -> None:
        self.device: OnDevice | None = None
        self._context = context
        self._pace = pace
        self._vocabulary = vocabulary
        self._counters = counters

    def decode(
        self, batch: Batch, answers: list[Answer], items: list[Item], guessing_s: float
    ) -> None:
        began = perf_counter()
        usual_s = self._pace.decode_s(len(answers))
        seconds = self._evaluate(batch)
        self._pace.note_decode(batch.count, seconds)
        drafted = sum(len(answer.draft) for answer in answers)
        guess_s = (max(0.0, seconds - usual_s) + guessing_s) / max(1, drafted)
        rows = self._context.rows() if batch.outputs else None
        for answer in answers:
            if answer.is_parted:
                answer.pass_part()
                continue
            assert rows is not None
            before = answer.written
            self._continue(answer, rows, batch, items)
            if answer.draft:
                self._settle_draft(answer, answer.written - before, guess_s, usual_s / len(answers))
        self._counters.choose_s += perf_counter() - began - seconds

    def read(self, batch: Batch, answers: list[Answer], items: list[Item]) -> None:
        began = perf_counter()
        seconds = self._evaluate(batch)
        self._pace.note_read(batch.count, seconds)
        self._counters.prompt_tokens += batch.count
        rows = self._context.rows() if batch.outputs else None
        for answer in answers:
            answer.slot.append(answer.todo[: answer.chunk])
            answer.todo = answer.todo[answer.chunk :]
            items.append(answer.progress())
            if not len(answer.todo):
                assert rows is not None
                self._begin(answer, rows, batch, items)
        self._counters.choose_s += perf_counter() - began - seconds

    def measure(
        self, batch: Batch, slots: int, room: int, clock: Callable[[], float] = perf_counter
    ) -> None:
        """Before anybody asks: what reading and decoding cost here, up to what takes long.

        The first time a device computes a size it prepares for it; only the second one counts.
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
        self._context.clear_abort()
        began = perf_counter()
        code = self._context.decode(batch)
        if code:
            raise Failed(code)
        seconds = perf_counter() - began
        self._counters.steps += 1
        self._counters.decode_s += seconds
        return seconds

    def _begin(self, answer: Answer, rows: Logits, batch: Batch, items: list[Item]) -> None:
        answer.first_at = perf_counter()
        try:
            self._advance(answer, rows, batch)
        except Refused as refused:
            _fail(answer, refused, items)
            return
        self._counters.completion_tokens += answer.written
        items.extend(answer.items())

    def _continue(self, answer: Answer, rows: Logits, batch: Batch, items: list[Item]) -> None:
        before = answer.written
        answer.slot.append(answer.pending)
        try:
            self._advance(answer, rows, batch)
            self._follow(answer, rows)
        except Refused as refused:
            _fail(answer, refused, items)
            return
        self._counters.completion_tokens += answer.written - before
        items.extend(answer.items())

    def _advance(self, answer: Answer, rows: Logits, batch: Batch) -> None:
        if not answer.on_device:
            answer.advance(rows[answer.row], self._vocabulary)
            return
        assert self.device is not None
        place = batch.places[answer.row]
        token = self.device.token(place)
        if token in self._vocabulary.ends and answer.request.sampling.ignore_eos:
            answer.advance(self._context.row_at(place), self._vocabulary)
            return
        self._counters.chosen_on_device += 1
        answer.take(token, self._vocabulary)

    def _follow(self, answer: Answer, rows: Logits) -> None:
        """Chooses tokens for as long as the guess was right: those are evaluated already."""
        row = answer.row
        for guess in answer.draft:
            if answer.reason is not None or answer.pending != [guess]:
                return
            answer.slot.append(answer.pending)
            row += 1
            answer.advance(rows[row], self._vocabulary)

    def _settle_draft(self, answer: Answer, gained: int, guess_s: float, token_s: float) -> None:
        """A guess costs what the step took longer; a token is worth its share of a usual step."""
        answer.slot.cut(answer.slot.count, self._context)
        answer.payoff.note(gained, token_s + len(answer.draft) * guess_s, token_s)
        self._counters.drafted_tokens += len(answer.draft)
        self._counters.accepted_tokens += max(0, gained - 1)


def _fail(answer: Answer, refused: Refused, items: list[Item]) -> None:
    answer.reason = "error"
    items.append([answer.request.id, "error", refused.code, str(refused), refused.facts])
