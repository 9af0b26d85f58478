"""Numbers that are too large for what carries them."""

LARGEST_FLOAT = 2**1000


def beyond_64_bits(number: int) -> float | str:
    """What stands for a whole number that no frame to a worker can hold."""
    return float(number) if abs(number) < LARGEST_FLOAT else str(number)
