"""Runs a worker, which serves one model over stdin and stdout; flags run its other tasks."""

import sys

from server.engine.worker.load import calibrate, devices, selftest
from server.engine.worker.main import main

if __name__ == "__main__":
    if "--describe" in sys.argv:
        devices.main()
    elif calibrate.PACE_FLAG in sys.argv:
        calibrate.print_pace()
    elif selftest.FLAG in sys.argv:
        sys.exit(selftest.main(sys.argv[-1]))
    else:
        main()
