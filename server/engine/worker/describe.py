"""What the compiled engine says about itself: one JSON object on standard output."""

import json
import sys
from importlib import metadata

from server import engine_build
from server.engine.worker import backends, devices, trial
from server.engine.worker.native import FOLDER, lib


def main() -> None:
    loaded = backends.load(trial.usual())
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
