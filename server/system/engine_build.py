"""Which llama.cpp is inside: its own library says so."""

import ctypes
import importlib.util
import os
from pathlib import Path
from typing import Any

NAMES = (
    "libggml-base.so.[0-9]",
    "libggml-base.[0-9].dylib",
    "libggml-base.so",
    "libggml-base.dylib",
    "*ggml-base.dll",
)
"""First those the others are linked with: a process that has them open opens no second copy."""
UNKNOWN = "unknown"


def folder() -> Path | None:
    """Where the engine's libraries lie, found without starting it."""
    found = importlib.util.find_spec("llama_cpp")
    if found is None or not found.submodule_search_locations:
        return None
    named = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(named or Path(found.submodule_search_locations[0]) / "lib")


def read(libraries: Path) -> str:
    """The version of ggml and the commit of llama.cpp, or nothing where they are not told."""
    try:
        file = next(file for name in NAMES for file in sorted(libraries.glob(name)))
        opened = ctypes.CDLL(str(file))
    except (StopIteration, OSError):
        return ""
    version, commit = (_said(opened, name) for name in ("ggml_version", "ggml_commit"))
    return f"{version} ({commit})" if version and commit else version or commit


def _said(library: Any, name: str) -> str:
    try:
        function = getattr(library, name)
    except AttributeError:
        return ""
    function.restype = ctypes.c_char_p
    said = (function() or b"").decode(errors="replace")
    return "" if said == UNKNOWN else said
