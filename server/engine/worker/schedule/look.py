"""A picture's way into a slot: encoded in one step, its rows then read in as many as it takes."""

from time import perf_counter

from server.engine.worker.decode.batch import RowBatch
from server.engine.worker.load.context import Context
from server.engine.worker.prompt.vision import Picture, Projector, View
from server.engine.worker.schedule.answer import Answer
from server.engine.worker.schedule.compose import first_size
from server.engine.worker.schedule.counters import Counters
from server.engine.worker.schedule.step import Failed, Step

NOT_ENCODED = -3


class Look:
    def __init__(
        self, projector: Projector | None, context: Context, step: Step, counters: Counters
    ) -> None:
        self.has_encoded = False
        """The last step was the long one, which cannot be parted."""
        self.is_encoding = False
        self._projector = projector
        self._context = context
        self._step = step
        self._counters = counters

    def take(self, answer: Answer, picture: Picture, most: int) -> None:
        """One step: encoding it, or reading as many rows as there is time for."""
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
            raise Failed(NOT_ENCODED)
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
