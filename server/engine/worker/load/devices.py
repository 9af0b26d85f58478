"""What the compiled engine says about itself: its version and the graphics devices it can use."""

import ctypes
import json
import sys
from importlib import metadata
from typing import Any

from server.engine.worker.load import backends, selftest
from server.engine.worker.load.native import FOLDER, lib
from server.system.backends import ggml_version

CPU_KIND, ACCELERATOR_KIND = 0, 3


def read() -> list[dict[str, Any]]:
    library = _library()
    if library is None:
        return []
    found = []
    for number in range(library.ggml_backend_dev_count()):
        device = library.ggml_backend_dev_get(number)
        if library.ggml_backend_dev_type(device) in (CPU_KIND, ACCELERATOR_KIND):
            continue
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        library.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        found.append(
            {
                "name": _text(library.ggml_backend_dev_description(device)),
                "backend": _text(library.ggml_backend_dev_name(device)),
                "free_bytes": free.value,
                "total_bytes": total.value,
            }
        )
    return found


def processor_buffers() -> Any:
    """Where the processor keeps its tensors, as libllama itself knows it."""
    found = FOLDER / "ggml-base.dll"
    library = ctypes.CDLL(str(found)) if sys.platform == "win32" else lib._lib
    library.ggml_backend_cpu_buffer_type.restype = ctypes.c_void_p
    return library.ggml_backend_cpu_buffer_type()


def _library() -> Any:
    library = backends.library()
    if library is None:
        return None
    try:
        library.ggml_backend_dev_count.restype = ctypes.c_size_t
        library.ggml_backend_dev_get.restype = ctypes.c_void_p
        library.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        library.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        size = ctypes.POINTER(ctypes.c_size_t)
        library.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, size, size]
        for name in ("ggml_backend_dev_description", "ggml_backend_dev_name"):
            getattr(library, name).restype = ctypes.c_char_p
            getattr(library, name).argtypes = [ctypes.c_void_p]
    except AttributeError:
        return None
    return library


def _text(found: bytes | None) -> str:
    return (found or b"").decode(errors="replace")


def main() -> None:
    trials = selftest.usual()
    loaded = backends.load(trials, trials.card)
    facts = {
        "version": metadata.version("llama-cpp-python"),
        "ggml": ggml_version(FOLDER),
        "system": lib.llama_print_system_info().decode(errors="replace").strip(" |"),
        "gpu": bool(lib.llama_supports_gpu_offload()),
        "devices": read(),
        "variant": loaded.variant,
        "added": loaded.added,
        "refused": loaded.refused,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
