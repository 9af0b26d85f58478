"""Topics that a page allows or denies, checked in the user's words before any model sees them."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from server.errors import AppError

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts from Thai to Khmer, and Chinese, Japanese, Korean. They have no spaces between words, so
each character counts as a word, and a topic is found as a part of the text."""
WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
HISSING = ("ches", "shes", "sses", "xes", "zes")


class TopicRefused(AppError):
    code = "topic_refused"
    status = 422


@dataclass(frozen=True, slots=True)
class Topics:
    """If topics are `allowed`, a question must touch one of them. A `denied` topic always
    refuses."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()

    def check(self, text: str) -> None:
        """Raises TopicRefused if the text may not be answered."""
        if not (self.allowed or self.denied):
            return
        words = _words(text)
        denied = _first_in(self.denied, words)
        if denied:
            raise TopicRefused(f"Questions about {denied} are not answered here.")
        if self.allowed and not _first_in(self.allowed, words):
            known = ", ".join(self.allowed)
            raise TopicRefused(f"Only questions about these topics are answered here: {known}.")


def _first_in(topics: Iterable[str], words: list[str]) -> str:
    for topic in topics:
        wanted = _words(topic)
        if wanted and any(
            words[start : start + len(wanted)] == wanted for start in range(len(words))
        ):
            return topic
    return ""


def _words(text: str) -> list[str]:
    """Returns the words in lower case and in the singular, as topics and texts are compared."""
    plain = unicodedata.normalize("NFKC", text)
    return [_singular(word) for word in WORD.findall(plain.casefold())]


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith(HISSING):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
