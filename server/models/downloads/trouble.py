"""What the disk refuses, as errors a person understands: full may pass, anything else does not."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from server.errors import DiskFailed, DiskFull

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_full(error: OSError) -> bool:
    return error.errno in _FULL


@contextmanager
def disk_trouble() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if is_full(error):
            raise DiskFull(f"The disk takes no more: {error.strerror}.") from error
        raise DiskFailed(f"The disk refused: {error.strerror or error}.") from error
