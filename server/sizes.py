"""Sizes in bytes. MB and GB are for people; MIB is the unit of systems."""

MB = 1_000_000
GB = 1_000_000_000
MIB = 1024 * 1024


def in_gb(size: float) -> str:
    return f"{size / GB:.1f} GB"
