"""What the compiled engine says about itself: one JSON object on standard output."""

import json
import sys
from importlib import metadata

from server.engine.worker.load import backends, devices, selftest
from server.engine.worker.load.native import FOLDER, lib
from server.system import engine_build


def main() -> None:
    loaded = backends.load(selftest.usual())
    facts = {
        "version": metadata.version("llama-cpp-python"),
        "ggml": engine_build.read(FOLDER),
        "system": lib.llama_print_system_info().decode(errors="replace").strip(" |"),
        "gpu": bool(lib.llama_supports_gpu_offload()),
        "devices": devices.read(),
        "variant": loaded.variant,
        "added": loaded.added,
        "refused": loaded.refused,
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
