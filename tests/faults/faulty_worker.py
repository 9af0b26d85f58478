"""The real worker with two faults on call: SIGUSR1 exits, SIGUSR2 writes garbage on its pipe."""

import os
import signal

from server.engine.worker.main import main

GARBAGE = b"terminate called after throwing an instance of 'std::bad_alloc'\n"
wire = os.dup(1)

signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR2, lambda *_: os.write(wire, GARBAGE) and None)
main()
