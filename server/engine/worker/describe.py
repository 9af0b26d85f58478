"""What the compiled engine says about itself: one JSON object on standard output."""

import json
import sys
from importlib import metadata

from server.engine.worker import devices
from server.engine.worker.native import lib


def main() -> None:
    facts = {
        "version": metadata.version("llama-cpp-python"),
        "system": lib.llama_print_system_info().decode(errors="replace").strip(" |"),
        "gpu": bool(lib.llama_supports_gpu_offload()),
        "devices": devices.read(),
    }
    sys.stdout.write(json.dumps(facts) + "\n")


if __name__ == "__main__":
    main()
