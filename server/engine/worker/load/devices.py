"""Describes the compiled engine: its version and the graphics devices that it can use."""

import ctypes
import json
import sys
from importlib import metadata
from typing import Any

from server.engine.worker.load import backends, selftest
from server.engine.worker.load.native import FOLDER, lib
from server.system.backends import ggml_version

CPU_KIND, ACCELERATOR_KIND = 0, 3
P, SIZE = ctypes.c_void_p, ctypes.c_size_t
SIGNATURES: dict[str, tuple[Any, ...]] = {
    "ggml_backend_dev_count": (SIZE,),
    "ggml_backend_dev_get": (P, SIZE),
    "ggml_backend_dev_type": (ctypes.c_int, P),
    "ggml_backend_dev_memory": (None, P, ctypes.POINTER(SIZE), ctypes.POINTER(SIZE)),
    "ggml_backend_dev_description": (ctypes.c_char_p, P),
    "ggml_backend_dev_name": (ctypes.c_char_p, P),
}


def read() -> list[dict[str, Any]]:
    """Returns the graphics devices and their memory; empty if the engine cannot list any."""
    try:
        ggml = backends.functions(SIGNATURES)
    except AttributeError:
        return []
    found = []
    for number in range(ggml.backend_dev_count()):
        device = ggml.backend_dev_get(number)
        if ggml.backend_dev_type(device) in (CPU_KIND, ACCELERATOR_KIND):
            continue
        free, total = SIZE(), SIZE()
        ggml.backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        found.append(
            {
                "name": _text(ggml.backend_dev_description(device)),
                "backend": _text(ggml.backend_dev_name(device)),
                "free_bytes": free.value,
                "total_bytes": total.value,
            }
        )
    return found


def processor_buffers() -> Any:
    """Returns the processor's buffer type, from the library that libllama itself uses."""
    found = FOLDER / "ggml-base.dll"
    library = ctypes.CDLL(str(found)) if sys.platform == "win32" else lib._lib
    library.ggml_backend_cpu_buffer_type.restype = ctypes.c_void_p
    return library.ggml_backend_cpu_buffer_type()


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
