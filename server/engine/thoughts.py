"""How many of an answer's tokens were reasoning, found from the texts that the tokens came as."""

from collections.abc import Sequence

from server.events import Piece, ReasoningDelta


class Thoughts:
    """Hears each text with its tokens, then sees the pieces that were read in it."""

    def __init__(self) -> None:
        self.tokens = 0
        self._heard: list[tuple[str, int]] = []
        self._thinking = False

    def hear(self, text: str, tokens: int) -> None:
        self._heard.append((text, tokens))

    def see(self, pieces: Sequence[Piece]) -> None:
        """What made no piece yet, such as half of a mark, waits for the next call."""
        if not pieces:
            return
        thoughts = [piece.text for piece in pieces if isinstance(piece, ReasoningDelta)]
        after = self._count(thoughts) if thoughts else []
        self._thinking = isinstance(pieces[-1], ReasoningDelta)
        self._heard = after if self._thinking else []

    def end(self, *, thinks: bool = True) -> None:
        """The answer is over: what still waits was thought if the rest before it was.

        Not where the parser still holds it back (`thinks` is False): then it is an answer.
        """
        if self._thinking and thinks:
            self.tokens += sum(tokens for _, tokens in self._heard)

    def _count(self, thoughts: list[str]) -> list[tuple[str, int]]:
        """Gives back what was heard after the last of them."""
        # Pieces are trimmed, and may hold white space of a text that was counted before.
        first, last = thoughts[0].strip(), thoughts[-1].strip()
        whole = "".join(text for text, _ in self._heard)
        begin = 0 if self._thinking else max(whole.find(first), 0)
        found = whole.find(last, begin)
        end = found + len(last) if found >= 0 else len(whole)
        at = 0
        after = []
        for text, tokens in self._heard:
            if at >= end:
                after.append((text, tokens))
            elif at + len(text) > begin:
                self.tokens += tokens
            at += len(text)
        return after
