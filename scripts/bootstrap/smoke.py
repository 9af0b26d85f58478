"""Run in a child process: does the compiled engine live, and does it compute the right thing?"""

import sys

from server.engine.worker.load import backends, sanity

if __name__ == "__main__":
    backends.load()
    sys.exit(sanity.exit_code(sys.argv[1]))
