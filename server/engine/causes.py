"""Why a worker ended, in words. The set-up reads this before any package is there."""

import signal

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
"""What a build does that does not fit the processor; on Windows, the second line."""


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
