"""python -m server.engine.worker: one model behind a pipe on stdin and stdout."""

import sys

from server.engine.worker import describe, trial
from server.engine.worker.main import main

if __name__ == "__main__":
    if "--describe" in sys.argv:
        describe.main()
    elif trial.FLAG in sys.argv:
        sys.exit(trial.main(sys.argv[-1]))
    else:
        main()
