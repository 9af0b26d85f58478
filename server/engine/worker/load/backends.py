"""Loads the engine's backends: one for the processor, and those for graphics cards.

A shipped engine has a library for each generation of processors. The best that this processor
claims to support is tried in a child process first, because such a claim has been wrong before.
"""

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

from server.engine.worker.load.native import FOLDER
from server.system import backends

VARIANT = re.compile(r"(?:lib)?ggml-cpu-(.+)\.(?:so|dll)")
CHOSEN_BY_HAND = "MOAT_CPU_BACKEND"
"""The variable that names the variant of the processor's backend to use."""
TRIED_CARD = "MOAT_TRIED_BACKEND"
"""The variable that names, in a trial, the only graphics backend to load."""


@dataclass(frozen=True, slots=True)
class Variant:
    name: str
    path: Path
    score: int


@dataclass(frozen=True, slots=True)
class LoadedBackends:
    variant: str = ""
    """The processor's backend; empty if the engine was built for a single processor."""
    added: tuple[str, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)


def load(
    refused: Callable[[Variant], str | None] = lambda _variant: None,
    refused_card: Callable[[str, Path], str | None] = lambda _kind, _library: None,
) -> LoadedBackends:
    """Loads the backends. Call it once per process, before anything else of the engine.

    `refused` and `refused_card` return why not to use a backend, or None.
    """
    ggml = library()
    if ggml is None:
        return LoadedBackends()
    variant = ""
    reasons: dict[str, str] = {}
    is_parted = not ggml.ggml_backend_reg_count()
    if is_parted:
        known = variants(FOLDER)
        chosen, reasons = choose(_choose_by_hand(known), refused)
        reasons |= _missing(known)
        if chosen is not None and ggml.ggml_backend_load(os.fsencode(chosen.path)):
            variant = chosen.name
    added, failed = _add(ggml, _cards(FOLDER if is_parted else None), refused_card)
    return LoadedBackends(variant, added, reasons | failed)


def _cards(shipped: Path | None) -> dict[str, Path]:
    """Returns the shipped backends of cards that may be present, and all that were added by hand.

    In a trial it is only the tried one. `shipped` is None for an engine in one piece, which is
    already linked with its backends.
    """
    inside = backends.found(shipped)
    tried = os.environ.get(TRIED_CARD)
    own = {kind: path for kind, path in inside.items() if tried or backends.may_have_card(kind)}
    found = own | backends.found(backends.folder())
    return {kind: path for kind, path in found.items() if tried in (None, kind)}


def tell(loaded: LoadedBackends, log: TextIO) -> None:
    if loaded.variant:
        log.write(f"info: the processor's backend is {loaded.variant}\n")
    for kind in loaded.added:
        log.write(f"info: the backend {kind} was added\n")
    for name, reason in loaded.refused.items():
        log.write(f"warning: the backend {name} is not used: {reason}\n")


def choose(
    ranked: Iterable[Variant], refused: Callable[[Variant], str | None]
) -> tuple[Variant | None, dict[str, str]]:
    """Returns the best variant that is not refused, else the last and plainest, and the reasons."""
    reasons: dict[str, str] = {}
    chosen = None
    for chosen in ranked:
        reason = refused(chosen)
        if reason is None:
            return chosen, reasons
        reasons[chosen.name] = reason
    return chosen, reasons


def variants(folder: Path) -> list[Variant]:
    """Returns the variants that this processor claims to support, from the best to the plainest."""
    found = []
    for path in sorted(folder.iterdir()):
        match = VARIANT.fullmatch(path.name)
        score = _score(path) if match else 0
        if match and score:
            found.append(Variant(match.group(1), path, score))
    return sorted(found, key=lambda variant: -variant.score)


def _choose_by_hand(known: list[Variant]) -> list[Variant]:
    """Returns only the variant chosen by hand, if it exists; else all."""
    return [variant for variant in known if variant.name == os.environ.get(CHOSEN_BY_HAND)] or known


def _missing(known: list[Variant]) -> dict[str, str]:
    by_hand = os.environ.get(CHOSEN_BY_HAND)
    names = [variant.name for variant in known]
    if not by_hand or by_hand in names:
        return {}
    return {by_hand: f"this processor runs none of that name; there are {', '.join(names)}"}


def _score(path: Path) -> int:
    try:
        opened = ctypes.CDLL(str(path))
        return int(opened.ggml_backend_score())
    except (OSError, AttributeError):
        return 0


def _add(
    ggml: Any, found: dict[str, Path], refused: Callable[[str, Path], str | None]
) -> tuple[tuple[str, ...], dict[str, str]]:
    added, failed = [], {}
    ours = metadata.version("llama-cpp-python")
    for kind, path in found.items():
        made_for = backends.made_for(path)
        if made_for and made_for != ours:
            failed[kind] = f"{path.name} is made for engine {made_for}; this one is {ours}"
        elif reason := refused(kind, path):
            # That a shipped backend finds no card is not worth reporting.
            if reason != backends.NO_CARD or path.parent != FOLDER:
                failed[kind] = reason
        elif ggml.ggml_backend_load(os.fsencode(path)):
            added.append(kind)
        else:
            failed[kind] = f"{path.name} does not fit this engine or lacks a library"
    return tuple(added), failed


def library() -> Any:
    """Opens libggml and declares the functions used here; None if it cannot be opened."""
    try:
        opened: Any = ctypes.CDLL(str(_file()))
        opened.ggml_backend_reg_count.restype = ctypes.c_size_t
        opened.ggml_backend_load.restype = ctypes.c_void_p
        opened.ggml_backend_load.argtypes = [ctypes.c_char_p]
    except (OSError, AttributeError):
        return None
    return opened


def functions(signatures: Mapping[str, tuple[Any, ...]]) -> Any:
    """Returns ggml's functions without their prefix. A signature is the result and the arguments.

    Raises AttributeError if the engine has no such function.
    """
    opened = [library()]
    if sys.platform == "win32":  # elsewhere, a library also exports what it is linked with
        opened += [ctypes.CDLL(str(path)) for path in FOLDER.glob("*ggml-base.dll")]
    found = SimpleNamespace()
    for name, (result, *arguments) in signatures.items():
        holder = next((part for part in opened if hasattr(part, name)), opened[0])
        function = getattr(holder, name)
        function.restype, function.argtypes = result, arguments
        setattr(found, name.removeprefix("ggml_"), function)
    return found


def _file() -> Path:
    """Returns the very file that libllama uses: a copy would have its own list of backends."""
    if sys.platform == "win32":
        named_by_gcc = FOLDER / "libggml.dll"
        return named_by_gcc if named_by_gcc.exists() else FOLDER / "ggml.dll"
    mac = sys.platform == "darwin"
    numbered = FOLDER.glob("libggml.[0-9].dylib" if mac else "libggml.so.[0-9]")
    return next(iter(sorted(numbered)), FOLDER / ("libggml.dylib" if mac else "libggml.so"))
