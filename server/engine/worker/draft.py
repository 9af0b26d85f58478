"""Guessing ahead with a second, smaller model of the same vocabulary."""

from dataclasses import replace
from pathlib import Path

from server.engine.base import EngineOptions
from server.engine.worker.batch import Batch, Tokens
from server.engine.worker.context import Context
from server.engine.worker.model import Model
from server.engine.worker.plan import Plan
from server.engine.worker.prefix import common_prefix
from server.engine.worker.refusals import Refused
from server.engine.worker.slots import Slot, make_slots


class DraftModel:
    """Follows each slot of the main model with one of its own."""

    def __init__(self, path: Path, model: Model, plan: Plan) -> None:
        options: EngineOptions = replace(model.options, loras=(), draft_model=None)
        self._model = Model(path, options, lambda _done: None)
        if self._model.vocabulary.size != model.vocabulary.size:
            raise Refused(
                "model_load_failed", f"The draft model {path.name} has another vocabulary."
            )
        self._context = Context(self._model, plan)
        self._slots = make_slots(plan.slots, self._context.sequence_tokens)
        self._batch = Batch(plan.batch_tokens, plan.slots, self._context.sequence_tokens)

    def guess(self, sequence: int, tokens: Tokens, most: int) -> list[int]:
        """The likeliest continuation; shorter where the text would end."""
        slot = self._slots[sequence]
        if len(tokens) + most > self._context.sequence_tokens:
            return []
        slot.cut(min(common_prefix(slot.tokens, tokens), len(tokens) - 1), self._context)
        guessed: list[int] = []
        unread: Tokens | list[int] = tokens[slot.count :]
        while len(guessed) < most and self._read(slot, unread):
            token = int(self._context.rows()[0].argmax())
            if token in self._model.vocabulary.ends:
                break
            guessed.append(token)
            unread = [token]
        return guessed

    def _read(self, slot: Slot, tokens: Tokens | list[int]) -> bool:
        for begin in range(0, len(tokens), self._batch.capacity):
            part = tokens[begin : begin + self._batch.capacity]
            self._batch.clear()
            self._batch.add(part, slot.sequence, slot.count, 1)
            if self._context.decode(self._batch):
                slot.cut(0, self._context)
                return False
            slot.append(part)
        return True
