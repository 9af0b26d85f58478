"""Run in a child process: does the compiled engine live, and does it compute the right thing?"""

import ctypes
import os
import sys
from pathlib import Path

from server.engine.worker import sanity
from server.engine.worker.native import FOLDER


def main(model: str) -> int:
    load_parts(FOLDER)
    return sanity.code(model)


def load_parts(folder: Path) -> None:
    """An engine for every processor has parts of which the right ones must be chosen."""
    if sys.platform == "win32" or not any(folder.glob("libggml-cpu-*")):
        return
    # The very file libllama is linked with: a copy of it would keep a list of its own.
    linked = next(folder.glob("libggml.so.[0-9]"), folder / "libggml.so")
    ctypes.CDLL(str(linked)).ggml_backend_load_all_from_path(os.fsencode(folder))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
