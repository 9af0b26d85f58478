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
from server.engine.worker.load.backends import CHOSEN_BY_HAND, Variant
from server.system import hardware, paths, processes
from server.system.files import JsonFile

FLAG = "--try"
PATIENCE_S = 30.0
"""For all trials of one load, which counts as hung when it is silent for much longer."""


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
        known: dict[str, str] = self._kept.read()
        key = _key(variant)
        if key not in known:
            began = monotonic()
            try:
                known[key] = _try_out(variant, self._model, self._left_s)
            except subprocess.TimeoutExpired:  # slow is not wrong
                return None
            except Unsettled as unsettled:
                return str(unsettled)
            finally:
                self._left_s = max(0.0, self._left_s - (monotonic() - began))
            self._kept.write(known)
        return known[key] or None


def usual() -> Trials:
    return Trials(paths.find().cache / "engine-trials.json", _starter())


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


def _try_out(variant: Variant, model: Path, patience_s: float) -> str:
    child = subprocess.run(
        processes.command("worker", FLAG, str(model)),
        env={**processes.environment("worker"), CHOSEN_BY_HAND: variant.name},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=patience_s,
        check=False,
    )
    if child.returncode == 0:
        return ""
    if child.returncode == sanity.WRONG_ANSWER:
        return "it computes wrong results"
    if child.returncode in CRASHES:
        return f"it ended with code {child.returncode}"
    raise Unsettled(f"its trial ended early (code {child.returncode}); it is tried again next time")


def main(model: str) -> int:
    """In the child: read a prompt, name the next word."""
    backends.load()
    return sanity.code(model)
