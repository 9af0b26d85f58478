"""Loads each GGUF file named on standard input with llama.cpp, each in a process of its own.

Prints the exit code of each process, 0 for a model that loads.
"""

import os
import signal
import sys

from server.engine.worker.load.native import lib

LONGEST_S = 10
SILENT = lib.llama_log_callback(lambda *_: None)


def load(path: str) -> int:
    model = lib.llama_model_load_from_file(path.encode(), lib.llama_model_default_params())
    if not model:
        return 1
    params = lib.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = 64, 32, 32
    return 0 if lib.llama_init_from_model(model, params) else 2


lib.llama_log_set(SILENT, None)
lib.llama_backend_init()
for line in sys.stdin:
    child = os.fork()
    if not child:
        signal.alarm(LONGEST_S)
        os._exit(load(line.strip()))
    _, status = os.waitpid(child, 0)
    sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
    sys.stdout.flush()
