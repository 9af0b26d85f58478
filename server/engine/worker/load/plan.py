"""Settles what the options leave open: context size, attention, number of threads.

With one thread per core, a single core that another program uses delays every barrier of a step,
and fewer threads are faster. So the processor time of other programs is watched, and one thread is
left out for each core that they keep busy.
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Literal

import psutil

from server.engine.base import EngineOptions, KvType
from server.engine.worker.load.model import Model
from server.engine.worker.load.native import lib

KV_BYTES: dict[KvType, float] = {"f16": 2.0, "q8_0": 34 / 32, "q4_0": 18 / 32}
KV_MEMORY_SHARE = 0.25
KV_MEMORY_MOST = 4 << 30
SMALLEST_CONTEXT = 2048
ATTENTION_BLOCK = 256
"""llama.cpp's attention covers a multiple of this many places, whether filled or not."""
CARD_BATCH_TOKENS = 2048
"""The smallest batch for a graphics card. It is computed in parts of the chosen batch size."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The settled figures. `context_tokens` is the limit of one conversation.

    A step has at most `batch_tokens`, computed `part_tokens` at a time. Parts of a prompt end at a
    multiple of `read_block`.
    """

    context_tokens: int
    slots: int
    batch_tokens: int
    part_tokens: int
    on_card: bool
    chooses_on_device: Literal["", "always", "where it pays"]
    read_block: int
    threads: int
    flash_attention: int
    kv_type: int


def make_plan(model: Model, options: EngineOptions) -> Plan:
    slots = max(1, options.slots)
    # Flash attention is slow in long contexts on a processor.
    automatic = -1 if options.gpu_layers else 0
    quantised = options.kv_type != "f16"
    wanted = options.flash_attention
    flash = int(wanted) if wanted is not None else (1 if quantised else automatic)
    part_tokens = max(options.batch_tokens, slots, 32)
    batch_tokens = max(part_tokens, CARD_BATCH_TOKENS) if model.uses_gpu else part_tokens
    return Plan(
        context_tokens=options.context_tokens or _context_tokens(model, options.kv_type, slots),
        slots=slots,
        batch_tokens=batch_tokens,
        part_tokens=part_tokens,
        on_card=model.uses_gpu,
        chooses_on_device=_chooses(options.device_sampling, on_card=model.uses_gpu),
        # On a graphics card, empty places cost less than a smaller part.
        read_block=batch_tokens if model.uses_gpu else ATTENTION_BLOCK,
        threads=options.threads or usable_cores(),
        flash_attention=flash,
        kv_type={"f16": lib.GGML_TYPE_F16, "q8_0": lib.GGML_TYPE_Q8_0, "q4_0": lib.GGML_TYPE_Q4_0}[
            options.kv_type
        ],
    )


def _chooses(wanted: bool | None, *, on_card: bool) -> Literal["", "always", "where it pays"]:
    if wanted is None:
        return "where it pays" if on_card else ""
    return "always" if wanted else ""


def usable_cores() -> int:
    """Returns the number of physical cores, or fewer if this process may not use all."""
    physical = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(physical, len(os.sched_getaffinity(0))))
    return physical


def _context_tokens(model: Model, kv_type: KvType, slots: int) -> int:
    """Returns the trained context size, or less to keep the cache a fair part of memory."""
    room = min(KV_MEMORY_MOST, psutil.virtual_memory().available * KV_MEMORY_SHARE)
    each = model.kv_token_bytes(KV_BYTES[kv_type]) * slots
    fitting = int(room / each) // 256 * 256
    return min(model.trained_tokens, max(SMALLEST_CONTEXT, fitting))


LOOK_EVERY_S = 0.5
ROUNDING = 0.6
"""The share of a core that other programs must use before a thread is left out."""


class ThreadCount:
    """Adapts the number of threads to the cores that other programs use."""

    def __init__(
        self,
        most: int,
        apply: Callable[[int], None],
        others_s: Callable[[], float] | None = None,
    ) -> None:
        self.current = most
        self._most = most
        self._apply = apply
        self._others_s = others_s or used_by_others_s
        self._seen_at = -math.inf
        self._seen_s = 0.0

    def forget(self) -> None:
        """Discards the last measurement, after a time in which there was nothing to compute."""
        self._seen_at = -math.inf

    def look(self, now: float) -> None:
        """Adapts the number of threads, at most every LOOK_EVERY_S. Called between steps."""
        passed_s = now - self._seen_at
        if self._most < 2 or passed_s < LOOK_EVERY_S:
            return
        used_s = self._others_s()
        busy_cores = (used_s - self._seen_s) / passed_s
        self._seen_at, self._seen_s = now, used_s
        count = max(1, self._most - int(busy_cores + 1 - ROUNDING))
        if count != self.current:
            self.current = count
            self._apply(count)


def used_by_others_s() -> float:
    """Returns the processor seconds of all other processes since the machine started."""
    times = psutil.cpu_times()
    return float(times.user + times.system + getattr(times, "nice", 0.0)) - process_time()
