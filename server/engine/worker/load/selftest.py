"""Tests whether a backend of the engine runs on this machine and computes correctly.

Each is tried once per machine and build, in a child process with the starter model.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import monotonic

from server.engine.causes import CRASHES
from server.engine.worker.load import backends, sanity
from server.engine.worker.load.backends import CHOSEN_BY_HAND, TRIED_CARD, Variant
from server.engine.worker.load.native import lib
from server.system import hardware, paths, processes
from server.system.backends import NO_CARD, START, TRY_AGAIN, driver_mark
from server.system.files import JsonFile

FLAG = "--try"
COMPUTING_S = 30.0
"""A trial is too slow after this many seconds, both by the clock and in processor time.

On a busy machine, the clock alone tells nothing. Nor does the processor time alone, because a
driver may compute on all cores at once.
"""
STUCK_S, USED_SHARE = 30.0, 0.002
"""A trial hangs if in so many seconds it uses less than this share of one core. One that computes
got a hundredth of a core on a machine with twenty programs at work for each core."""
LATE_S = 120.0
"""How many seconds all trials of one load may take by the clock, even on a busy machine."""
CARD_COMPUTING_S, CARD_LATE_S = 150.0, 240.0
"""Both limits for a card. Its driver compiles the engine's programs on the processor when they run
for the first time, and a slow driver takes two minutes for that."""
LOOK_S = 0.1
NO_CARD_CODE = 4
"""The exit code of a trial that found no graphics card."""
ALL_LAYERS = 999


class Unsettled(Exception):
    """The trial was ended from outside, perhaps for lack of memory: its result is not kept."""


class TrialTooLate(Exception):
    """The trial took too long. A busy machine may be the reason, so it is repeated later."""


class TrialHung(Exception):
    """The trial hung or computed for too long: it would on an idle machine, too."""


@dataclass(slots=True)
class Limits:
    computing_s: float
    """The seconds that one trial may take, both by the clock and in processor time."""
    left_s: float
    """The seconds by the clock that are left to all trials of this load."""


class BackendTrials:
    """Tries backends and remembers the verdicts. A call returns why not to use a variant, or None.

    `tell` is called repeatedly while a trial runs.
    """

    def __init__(
        self, kept: Path, model: Path | None, tell: Callable[[], None] = lambda: None
    ) -> None:
        self._kept = JsonFile(kept, "The trials of the engine")
        self._model = model
        self._tell = tell
        self._processor = Limits(COMPUTING_S, LATE_S)
        self._card = Limits(CARD_COMPUTING_S, CARD_LATE_S)

    def __call__(self, variant: Variant) -> str | None:
        if self._model is None or os.environ.get(CHOSEN_BY_HAND) == variant.name:
            return None
        try:
            chosen = {CHOSEN_BY_HAND: variant.name}
            return self._verdict(_key(variant), chosen, self._processor)
        except (TrialTooLate, TrialHung):  # Slow is not wrong.
            return None

    def card(self, kind: str, library: Path) -> str | None:
        """Returns why not to use a card, or None. A late one is tried at the next start."""
        if self._model is None or os.environ.get(TRIED_CARD) == kind:
            return None
        key = _card_key(kind, library)
        try:
            return self._verdict(key, {TRIED_CARD: kind}, self._card)
        except TrialHung as hung:
            self._kept.write({**self._kept.read(), key: str(hung)})
            return str(hung)
        except TrialTooLate as late:
            reason = f"{late}; it is tried again when Moat starts next"
            start = os.environ.get(START, "")
            self._kept.write({**self._kept.read(), key: [reason, start]})
            return reason

    def forget_cards(self) -> None:
        """Forgets the verdicts on graphics cards, so that the next load tries them again."""
        known = self._kept.read()
        self._kept.write(
            {key: verdict for key, verdict in known.items() if not key.startswith(CARD)}
        )

    def _verdict(self, key: str, chosen: dict[str, str], limits: Limits) -> str | None:
        known = self._kept.read()
        verdict = _still_holds(known.get(key))
        if verdict is None:
            assert self._model is not None
            began = monotonic()
            try:
                verdict = _try_out(chosen, self._model, limits, self._tell)
            except Unsettled as unsettled:
                return str(unsettled)
            finally:
                limits.left_s = max(0.0, limits.left_s - (monotonic() - began))
            self._kept.write({**known, key: verdict})
        return verdict or None


def _still_holds(kept: object) -> str | None:
    """Returns a stored verdict; None if it does not hold any more.

    A text holds for good. A pair holds for one start of the server, whose mark it contains, and for
    processes outside of any server: `moat doctor` shows what the server found.
    """
    if not isinstance(kept, list):
        return None if kept is None else str(kept)
    reason, start = kept
    return str(reason) if os.environ.get(START) in (None, start) else None


def usual(tell: Callable[[], None] = lambda: None) -> BackendTrials:
    trials = BackendTrials(paths.find().cache / "engine-trials.json", _starter(), tell)
    if os.environ.get(TRY_AGAIN):
        trials.forget_cards()
    return trials


def _starter() -> Path | None:
    """Returns the starter model of a packaged program; None in a clone, where set-up tried it."""
    if not getattr(sys, "frozen", False):
        return None
    models = Path(sys.executable).parent / "resources" / "models"
    return next(iter(sorted(models.glob("*.gguf"))), None)


def _key(variant: Variant) -> str:
    """Returns the key of a verdict, which changes with the processor, the engine or the library."""
    cpu = hardware.read()
    size = str(variant.path.stat().st_size)
    parts = (metadata.version("llama-cpp-python"), size, cpu.model, *cpu.features)
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return f"{variant.name} {digest}"


CARD = "card "


def _card_key(kind: str, library: Path) -> str:
    """Returns the key of a verdict, which changes with card, driver, engine or library."""
    size = str(library.stat().st_size)
    parts = (metadata.version("llama-cpp-python"), size, driver_mark())
    return f"{CARD}{kind} {hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]}"


def _try_out(chosen: dict[str, str], model: Path, limits: Limits, tell: Callable[[], None]) -> str:
    """Runs a trial. Returns why not to use the backend; empty if it works."""
    child = subprocess.Popen(
        processes.command("worker", FLAG, str(model)),
        env={**processes.environment("worker"), **chosen},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        code = _wait(child, limits, tell)
    finally:
        child.kill()
        child.wait()
    if code == 0:
        return ""
    if code == sanity.WRONG_ANSWER:
        return "it computes wrong results"
    if code == NO_CARD_CODE:
        return NO_CARD
    if code in CRASHES:
        return f"it ended with code {code}"
    raise Unsettled(f"its trial ended early (code {code}); it is tried again next time")


def _wait(child: subprocess.Popen[bytes], limits: Limits, tell: Callable[[], None]) -> int:
    """Returns the exit code. Raises TrialHung or TrialTooLate if the trial does not end."""
    began, used_s, idle_looks = monotonic(), 0.0, 0
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(LOOK_S)
        tell()
        took_s, computed_s = monotonic() - began, processes.processor_s(child.pid)
        # Not by the clock: while a person has suspended Moat, it goes on.
        idle_looks += 1
        if computed_s - used_s >= USED_SHARE * STUCK_S:
            used_s, idle_looks = computed_s, 0
        if idle_looks * LOOK_S >= STUCK_S:
            raise TrialHung(f"it hung: it did nothing for {STUCK_S:g} seconds")
        if min(took_s, computed_s) >= limits.computing_s:
            reason = f"it had no right word after {limits.computing_s:g} seconds of computing"
            raise TrialHung(reason)
        if took_s >= limits.left_s:
            raise TrialTooLate(f"it had no right word after {limits.left_s:.0f} seconds")


def main(model: str) -> int:
    """Runs a trial, in the child. Returns its exit code."""
    tried = os.environ.get(TRIED_CARD)
    # To try the processor, no card is loaded: a crash of its driver would spoil the trial.
    backends.load(refused_card=lambda _kind, _library: None if tried else "the processor is tried")
    if not tried:
        return sanity.exit_code(model)
    if not lib.llama_supports_gpu_offload():
        return NO_CARD_CODE
    return sanity.exit_code(model, ALL_LAYERS)
