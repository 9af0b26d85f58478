"""Sizes in bytes. MB and GB are what people set and read; MIB is what systems count in."""

MB = 1_000_000
GB = 1_000_000_000
MIB = 1024 * 1024


def in_gb(size: float) -> str:
    return f"{size / GB:.1f} GB"
