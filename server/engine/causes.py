"""Says in words why a worker ended, and defines the refusals that a worker sends to the server.

The set-up script imports this before any package is installed: it needs only the standard library.
"""

import signal
from typing import Any

from server.sentences import Sentence, to_wire

_WINDOWS = {
    0xC0000005: Sentence("access violation"),
    0xC000001D: Sentence("illegal instruction"),
    0xC00000FD: Sentence("stack overflow"),
    0xC0000409: Sentence("it aborted"),
    0xC0000017: Sentence("out of memory"),
}
_SIGNALS = {
    "SIGSEGV": Sentence("segmentation fault"),
    "SIGABRT": Sentence("it aborted"),
    "SIGILL": Sentence("an instruction this processor does not have"),
    "SIGBUS": Sentence("bad memory access"),
    "SIGFPE": Sentence("arithmetic fault"),
    "SIGKILL": Sentence("killed, perhaps because memory ran out"),
    "SIGTERM": Sentence("asked to end"),
}

CRASHES = {
    *(
        -getattr(signal, name)
        for name in ("SIGILL", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE")
        if hasattr(signal, name)
    ),
    *(0xC000001D, 0xC0000005, 0xC0000096, 0xC0000409, 0xC0000374, 0xC00000FD, 0xC0000094),
}
"""Exit codes of a build that does not suit the processor: signals, then Windows' status codes."""


def of_exit(code: int) -> str:
    """Returns a clause for an exit code as Python reports it: negative for a signal."""
    if code < 0:
        return Sentence("killed by signal {0} ({1})", -code, _signal_name(-code))
    if code in _WINDOWS:
        return Sentence("ended with code {0:#x} ({1})", code, _WINDOWS[code])
    return Sentence("it exited by itself (code {0})", code)


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return Sentence("unknown")
    return _SIGNALS.get(name, name)


class JobRefused(Exception):
    """A refusal that the worker sends to the server. `code` is one of those in `server.errors`."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts

    @property
    def message(self) -> Any:
        """The sentence as it goes over the pipe."""
        return to_wire(str(self))


def too_long(needed: int, available: int, *, is_certain: bool = True) -> JobRefused:
    """Returns the refusal of a prompt. If not `is_certain`, `needed` is partly an estimate."""
    counted = needed if is_certain else Sentence("about {0}", needed)
    return JobRefused(
        "context_length_exceeded",
        Sentence("The prompt has {0} tokens; the model has room for {1}.", counted, available),
        needed=needed,
        available=available,
        context=available + 1,
        is_certain=is_certain,
    )
