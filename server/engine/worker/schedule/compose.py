"""Composes a step: a token of every running answer, or a chunk of waiting prompts.

The two are never mixed, because a cache with a buffer per sequence evaluates them one after the
other anyway. It also evaluates together only what is in the order of the sequences. Prompts are
evaluated in chunks of at least `LEAST_CHUNK` tokens, and guesses in fewer: below that, llama.cpp
multiplies with other kernels, whose last bits differ, and the same question would get another
answer depending on what was cached or who else was asking. Prompts are read in smaller chunks only
if `LEAST_CHUNK` tokens would already make the gap between a running answer's tokens too long.
"""

from dataclasses import dataclass
from itertools import takewhile
from time import perf_counter

from server.engine.worker.decode.batch import Batch
from server.engine.worker.schedule.answer import Answer
from server.engine.worker.schedule.draft import (
    SHORTEST_MATCH,
    TRIAL_MATCH,
    DraftModel,
    Purse,
    lookup,
)
from server.engine.worker.schedule.pace import EFFICIENT_TOKENS, StepPace

LEAST_CHUNK = 8
MOST_DRAFTED = LEAST_CHUNK - 2
TRIAL_DRAFTED = 2
"""Enough to see whether guesses are right. Six cost a lot if each takes as long as a token."""
SHORTEST_CATCH_UP_S = 0.015
ALONE_CATCH_UP_S = 0.1
"""How long the draft model may read at least; longer for a lone answer, as no other waits."""


class DecodeBatch:
    """The batch of a decode step: a token of every running answer, and its guesses."""

    def __init__(
        self,
        batch: Batch,
        draft_model: DraftModel | None,
        pace: StepPace,
        purse: Purse,
        *,
        speculate: bool,
    ) -> None:
        self.batch = batch
        self.takes_long = draft_model is not None
        """Whether to fill the batch may take as long as a step, because another model guesses."""
        self._draft_model = draft_model
        self._pace = pace
        self._purse = purse
        self._speculate = speculate
        self._steady: list[Answer] | None = None

    def fill(self, running: list[Answer], *, guess: bool) -> float:
        """Fills the batch. Returns the seconds of guessing, without the draft model's reading.

        Reading is not a part of a guess's cost: otherwise, a long prompt would end all guessing.
        """
        model = self._draft_model
        if model is not None:
            model.begin_step(self._catch_up_s(running))
        began = perf_counter()
        for answer in running:
            answer.draft = []
        drafted = guess and self._speculate and self._draft(running)
        guessing_s = perf_counter() - began - (model.caught_up_s if model is not None else 0.0)
        single = not drafted and all(len(answer.pending) == 1 for answer in running)
        if single and self._steady == running:
            self.batch.advance([answer.pending[0] for answer in running])
            return guessing_s
        self.batch.clear()
        share = self._share(running)
        for answer in running:
            self._add(answer, share)
        self._steady = list(running) if single else None
        return guessing_s

    def advance(self, tokens: list[int]) -> None:
        """Fills the batch with the tokens that follow those of the last one, which had no other."""
        self._earn(len(tokens))
        self.batch.advance(tokens)

    def unsettle(self) -> None:
        """Discards the last batch, because the set of answers changed or a step failed."""
        self._steady = None

    def _share(self, running: list[Answer]) -> int:
        """Returns how many tokens each may have, as a grammar may force more than a batch holds."""
        capacity = self.batch.capacity
        whole = sum(len(answer.pending) for answer in running)
        return capacity if whole <= capacity else capacity // len(running)

    def _add(self, answer: Answer, share: int) -> None:
        answer.chunk = min(len(answer.pending), share)
        slot = answer.slot
        if answer.is_parted:
            self.batch.add(answer.pending[: answer.chunk], slot.sequence, slot.count, 0)
            return
        run = answer.pending + answer.draft
        answer.row = self.batch.add(run, slot.sequence, slot.count, len(answer.draft) + 1)

    def _draft(self, running: list[Answer]) -> bool:
        """Guesses for answers where it pays, and one as a trial. Returns whether it found any."""
        self._earn(len(running))
        if not self._may_pay(running):
            return False
        willing = [answer for answer in running if answer.payoff.wants_draft()]
        spare = self._spare(running) if willing else 0
        found = tries = False
        for answer in willing:
            has_paid = answer.payoff.has_paid
            is_free = answer.request.constrained is None and not answer.on_device
            if is_free and (has_paid or not tries):
                most = MOST_DRAFTED if has_paid else TRIAL_DRAFTED
                answer.draft = self._guess(answer, min(spare, most, answer.room - 1))
                spare -= len(answer.draft)
                if answer.draft:
                    found, tries = True, tries or not has_paid
        return found

    def _earn(self, answers: int) -> None:
        self._purse.earn(self._pace.decode_s(answers) / answers)

    def _catch_up_s(self, running: list[Answer]) -> float:
        """Returns about the time of a step, so that running answers are at worst half as fast."""
        least_s = ALONE_CATCH_UP_S if len(running) == 1 else SHORTEST_CATCH_UP_S
        return max(least_s, self._pace.decode_s(len(running)))

    def _may_pay(self, running: list[Answer]) -> bool:
        """Whether guessing pays, by the measured steps. Now and then it is tried anyway."""
        if self._purse.is_full or self._draft_model is not None:
            return True
        count = sum(len(answer.pending) for answer in running)
        return self._pace.pays(count, len(running), MOST_DRAFTED)

    def _spare(self, running: list[Answer]) -> int:
        """Returns how many guesses keep the step near its usual time, as all may be wrong."""
        count = sum(len(answer.pending) for answer in running)
        most = min(self.batch.capacity - count, MOST_DRAFTED * len(running))
        return self._pace.spare_tokens(count, most)

    def _guess(self, answer: Answer, most: int) -> list[int]:
        """Guesses from the text itself, else with the draft model if there is one."""
        if most <= 0 or len(answer.pending) != 1:
            return []
        slot = answer.slot
        slot.buffer[slot.count] = answer.pending[0]
        tokens = slot.buffer[: slot.count + 1]
        shortest = SHORTEST_MATCH if answer.payoff.has_paid else TRIAL_MATCH
        found = [*takewhile(lambda token: token >= 0, lookup(tokens, most, shortest))]
        blind = bool(answer.request.pictures)
        if not found and self._draft_model is not None and not blind:
            return self._draft_model.guess(slot.sequence, tokens, most)
        return found


