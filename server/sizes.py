"""Sizes in bytes. MB and GB are for people; MIB is the unit of systems."""

from server.sentences import Sentence

MB = 1_000_000
GB = 1_000_000_000
MIB = 1024 * 1024


def in_gb(size: float) -> str:
    return Sentence("{0:.1f} GB", size / GB)
