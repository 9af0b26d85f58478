"""A download is one program's at a time. The system lifts a claim when its holder dies."""

import errno
import os
from pathlib import Path

from server.errors import BadRequest
from server.system.locking import try_lock

NAME = "lock"

_TAKEN = (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


class Claim:
    """On the folder of a download. Raises BadRequest where another program has it."""

    def __init__(self, folder: Path) -> None:
        self._file: int | None = None
        try:
            self._file = os.open(folder / NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return  # Full, or not there: the download will say so itself.
        try:
            try_lock(self._file)
        except OSError as error:
            self.release()
            # Some network file systems know no locks; that keeps nobody from downloading.
            if error.errno in _TAKEN:
                raise BadRequest("Another program is at this download.", "id") from None

    def release(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)