@dataclass(frozen=True, slots=True)
class PromptCut:
    """How prompts are cut: parts end at a multiple of `block`; `enough` tokens make a batch.

    Parts of several prompts are evaluated in equal lengths and the remainder by itself, so on a
    processor their lengths must not differ by less than a chunk (`apart`).
    """

    block: int
    enough: int = EFFICIENT_TOKENS
    apart: int = LEAST_CHUNK

    def together(self, reading: list[Answer]) -> list[Answer]:
        """Returns only the first prompt if it is partly read and a larger batch does not pay."""
        is_rest = reading[0].chunk > 0 and self.enough <= EFFICIENT_TOKENS
        return reading[:1] if is_rest else reading


def fill_chunk(batch: Batch, reading: list[Answer], most: int, cut: PromptCut) -> list[Answer]:
    """Fills the batch with the next parts of prompts, in this order. Returns their answers.

    A batch that is large enough to be efficient takes no further prompt: the first ones are then
    answered sooner, and the last ones no later.
    """
    batch.clear()
    count = 0
    taken: list[Answer] = []
    for answer in cut.together(reading):
        if count >= min(cut.enough, most):
            break
        left = answer.text_left
        room = min(most - count, to_border(answer.slot.count, cut.block))
        size = part_size(left, room, LEAST_CHUNK) if taken else first_size(left, room)
        if not size or any(0 < abs(other.chunk - size) < cut.apart for other in taken):
            continue
        answer.chunk = size
        count += size
        taken.append(answer)
    for answer in sorted(taken, key=in_sequence):
        outputs = 1 if answer.chunk == len(answer.todo) else 0
        slot = answer.slot
        answer.row = batch.add(answer.todo[: answer.chunk], slot.sequence, slot.count, outputs)
    return taken


def in_sequence(answer: Answer) -> int:
    return answer.slot.sequence


def to_border(place: int, block: int) -> int:
    """Returns how long a part may be to end with its block, so that attention, which covers whole
    blocks, covers no empty places. A border too near for a chunk is passed."""
    left = block - place % block
    return left if left >= LEAST_CHUNK else left + block


def first_size(left: int, room: int) -> int:
    """Returns the size of the first part, never 0. A rest too short to divide is read whole.

    If there is no room for a chunk, a short gap is more important: any size will do.
    """
    if room < LEAST_CHUNK:
        return part_size(left, room, 1)
    return part_size(left, room, LEAST_CHUNK) or min(left, 2 * LEAST_CHUNK - 1)


def part_size(left: int, room: int, least: int) -> int:
    """Returns as much as fits; 0 if this part or the rest would be shorter than `least`."""
    if left <= room:
        return left
    size = min(room, left - least)
    return size if size >= least else 0
