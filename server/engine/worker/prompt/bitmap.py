"""A picture as plain pixels."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bitmap:
    """Rows of red, green and blue, a byte each."""

    width: int
    height: int
    pixels: bytes
