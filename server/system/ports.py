"""Finds the program that holds a port, so that a person knows what to end."""

import socket
from dataclasses import dataclass

import psutil

UNKNOWN = "another program"


@dataclass(frozen=True, slots=True)
class Occupant:
    name: str
    pid: int = 0

    def __str__(self) -> str:
        return f"{self.name} (process {self.pid})" if self.pid else self.name


def who_listens(port: int) -> Occupant | None:
    """Returns the program that listens on the port, as far as the system shows it."""
    try:
        found = psutil.net_connections("tcp")
    except psutil.AccessDenied:
        return _knock(port)
    pids = (
        connection.pid
        for connection in found
        if connection.status == psutil.CONN_LISTEN
        and connection.laddr
        and connection.laddr.port == port
    )
    for pid in pids:
        return Occupant(UNKNOWN) if pid is None else Occupant(_program(pid), pid)
    return None


def _program(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return UNKNOWN


def _knock(port: int) -> Occupant | None:
    with socket.socket() as knocking:
        knocking.settimeout(1)
        answered = knocking.connect_ex(("127.0.0.1", port)) == 0
    return Occupant(UNKNOWN) if answered else None
