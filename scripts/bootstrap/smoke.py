"""Checks in a child process whether the compiled engine runs and computes correct results."""

import os
import sys

if sys.platform != "win32":
    import resource

from server.engine.worker.load import backends, sanity

COMPUTING_S = 60
"""CPU time per core in seconds. Clock time says nothing on a busy machine."""


def limit_computing(seconds: int) -> None:
    """Limits this process's CPU time. The system then ends it with SIGXCPU."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


if __name__ == "__main__":
    limit_computing(COMPUTING_S * (os.cpu_count() or 1))
    backends.load()
    sys.exit(sanity.exit_code(sys.argv[1]))
