"""Says in words why a worker ended, and defines the refusals that a worker sends to the server.

The set-up script imports this before any package is installed: it needs only the standard library.
"""

import signal
from typing import Any

_WINDOWS = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000409: "it aborted",
    0xC0000017: "out of memory",
}
_SIGNALS = {
    "SIGSEGV": "segmentation fault",
    "SIGABRT": "it aborted",
    "SIGILL": "an instruction this processor does not have",
    "SIGBUS": "bad memory access",
    "SIGFPE": "arithmetic fault",
    "SIGKILL": "killed, perhaps because memory ran out",
    "SIGTERM": "asked to end",
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
        return f"killed by signal {-code} ({_signal_name(-code)})"
    if code in _WINDOWS:
        return f"ended with code {code:#x} ({_WINDOWS[code]})"
    return f"it exited by itself (code {code})"


def _signal_name(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        return "unknown"
    return _SIGNALS.get(name, name)


class JobRefused(Exception):
    """A refusal that the worker sends to the server. `code` is one of those in `server.errors`."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code = code
        self.facts = facts


def too_long(needed: int, available: int, *, is_certain: bool = True) -> JobRefused:
    """Returns the refusal of a prompt. If not `is_certain`, `needed` is partly an estimate."""
    about = "" if is_certain else "about "
    return JobRefused(
        "context_length_exceeded",
        f"The prompt has {about}{needed} tokens; the model has room for {available}.",
        needed=needed,
        available=available,
        context=available + 1,
        is_certain=is_certain,
    )
