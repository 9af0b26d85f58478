"""Does a variant of the processor's backend live here, and does it compute the right thing?

Asked once per machine and build, in a child process with the starter model.
"""

import hashlib
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from time import monotonic

from server.engine.causes import CRASHES
from server.engine.worker.load import backends, sanity
from server.engine.worker.load.backends import CHOSEN_BY_HAND, TRIED_CARD, Variant
from server.engine.worker.load.native import lib
from server.system import hardware, paths, processes
from server.system.backends import NO_CARD, TRY_AGAIN, driver_mark
from server.system.files import JsonFile

FLAG = "--try"
PATIENCE_S = 30.0
"""For all trials of one load, which counts as hung when it is silent for much longer."""
NO_CARD_CODE = 4
"""What a trial ends with that found none."""
ALL_LAYERS = 999


class Unsettled(Exception):
    """The trial was ended from outside, perhaps for want of memory: that says nothing for good."""


class Trials:
    """Called with a variant: why it is not to be used here, or None."""

    def __init__(self, kept: Path, model: Path | None) -> None:
        self._kept = JsonFile(kept, "The trials of the engine")
        self._model = model
        self._left_s = PATIENCE_S

    def __call__(self, variant: Variant) -> str | None:
        if self._model is None or os.environ.get(CHOSEN_BY_HAND) == variant.name:
            return None
        try:
            return self._verdict(_key(variant), {CHOSEN_BY_HAND: variant.name})
        except subprocess.TimeoutExpired:  # slow is not wrong
            return None

    def card(self, kind: str, library: Path) -> str | None:
        """Tries a graphics card. A driver that hangs in it is not tried again either."""
        if self._model is None or os.environ.get(TRIED_CARD) == kind:
            return None
        key = _card_key(kind, library)
        try:
            return self._verdict(key, {TRIED_CARD: kind})
        except subprocess.TimeoutExpired:
            reason = f"it had no right word after {PATIENCE_S:g} seconds"
            self._kept.write({**self._kept.read(), key: reason})
            return reason

    def forget_cards(self) -> None:
        """They are tried again with the next load."""
        known = self._kept.read()
        self._kept.write(
            {key: verdict for key, verdict in known.items() if not key.startswith(CARD)}
        )

    def _verdict(self, key: str, chosen: dict[str, str]) -> str | None:
        known: dict[str, str] = self._kept.read()
        if key not in known:
            assert self._model is not None
            began = monotonic()
            try:
                known[key] = _try_out(chosen, self._model, self._left_s)
            except Unsettled as unsettled:
                return str(unsettled)
            finally:
                self._left_s = max(0.0, self._left_s - (monotonic() - began))
            self._kept.write(known)
        return known[key] or None


def usual() -> Trials:
    trials = Trials(paths.find().cache / "engine-trials.json", _starter())
    if os.environ.get(TRY_AGAIN):
        trials.forget_cards()
    return trials


def _starter() -> Path | None:
    """Only a packaged program has something to try: in a clone, set-up has tried the engine."""
    if not getattr(sys, "frozen", False):
        return None
    models = Path(sys.executable).parent / "resources" / "models"
    return next(iter(sorted(models.glob("*.gguf"))), None)


def _key(variant: Variant) -> str:
    """Another processor, engine or library is another question."""
    cpu = hardware.read()
    size = str(variant.path.stat().st_size)
    parts = (metadata.version("llama-cpp-python"), size, cpu.model, *cpu.features)
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return f"{variant.name} {digest}"


CARD = "card "


def _card_key(kind: str, library: Path) -> str:
    """Another card, driver, engine or library is another question."""
    size = str(library.stat().st_size)
    parts = (metadata.version("llama-cpp-python"), size, driver_mark())
    return f"{CARD}{kind} {hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]}"


def _try_out(chosen: dict[str, str], model: Path, patience_s: float) -> str:
    child = subprocess.run(
        processes.command("worker", FLAG, str(model)),
        env={**processes.environment("worker"), **chosen},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=patience_s,
        check=False,
    )
    if child.returncode == 0:
        return ""
    if child.returncode == sanity.WRONG_ANSWER:
        return "it computes wrong results"
    if child.returncode == NO_CARD_CODE:
        return NO_CARD
    if child.returncode in CRASHES:
        return f"it ended with code {child.returncode}"
    raise Unsettled(f"its trial ended early (code {child.returncode}); it is tried again next time")


def main(model: str) -> int:
    """In the child: read a prompt, name the next word."""
    tried = os.environ.get(TRIED_CARD)
    # A driver that crashes says nothing about the processor.
    backends.load(refused_card=lambda _kind, _library: None if tried else "the processor is tried")
    if not tried:
        return sanity.exit_code(model)
    if not lib.llama_supports_gpu_offload():
        return NO_CARD_CODE
    return sanity.exit_code(model, ALL_LAYERS)
