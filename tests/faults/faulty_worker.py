"""Runs the real worker with faults on demand. On SIGUSR1 it exits, on SIGUSR2 it writes garbage to
its pipe, and after SIGURG the next step computes for ever."""

import os
import signal

from server.engine.worker.decode.batch import Batch, RowBatch
from server.engine.worker.load.context import Context
from server.engine.worker.main import main

GARBAGE = b"terminate called after throwing an instance of 'std::bad_alloc'\n"
wire = os.dup(1)

signal.signal(signal.SIGUSR1, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR2, lambda *_: os.write(wire, GARBAGE) and None)
usual = Context.begin
spins = False


def begin_to_spin(*_given: object) -> None:
    global spins
    spins = True


def begin(self: Context, batch: Batch | RowBatch) -> int:
    while spins:
        pass
    return usual(self, batch)


signal.signal(signal.SIGURG, begin_to_spin)
Context.begin = begin  # type: ignore[method-assign]
main()
