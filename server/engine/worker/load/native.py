"""llama.cpp's C functions: the one import of llama_cpp, untyped because ctypes is."""

import ctypes
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

PACKAGE = "llama_cpp"


def _bindings() -> tuple[Any, Any]:
    """Without the package's own classes: they take 4 MB and import a cache with a known hole."""
    if PACKAGE not in sys.modules:
        found = find_spec(PACKAGE)
        if found is None:
            raise ModuleNotFoundError("The engine is not installed; run make setup.")
        sys.modules[PACKAGE] = module_from_spec(found)
    functions = import_module(f"{PACKAGE}.llama_cpp")
    # llguidance looks for them where the whole package would have put them.
    public = {name: one for name, one in vars(functions).items() if not name.startswith("_")}
    vars(sys.modules[PACKAGE]).update(public)
    return functions, import_module(f"{PACKAGE}.mtmd_cpp")


lib, vision = _bindings()
FOLDER = Path(lib._base_path)
"""Where the engine's libraries lie."""
INT_P: Any = ctypes.POINTER(ctypes.c_int32)
BYTE_P: Any = ctypes.POINTER(ctypes.c_uint8)
FLOAT_P: Any = ctypes.POINTER(ctypes.c_float)


def pointer(array: Any, kind: Any) -> Any:
    """The address of a numpy array's data as a C pointer."""
    return ctypes.cast(array.ctypes.data, kind)
