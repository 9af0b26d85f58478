"""Runs a command that has no network but loopback: python -m tests.prove.alone COMMAND.

It must be started in its own network namespace, whose loopback is still down.
"""

import fcntl
import os
import socket
import struct
import sys

SIOCGIFFLAGS, SIOCSIFFLAGS, UP = 0x8913, 0x8914, 1


def raise_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        name = struct.pack("16sh14x", b"lo", 0)
        (flags,) = struct.unpack("16xh14x", fcntl.ioctl(wire, SIOCGIFFLAGS, name))
        fcntl.ioctl(wire, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | UP))


if __name__ == "__main__":
    raise_loopback()
    os.execvp(sys.argv[1], sys.argv[1:])
