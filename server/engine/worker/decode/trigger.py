"""The text that a grammar waits for before it binds an answer."""

NEW_LINES = b"\r\n"


class Trigger:
    """Counts anywhere; with a `lead` only where an answer begins or right behind that lead.

    It does not count in a thought before the answer; without a first mark, that has begun already.
    """

    def __init__(
        self, text: str, lead: str | None = None, thought: tuple[str, str] | None = None
    ) -> None:
        self._text = text.encode()
        self._lead = None if lead is None else lead.encode()
        self._thinks = thought is not None
        self._begin, self._end = (mark.encode() for mark in thought or ("", ""))
        self._said = b""
        self._may_begin = True

    def hear(self, piece: bytes) -> bytes | None:
        """Returns what follows the text, once that is complete; else None."""
        self._said += piece
        if self._thinks and not self._has_thought():
            return None
        if self._lead is not None:
            return self._heard_behind(self._lead)
        _, found, rest = self._said.partition(self._text)
        if found:
            return rest
        self._said = self._said[-len(self._text) :]
        return None

    def _has_thought(self) -> bool:
        if self._begin:
            begun = self._said.lstrip(NEW_LINES)
            if not begun.startswith(self._begin):
                self._thinks = self._begin.startswith(begun)
                return not self._thinks
            self._begin = b""
        _, found, rest = self._said.partition(self._end)
        self._said = rest if found else self._said[-len(self._end) :]
        self._thinks = not found
        return not self._thinks

    def _heard_behind(self, lead: bytes) -> bytes | None:
        while True:
            if self._may_begin:
                begun = self._said.lstrip(NEW_LINES)
                if begun.startswith(self._text):
                    return begun.removeprefix(self._text)
                if self._text.startswith(begun):
                    return None
            self._may_begin = False
            _, found, rest = self._said.partition(lead) if lead else (b"", b"", b"")
            if not found:
                self._said = self._said[-len(lead) :] if lead else b""
                return None
            self._said, self._may_begin = rest, True
