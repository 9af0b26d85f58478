"""Texts as nothing else may hold them: half a surrogate pair can neither be stored nor sent."""

import re

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


def without_halves(text: str, instead: str = "") -> str:
    return _HALF_A_PAIR.sub(instead, text)
