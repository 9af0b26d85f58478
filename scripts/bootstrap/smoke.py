"""Run in a child process: does the compiled engine live, and does it compute the right thing?"""

import os
import sys

if sys.platform != "win32":
    import resource

from server.engine.worker.load import backends, sanity

COMPUTING_S = 60
"""How long each core may compute for it. The clock tells nothing on a busy machine."""


def limit_computing(seconds: int) -> None:
    """The system ends us with SIGXCPU then."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


if __name__ == "__main__":
    limit_computing(COMPUTING_S * (os.cpu_count() or 1))
    backends.load()
    sys.exit(sanity.exit_code(sys.argv[1]))
