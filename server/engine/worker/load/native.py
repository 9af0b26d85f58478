"""llama.cpp's C functions and its log: the only import of llama_cpp, untyped like ctypes."""

import ctypes
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

PACKAGE = "llama_cpp"


def _bindings() -> tuple[Any, Any]:
    """Imports only the bindings: the package's classes take 4 MB and import diskcache, which is
    vulnerable (CVE-2025-69872)."""
    if PACKAGE not in sys.modules:
        found = find_spec(PACKAGE)
        if found is None:
            raise ModuleNotFoundError("The engine is not installed; run make setup, or moat serve.")
        sys.modules[PACKAGE] = module_from_spec(found)
    functions = import_module(f"{PACKAGE}.llama_cpp")
    # llguidance expects them where the whole package would have put them.
    public = {name: part for name, part in vars(functions).items() if not name.startswith("_")}
    vars(sys.modules[PACKAGE]).update(public)
    return functions, import_module(f"{PACKAGE}.mtmd_cpp")


lib, vision = _bindings()
FOLDER = Path(lib._base_path)
"""The folder of the engine's libraries."""
INT_P: Any = ctypes.POINTER(ctypes.c_int32)
BYTE_P: Any = ctypes.POINTER(ctypes.c_uint8)
FLOAT_P: Any = ctypes.POINTER(ctypes.c_float)


def pointer(array: Any, kind: Any) -> Any:
    """Returns a C pointer to the data of a numpy array, which must outlive it."""
    return ctypes.cast(array.ctypes.data, kind)


LEVELS = {2: b"info: ", 3: b"warning: ", 4: b"error: "}
CONTINUED = 5
STDERR = 2


_installed: "NativeLog | None" = None
"""The log that llama.cpp calls, which must not be garbage-collected."""


class NativeLog:
    """Joins the pieces that llama.cpp logs into lines on stderr. Debug messages are dropped."""

    def __init__(self) -> None:
        self._level = b""
        self._line = b""
        self._muted: Callable[[], bool] = bool
        self._callback = lib.llama_log_callback(self._write)

    def install(self) -> None:
        global _installed
        _installed = self
        lib.llama_log_set(self._callback, None)
        vision.mtmd_helper_log_set(self._callback, None)

    def mute_while(self, muted: Callable[[], bool]) -> None:
        """Drops messages while `muted` is true: llama.cpp logs a cancelled answer as an error."""
        self._muted = muted

    def _write(self, level: int, text: bytes, _user_data: Any) -> None:
        if level != CONTINUED:
            self._level = LEVELS.get(level, b"")
        self._line += text or b""
        *whole, self._line = self._line.split(b"\n")
        for line in whole:
            if self._level and not self._muted() and line.strip(b". "):
                os.write(STDERR, self._level + line + b"\n")
