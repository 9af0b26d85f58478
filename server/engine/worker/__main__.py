"""python -m server.engine.worker: one model behind a pipe on stdin and stdout."""

import sys

from server.engine.worker.load import devices, pace, selftest
from server.engine.worker.main import main

if __name__ == "__main__":
    if "--describe" in sys.argv:
        devices.main()
    elif pace.FLAG in sys.argv:
        pace.main()
    elif selftest.FLAG in sys.argv:
        sys.exit(selftest.main(sys.argv[-1]))
    else:
        main()
