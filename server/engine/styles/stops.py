"""Stop texts in what is said to the client; in thoughts, calls and marks they do not count."""

from collections.abc import Sequence

from server.engine.styles.marks import first_of, held_back
from server.events import Piece, TextDelta


class Stops:
    """Passes pieces on up to the first of the texts, whatever the cuts; `met` says which."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.met: str | None = None
        self._texts = tuple(filter(None, texts))
        self._held = TextDelta("")

    def see(self, pieces: Sequence[Piece]) -> list[Piece]:
        if not self._texts:
            return list(pieces)
        passed: list[Piece] = []
        for piece in pieces:
            if self.met is not None:
                break
            passed += self._said(piece) if isinstance(piece, TextDelta) else [*self.rest(), piece]
        return passed

    def rest(self) -> list[Piece]:
        """What was held back is text after all."""
        held, self._held = self._held, TextDelta("")
        return [held] if held.text or held.logprobs else []

    def _said(self, piece: TextDelta) -> list[Piece]:
        text, tokens = self._held.text + piece.text, self._held.logprobs + piece.logprobs
        found = first_of(text, self._texts)
        cut = len(text) - held_back(text, self._texts)
        if found:
            cut, self.met = found
        at = count = 0
        while count < len(tokens) and at < cut:
            at += len(tokens[count].text)
            count += 1
        self._held = TextDelta("") if found else TextDelta(text[cut:], tokens[count:])
        return [TextDelta(text[:cut], tokens[:count])] if cut else []
