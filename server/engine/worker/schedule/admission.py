"""Chooses the slot for a request: if possible, one that already holds much of its prompt."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from time import perf_counter

from server.engine.worker.decode.batch import Tokens
from server.engine.worker.load.context import Context
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule.compose import LEAST_CHUNK
from server.engine.worker.schedule.pace import Copying
from server.engine.worker.schedule.prefix import (
    DiskCache,
    HostCache,
    Kept,
    Slot,
    Stored,
    common_prefix,
)

WORTH_RESTORING = 64
WORTH_SHARING = 16
WORTH_KEEPING = 128
WORTH_WAITING = 128
WORTH_STORING = 512
AHEAD_BYTES = 8 << 20
"""A larger state stays in its slot only, and is not saved to host memory ahead of time."""


@dataclass(slots=True)
class ReuseCounts:
    restored: int = 0
    kept: int = 0
    shared: int = 0
    stored: int = 0


class Admission:
    """Places requests in slots, and reuses states from other slots, host memory and disk."""

    def __init__(
        self,
        context: Context,
        slots: list[Slot],
        cache: HostCache,
        disk: DiskCache | None,
        copying: Copying,
    ) -> None:
        self.counts = ReuseCounts()
        self.cache = cache
        self.placing_s = 0.0
        """The seconds that placing took since the scheduler last reset it."""
        self._disk = disk
        self._context = context
        self._slots = slots
        self._copying = copying
        self._seen_until = 0.0
        if disk is not None:
            disk.load()

    @property
    def has_room(self) -> bool:
        return not all(slot.busy for slot in self._slots)

    def place(self, request: Request) -> Slot | None:
        """Returns a free slot, with as much of the prompt as was found; None if all are busy."""
        tokens, limit = request.tokens, _reusable(request)
        free = [slot for slot in self._slots if not slot.busy]
        if not free:
            return None
        holder, shared = self._best_holder(tokens, limit)
        key, kept = self.cache.best(tokens)
        stored, on_disk = self._disk.best(tokens) if self._disk is not None else (None, 0)
        found = min(max(kept, on_disk), limit)
        if found > shared + WORTH_RESTORING:
            slot = self._best_free(free)
            if stored is not None and on_disk > kept:
                shared = self._restore_stored(slot, stored, found)
            else:
                shared = self._restore(slot, self.cache.take(key), found)
        elif self._continues(holder, shared, len(free)):
            slot = holder
            if slot.count - shared > WORTH_KEEPING:
                self._keep(slot)
        else:
            slot, shared = self._begin(tokens, free, holder, shared)
        if slot.count > shared:
            slot.cut(shared, self._context)
        slot.busy = True
        return slot

    def should_wait(self, tokens: Tokens, being_read: Iterable[Tokens]) -> bool:
        """Whether another request is reading so much of this prompt that it pays to wait for it."""
        ahead = max((common_prefix(prompt, tokens) for prompt in being_read), default=0)
        if ahead < WORTH_WAITING:
            return False
        _, shared = self._best_holder(tokens, len(tokens) - LEAST_CHUNK)
        return ahead - shared >= WORTH_WAITING

    def keep_one(self) -> bool:
        """Saves an idle, short conversation to host memory; returns False if all were considered.

        A long one, or one that does not fit beside the others, is saved only if its slot is needed.
        """
        rests = [slot for slot in self._slots if not slot.busy and slot.used_at > self._seen_until]
        if not rests:
            return False
        slot = min(rests, key=lambda slot: slot.used_at)
        self._seen_until = slot.used_at
        spare = self.cache.capacity_bytes - self.cache.size_bytes
        if self._context.saved_bytes(slot.sequence) <= min(AHEAD_BYTES, spare):
            self._keep(slot)
        return True

    def store_one(self) -> bool:
        """Writes an idle conversation to disk, if enabled. Returns whether there may be another.

        The last used comes first. A conversation that does not fit beside later ones is left out.
        """
        if self._disk is None:
            return False
        idle = (slot for slot in self._slots if not slot.busy)
        slots = sorted(idle, key=lambda slot: slot.used_at)
        resting = [state for state in (*self.cache, *slots) if len(state.tokens) >= WORTH_STORING]
        held = [self._disk.holds(state.tokens) for state in resting]
        newer: list[Tokens] = []
        for state, is_held in zip(reversed(resting), reversed(held), strict=True):
            if not is_held and self._disk.has_room(state.tokens, self._state_bytes(state), newer):
                if isinstance(state, Slot):
                    state = Kept(state.tokens.copy(), self._context.save(state.sequence))
                is_stored = self._disk.store(state)
                self.counts.stored += is_stored
                return bool(is_stored)
            newer.append(state.tokens)
        return False

    def evict(self, slot: Slot) -> None:
        if slot.count:
            self._keep(slot)
            slot.cut(0, self._context)

    def evict_idle(self) -> bool:
        """Frees the idle slot that was used least recently. Returns False if there is none."""
        idle = [slot for slot in self._slots if not slot.busy and slot.count]
        if not idle:
            return False
        self.evict(min(idle, key=lambda slot: slot.used_at))
        return True

    def _state_bytes(self, holder: Kept | Slot) -> int:
        if isinstance(holder, Slot):
            return self._context.saved_bytes(holder.sequence)
        return holder.state.nbytes

    def _best_holder(self, tokens: Tokens, limit: int) -> tuple[Slot, int]:
        """Returns the slot that shares most; of equals a free one, then the cheapest to copy."""
        shares = {
            slot.sequence: min(common_prefix(slot.tokens, tokens), limit) for slot in self._slots
        }
        best = max(
            self._slots, key=lambda slot: (shares[slot.sequence], not slot.busy, -slot.count)
        )
        return best, shares[best.sequence]

    def _continues(self, holder: Slot, shared: int, free: int) -> bool:
        """Whether the request continues the slot's conversation, or no other slot is free."""
        return not holder.busy and shared > 0 and (2 * shared >= holder.count or free == 1)

    def _begin(
        self, tokens: Tokens, free: list[Slot], holder: Slot, shared: int
    ) -> tuple[Slot, int]:
        """Chooses a slot for a new conversation, and copies a common system prompt into it."""
        others = [slot for slot in free if not shared or slot is not holder] or free
        slot = self._best_free(others)
        own = min(common_prefix(slot.tokens, tokens), shared)
        if shared - own >= WORTH_SHARING and self._is_cheaper_to_copy(holder, shared - own):
            return slot, self._copy(holder, slot, shared)
        self._keep(slot)
        return slot, own

    def _best_free(self, slots: list[Slot]) -> Slot:
        """Returns a neighbour of busy slots: an empty one, else the one not used for longest.

        As each sequence has its own buffer, only neighbours are evaluated together, and an answer
        apart from the others costs time at every token. A neighbour that takes longer to save than
        that costs does not count. The first answer begins where most empty slots follow.
        """
        busy = {slot.sequence for slot in self._slots if slot.busy}
        empty = {slot.sequence for slot in slots if not slot.count}

        def rank(slot: Slot) -> tuple[int, bool, int, float]:
            beside = len(busy & {slot.sequence - 1, slot.sequence + 1})
            if beside and slot.count and self._is_long_to_save(slot):
                beside = 0
            room = next(n for n in count() if slot.sequence + n not in empty)
            return -beside, slot.count > 0, -room, slot.used_at

        return min(slots, key=rank)

    def _is_long_to_save(self, slot: Slot) -> bool:
        """Whether it costs others more to save the slot than to leave it, if it is saved at all."""
        is_saved = self.cache.capacity_bytes and self._is_worth_saving(slot)
        return bool(is_saved) and self._copying.is_long_to_save(slot.sequence)

    def _is_worth_saving(self, slot: Slot) -> bool:
        return self._copying.is_worth_saving(slot.sequence, slot.count)

    def _is_cheaper_to_copy(self, holder: Slot, gained: int) -> bool:
        is_waited_for = any(slot.busy for slot in self._slots)
        return self._copying.pays(holder.sequence, gained, is_waited_for=is_waited_for)

    def _keep(self, slot: Slot) -> None:
        """Saves a slot's state to host memory, unless it is short, too large, held elsewhere, or
        sooner read again."""
        if slot.count < WORTH_KEEPING or not self.cache.capacity_bytes:
            return
        if self.cache.holds(slot.tokens) or self._held_by_another(slot):
            return
        if self._context.saved_bytes(slot.sequence) > self.cache.capacity_bytes:
            return
        if not self._is_worth_saving(slot):
            self._copying.note_unsaved()
            return
        began = perf_counter()
        state = self._context.save(slot.sequence)
        self._copying.note_save(state.nbytes, perf_counter() - began)
        self.cache.put(Kept(slot.tokens.copy(), state))
        self.counts.kept += 1

    def _held_by_another(self, slot: Slot) -> bool:
        return any(
            common_prefix(other.tokens, slot.tokens) == slot.count
            for other in self._slots
            if other is not slot and other.count >= slot.count
        )

    def _restore_stored(self, slot: Slot, stored: Stored, shared: int) -> int:
        """Restores a state from disk. Deletes it if it cannot be used."""
        assert self._disk is not None
        kept = self._disk.read(stored)
        if kept is None:
            self.evict(slot)
            return 0
        restored = self._restore(slot, kept, shared)
        if not restored:
            self._disk.drop(stored)
        return restored

    def _restore(self, slot: Slot, kept: Kept, shared: int) -> int:
        self.evict(slot)
        if not self._context.restore(slot.sequence, kept.state):
            slot.cut(0, self._context)
            return 0
        slot.append(kept.tokens)
        self.counts.restored += 1
        return shared

    def _copy(self, holder: Slot, slot: Slot, shared: int) -> int:
        self.evict(slot)
        if not self._copying.copy(holder.sequence, slot.sequence):
            slot.cut(0, self._context)
            return 0
        slot.append(holder.tokens)
        # The copy may reach further, into a picture that the other answer is still reading.
        slot.cut(shared, self._context)
        self.counts.shared += 1
        return slot.count


def _reusable(request: Request) -> int:
    """Returns how much of a prompt may be reused. The rest is evaluated, for its logits.

    The rest is a whole chunk, not just a token; but a picture is not read again only for that.
    """
    limit = max(0, len(request.tokens) - LEAST_CHUNK)
    ends = (picture.end for picture in request.pictures if picture.start < limit < picture.end)
    return min(next(ends, limit), max(0, len(request.tokens) - 1))
