"""How long steps take, and so how many prompt tokens may be read between two of them."""

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)
NEWER = 0.3


class Pace:
    """Learns the time of a decode step by its width, and of reading a chunk by its size."""

    def __init__(self) -> None:
        self._decode_s: dict[int, float] = {}
        self._chunk_s: dict[int, float] = {}
        self._token_s = 0.0

    def note_decode(self, answers: int, seconds: float) -> None:
        self._decode_s[answers] = _blend(self._decode_s.get(answers), seconds)

    def note_read(self, tokens: int, seconds: float) -> None:
        size = next((size for size in SIZES if size >= tokens), SIZES[-1])
        self._chunk_s[size] = _blend(self._chunk_s.get(size), seconds * size / tokens)
        if tokens >= 64 or not self._token_s:
            self._token_s = _blend(self._token_s or None, seconds / tokens)

    def decode_s(self, answers: int) -> float:
        """The usual time of a decode step; a guess from the nearest width known."""
        known = self._decode_s.get(answers)
        if known is not None:
            return known
        if not self._decode_s:
            return 0.0
        return self._decode_s[min(self._decode_s, key=lambda width: abs(width - answers))]

    def chunk_tokens(self, budget_s: float, most: int) -> int:
        """The largest chunk expected to fit the time; never nothing."""
        fitting = (s for s in SIZES if s <= most and self._expected_s(s) <= budget_s)
        return max(fitting, default=SIZES[0])

    def reading_s(self, tokens: int) -> float:
        return tokens * self._token_s

    def _expected_s(self, size: int) -> float:
        """Reading is bound by memory for few tokens, by computing for many."""
        known = self._chunk_s.get(size)
        return known if known is not None else max(self.decode_s(1), self.reading_s(size))


def _blend(old: float | None, new: float) -> float:
    return new if old is None else (1 - NEWER) * old + NEWER * new
