"""The worker's end of the pipe: whole frames in, whole frames out."""

import os
import threading
from typing import Any, BinaryIO

from server.engine.wire import LENGTH, MAX_FRAME_BYTES, pack, unpack


class Pipe:
    """Reads on one thread; sends from any."""

    def __init__(self, reading: BinaryIO, writing_fd: int) -> None:
        self._reading = reading
        self._writing_fd = writing_fd
        self._sending = threading.Lock()
        self.received_bytes = 0
        """The size of the frame that came last."""

    def receive(self) -> dict[str, Any] | None:
        """The next frame; None when the other end is gone or sends what is no frame."""
        head = self._reading.read(LENGTH.size)
        if len(head) < LENGTH.size:
            return None
        (size,) = LENGTH.unpack(head)
        if size > MAX_FRAME_BYTES:
            return None
        body = self._reading.read(size)
        self.received_bytes = size
        if len(body) < size:
            return None
        try:
            return unpack(body)
        except ValueError:
            return None

    def send(self, frame: dict[str, Any]) -> None:
        """Blocks while the other end does not read. Ends the process when it is gone."""
        rest = memoryview(pack(frame))
        with self._sending:
            try:
                while rest:
                    rest = rest[os.write(self._writing_fd, rest) :]
            except OSError:
                os._exit(0)


def take_standard_streams() -> Pipe:
    """Keeps the pipe on descriptors of its own; what native code prints goes to stderr."""
    reading_fd, writing_fd = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return Pipe(os.fdopen(reading_fd, "rb", buffering=1 << 16), writing_fd)
