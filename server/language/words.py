"""The words of a text, in languages that write them apart and in those that do not."""

import re

_UNSPACED = r"\u0e00-\u0eff\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+")
_CHINESE = re.compile(rf"[{_UNSPACED}]+")
_STOP_TEXT = (
    "a an and are as at be by for from in is it of on or that the this to was what with you"
)
STOP_WORDS = frozenset(_STOP_TEXT.split())


def terms(text: str) -> list[str]:
    """Returns words; for scripts without spaces, pairs of characters."""
    words = [word.lower() for word in _WORD.findall(text.replace("_", " "))]
    found = [stem(word) for word in words if word not in STOP_WORDS]
    for run in _CHINESE.findall(text):
        found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return found


def stem(word: str) -> str:
    """Cuts a word so that its plural and verb forms are equal. The stem may not be a word."""
    word = word.lower()
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("es", "e")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return (word[: -len(ending)] + rest).rstrip("e") or word
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        word = word[:-1]
    return word.rstrip("e") if len(word) > 3 else word
