"""Guesses tokens ahead: from the text itself, or with a smaller model of the same vocabulary.

A guess from the text is what followed when its last tokens occurred before.
"""

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from server.engine.base import EngineOptions
from server.engine.causes import JobRefused
from server.engine.worker.decode.batch import Batch, Tokens
from server.engine.worker.load.context import CACHE_FULL, Context
from server.engine.worker.load.model import Model
from server.engine.worker.load.plan import Plan, ThreadCount
from server.engine.worker.schedule.pace import StepPace
from server.engine.worker.schedule.prefix import Slot, common_prefix, make_slots
from server.sentences import Sentence

NEAR = 8
"""Up to this many unread tokens are read with a guess, as part of its cost."""
LEAST_READ = 16
"""The fewest tokens to read in a step: a text grows meanwhile, but its end must be reached."""


class DraftModel:
    """A second model that follows each slot of the main model with a slot of its own.

    A long text is read in chunks between the steps, so that running answers do not wait for it.
    """

    def __init__(self, path: Path, model: Model, plan: Plan) -> None:
        options: EngineOptions = replace(model.options, loras=(), draft_model=None)
        self._model = Model(path, options, lambda _done: None)
        if self._model.vocabulary.size != model.vocabulary.size:
            raise JobRefused(
                "model_load_failed",
                Sentence("The draft model {0} has another vocabulary.", path.name),
            )
        self._context = Context(self._model, plan)
        self._slots = make_slots(plan.slots, self._context.sequence_tokens)
        self._batch = Batch(plan.batch_tokens, plan.slots, self._context.sequence_tokens)
        self._threads = ThreadCount(plan.threads, self._context.use_threads)
        self._pace = StepPace()
        self._spare_s = 0.0
        self._given_up = False
        self.caught_up_s = 0.0
        """The seconds that reading took in this step, without guessing."""

    def begin_step(self, spare_s: float) -> None:
        """Begins a step, in which reading may take `spare_s` seconds."""
        self._spare_s = spare_s
        self.caught_up_s = 0.0
        self._threads.look(perf_counter())

    def guess(self, sequence: int, tokens: Tokens, most: int) -> list[int]:
        """Returns the likeliest continuation, up to the text's end; empty while it still reads."""
        slot = self._slots[sequence]
        if self._given_up or len(tokens) + most > self._context.sequence_tokens:
            return []
        self._go_back(slot, tokens)
        if len(tokens) - slot.count > NEAR:
            self._catch_up(slot, tokens)
            return []
        guessed: list[int] = []
        unread: Tokens | list[int] = tokens[slot.count :]
        while len(guessed) < most and self._read(slot, unread):
            token = int(self._context.rows()[0].argmax())
            if token in self._model.vocabulary.ends:
                break
            guessed.append(token)
            unread = [token]
        return guessed

    def _go_back(self, slot: Slot, tokens: Tokens) -> None:
        """Cuts the slot to the common beginning. The last token is read again, for its logits."""
        shared = min(common_prefix(slot.tokens, tokens), len(tokens) - 1)
        slot.cut(shared, self._context)
        if slot.count < shared:
            self._give_up("cannot go back in a text")

    def _catch_up(self, slot: Slot, tokens: Tokens) -> None:
        """Reads a chunk, unless another slot has already read one in this step."""
        if self.caught_up_s:
            return
        began = perf_counter()
        part = tokens[slot.count : min(slot.count + self._chunk_tokens(), len(tokens) - 1)]
        if self._read(slot, part):
            self._pace.note_read(len(part), perf_counter() - began)
        self.caught_up_s = perf_counter() - began

    def _chunk_tokens(self) -> int:
        if not self._pace.reading_s(1):
            return LEAST_READ
        return max(LEAST_READ, self._pace.chunk_tokens(self._spare_s, self._batch.capacity))

    def _read(self, slot: Slot, tokens: Tokens | list[int]) -> bool:
        """Evaluates tokens, at most a batch. Returns False if that failed."""
        self._batch.clear()
        self._batch.add(tokens, slot.sequence, slot.count, 1)
        code = self._context.decode(self._batch)
        if not code:
            slot.append(tokens)
            return True
        for other in self._slots:
            other.cut(0, self._context)
        if code != CACHE_FULL:
            self._give_up(f"failed with code {code}")
        return False

    def _give_up(self, why: str) -> None:
        self._given_up = True
        sys.stderr.write(f"warning: the draft model {why}: it guesses no more\n")


LONGEST_MATCH = 16
SHORTEST_MATCH = 3
TRIAL_MATCH = 6
"""The shortest match as long as nothing shows that the text repeats itself."""
FIRST_PAUSE = 32
LONGEST_PAUSE = 512
TRIAL_SHARE = 0.02
FIRST_STAKE_S = 0.05
LARGEST_STAKE_S = 0.1
LARGEST_DEBT_S = 0.5
"""In seconds. A single guess that was delayed must not end guessing for minutes."""


def lookup(tokens: Tokens, most: int, shortest: int = SHORTEST_MATCH) -> list[int]:
    """Returns what followed the longest earlier match of the text's end; more for a longer one."""
    size = len(tokens)
    if size <= shortest:
        return []
    places = np.flatnonzero(tokens[: size - 1] == tokens[size - 1])
    matched = 1
    while len(places) and matched < LONGEST_MATCH:
        further = places[places >= matched]
        further = further[tokens[further - matched] == tokens[size - 1 - matched]]
        if not len(further):
            break
        places = further
        matched += 1
    if matched < shortest or not len(places):
        return []
    begin = int(places[-1]) + 1
    drafted: list[int] = tokens[begin : begin + min(most, 2 * matched - 3)].tolist()
    return drafted


class Purse:
    """The time that all answers together may lose by trial guesses: a small share of the whole."""

    def __init__(self) -> None:
        self._left_s = FIRST_STAKE_S

    @property
    def has_some(self) -> bool:
        return self._left_s > 0

    @property
    def is_full(self) -> bool:
        return self._left_s >= LARGEST_STAKE_S

    def earn(self, token_s: float) -> None:
        """Adds a small share of the time that a usual step takes for each answer."""
        self._add(TRIAL_SHARE * token_s)

    def settle(self, won_s: float) -> None:
        self._add(won_s)

    def _add(self, seconds: float) -> None:
        self._left_s = max(-LARGEST_DEBT_S, min(LARGEST_STAKE_S, self._left_s + seconds))


class Payoff:
    """Decides whether an answer makes guesses. If they do not pay, it pauses, longer each time."""

    def __init__(self, purse: Purse) -> None:
        self._purse = purse
        self._gain = 1.0
        self._pause = FIRST_PAUSE
        self._wait = 0

    @property
    def has_paid(self) -> bool:
        """Whether the last guesses were worth their time. Otherwise, a guess is a trial."""
        return self._gain > 1.0

    def wants_draft(self) -> bool:
        if self._wait > 0:
            self._wait -= 1
            return False
        return self.has_paid or self._purse.has_some

    def note(self, gained: int, seconds: float, usual_s: float) -> None:
        """Notes a guess: the tokens gained, their seconds, and the usual seconds of a token."""
        if usual_s <= 0:
            return
        self._purse.settle(gained * usual_s - seconds)
        worth = gained * usual_s / seconds
        self._gain = 0.7 * self._gain + 0.3 * worth
        if self._gain < 1.0:
            self._wait = self._pause
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
            self._gain = 1.0
        elif self._gain > 1.3:
            self._pause = FIRST_PAUSE
