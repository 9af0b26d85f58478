"""The contrast of two colours."""

from PySide6.QtGui import QColor


def contrast(one: str, other: str) -> float:
    """Returns the WCAG 2 contrast ratio of two colours."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    mixed = QColor(colour)
    red, green, blue = (_linear(part) for part in (mixed.redF(), mixed.greenF(), mixed.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
