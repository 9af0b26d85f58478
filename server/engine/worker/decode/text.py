"""From tokens' bytes to text that may be shown: whole characters, and no part of a stop string."""

import codecs


class TextOut:
    """Feed it bytes; take `ready` text. It holds back what may turn out to be a stop string."""

    def __init__(self, stops: tuple[str, ...] = ()) -> None:
        self.ready = ""
        self.met: str | None = None
        """The stop string that was found."""
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def stopped(self) -> bool:
        return self.met is not None

    @property
    def holds(self) -> bool:
        return bool(self._held) or bool(self._decoder.getstate()[0])

    def feed(self, piece: bytes) -> None:
        text = self._decoder.decode(piece)
        if not self._stops:
            self.ready += text
            return
        text = self._held + text
        cut = first_stop(text, self._stops)
        if cut >= 0:
            self.met = next(stop for stop in self._stops if text.startswith(stop, cut))
            self.ready += text[:cut]
            self._held = ""
            return
        keep = unfinished_stop(text, self._stops)
        self.ready += text[: len(text) - keep]
        self._held = text[len(text) - keep :]

    def take(self) -> str:
        text, self.ready = self.ready, ""
        return text

    def finish(self) -> None:
        """No more bytes come: what was held back is text after all."""
        if not self.stopped:
            self.ready += self._held + self._decoder.decode(b"", final=True)
        self._held = ""


def first_stop(text: str, stops: tuple[str, ...]) -> int:
    """Where the earliest stop string begins; -1 if there is none."""
    return min((at for at in (text.find(stop) for stop in stops) if at >= 0), default=-1)


def unfinished_stop(text: str, stops: tuple[str, ...]) -> int:
    """The length of the longest end of `text` that could become a stop string."""
    longest = 0
    for stop in stops:
        for size in range(min(len(stop) - 1, len(text)), longest, -1):
            if text.endswith(stop[:size]):
                longest = size
                break
    return longest
