"""What rests is written to disk once: the last used first, and nothing makes way for an older."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from server.engine.worker.prompt.prepare import Request
from server.engine.worker.schedule import scheduler
from server.engine.worker.schedule.admission import WORTH_STORING, Admission
from server.engine.worker.schedule.pace import Copying, StepPace
from server.engine.worker.schedule.prefix import HEADER, DiskCache, HostCache, Kept, make_slots

STATE_BYTES = 100
FILE_BYTES = HEADER.size + 4 * WORTH_STORING + STATE_BYTES


class Memory:
    """As much of a context as storing needs; it counts how often it is asked for a state."""

    def __init__(self, state_bytes: int = STATE_BYTES) -> None:
        self._state_bytes = state_bytes
        self.saved = 0

    def saved_bytes(self, _sequence: int) -> int:
        return self._state_bytes

    def save(self, _sequence: int) -> NDArray[np.uint8]:
        self.saved += 1
        return np.zeros(self._state_bytes, np.uint8)

    def restore(self, _sequence: int, _state: NDArray[np.uint8]) -> bool:
        return True

    def cut(self, _sequence: int, _count: int) -> bool:
        return True


def conversation(token: int, state_bytes: int = STATE_BYTES) -> Kept:
    tokens = np.full(WORTH_STORING, token, np.int32)
    return Kept(tokens, np.zeros(state_bytes, np.uint8))


def resting(
    disk: DiskCache, *kept: Kept, slots: int = 0, memory: Memory | None = None
) -> Admission:
    """The kept ones from the least to the last used, then slots with 100, 101 …"""
    cache = HostCache(1 << 20)
    for one in kept:
        cache.put(one)
    context: Any = memory or Memory()
    places = make_slots(slots, WORTH_STORING)
    for slot in places:
        slot.append(np.full(WORTH_STORING, 100 + slot.sequence, np.int32))
        slot.used_at = 10.0 - slot.sequence
    return Admission(context, places, cache, disk, Copying(context, StepPace()))


def stored(disk: DiskCache, *tokens: int) -> list[bool]:
    return [disk.holds(np.full(WORTH_STORING, token, np.int32)) for token in tokens]


def test_more_than_the_disk_holds_is_not_written_in_turns(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2 * FILE_BYTES)
    admission = resting(disk, *map(conversation, (1, 2, 3)))
    for _ in range(10):
        admission.store_one()
    assert admission.counts.stored == 2
    assert stored(disk, 1, 2, 3) == [False, True, True]


def test_of_slots_too_the_last_used_come_first(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2 * FILE_BYTES)
    admission = resting(disk, conversation(1), slots=3)
    for _ in range(10):
        admission.store_one()
    assert stored(disk, 1, 100, 101, 102) == [False, True, True, False]


def test_a_new_conversation_takes_the_room_of_the_oldest(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2 * FILE_BYTES)
    admission = resting(disk, *map(conversation, (1, 2)))
    for _ in range(10):
        admission.store_one()
    admission.cache.put(conversation(3))
    for _ in range(10):
        admission.store_one()
    assert admission.counts.stored == 3
    assert stored(disk, 1, 2, 3) == [False, True, True]


def test_one_too_large_for_the_disk_holds_up_no_other(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 2 * FILE_BYTES)
    large = conversation(2, 3 * FILE_BYTES)
    admission = resting(disk, conversation(1), large, conversation(3))
    for _ in range(10):
        admission.store_one()
    assert stored(disk, 1, 2, 3) == [True, False, True]


def test_a_conversation_without_room_is_not_saved_again_and_again(tmp_path: Path) -> None:
    memory = Memory(3 * FILE_BYTES)
    admission = resting(DiskCache(tmp_path, FILE_BYTES), slots=1, memory=memory)
    for _ in range(10):
        admission.store_one()
    assert memory.saved == 0


def test_after_a_failed_write_nothing_is_tried_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_anything: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("server.engine.worker.schedule.prefix._write", full)
    memory = Memory()
    admission = resting(DiskCache(tmp_path, 10 * FILE_BYTES), slots=3, memory=memory)
    for _ in range(10):
        admission.store_one()
    assert memory.saved == 1


def test_what_the_disk_holds_is_found_whatever_memory_has_room_for(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 10 * FILE_BYTES)
    for token in (1, 2, 3):
        disk.store(conversation(token))
    small: Any = HostCache(STATE_BYTES)
    context: Any = Memory()
    places, again = make_slots(2, 2 * WORTH_STORING), DiskCache(tmp_path, 10 * FILE_BYTES)
    admission = Admission(context, places, small, again, Copying(context, StepPace()))
    for token in (1, 1, 2):
        slot = admission.place(Request(1, np.full(WORTH_STORING + 100, token, np.int32)))
        assert slot
        assert slot.count == WORTH_STORING
        slot.cut(0, context)
        slot.busy = False
    assert admission.counts.restored == 3


def test_a_damaged_conversation_is_read_anew_and_not_tried_again(tmp_path: Path) -> None:
    disk = DiskCache(tmp_path, 10 * FILE_BYTES)
    disk.store(conversation(1))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"\xff")
    admission = resting(DiskCache(tmp_path, 10 * FILE_BYTES), slots=1)
    slot = admission.place(Request(1, np.full(WORTH_STORING + 100, 1, np.int32)))
    assert slot
    assert slot.count == 0
    assert list(tmp_path.iterdir()) == []


def test_a_lora_that_changed_has_other_conversations(tmp_path: Path) -> None:
    lora, model, folder = (tmp_path / name for name in ("lora.gguf", "model.gguf", "kept"))
    model.touch()
    options = SimpleNamespace(loras=(lora,), prompt_folder=folder, prompt_disk_mb=1)
    loaded: Any = SimpleNamespace(options=options, path=model)
    plan: Any = SimpleNamespace(kv_type="f16")
    for content in (b"one", b"one more"):
        lora.write_bytes(content)
        assert scheduler._disk_cache(loaded, plan)
    assert len(list(folder.iterdir())) == 2
