"""llama.cpp's C functions: the one import of llama_cpp, untyped because ctypes is."""

import ctypes
from pathlib import Path
from typing import Any

import llama_cpp.llama_cpp as bindings
import llama_cpp.mtmd_cpp as vision_bindings

lib: Any = bindings
FOLDER = Path(bindings._base_path)
"""Where the engine's libraries lie."""
vision: Any = vision_bindings
INT_P: Any = ctypes.POINTER(ctypes.c_int32)
BYTE_P: Any = ctypes.POINTER(ctypes.c_uint8)
FLOAT_P: Any = ctypes.POINTER(ctypes.c_float)


def pointer(array: Any, kind: Any) -> Any:
    """The address of a numpy array's data as a C pointer."""
    return ctypes.cast(array.ctypes.data, kind)
