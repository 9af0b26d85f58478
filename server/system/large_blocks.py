"""Large blocks of memory go back to the system when they are freed, and grow without being copied.

Left alone, glibc serves ever larger blocks from its heap after the first large one was freed: then
a body that grows is copied again and again, and what it took stays with the process.
"""

import ctypes
import sys

M_MMAP_THRESHOLD = -3
FROM_BYTES = 256 * 1024


def give_back() -> bool:
    """Whether this system's allocator could be told so."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, FROM_BYTES))
    except (OSError, AttributeError):  # another C library
        return False
