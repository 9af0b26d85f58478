"""Marks in a text that is still coming."""


def first_of(text: str, marks: tuple[str, ...]) -> tuple[int, str] | None:
    hits = [(at, -len(mark), mark) for mark in marks if (at := text.find(mark)) >= 0]
    if not hits:
        return None
    at, _, mark = min(hits)
    return at, mark


def held_back(text: str, marks: tuple[str, ...]) -> int:
    """How many last characters may yet become a mark."""
    longest = min(max(map(len, marks), default=1) - 1, len(text))
    for size in range(longest, 0, -1):
        tail = text[-size:]
        if any(mark.startswith(tail) for mark in marks):
            return size
    return 0


def shared_start(*texts: str) -> str:
    """What all the texts begin with."""
    least, most = min(texts), max(texts)
    pairs = enumerate(zip(least, most, strict=False))
    return least[: next((at for at, (one, other) in pairs if one != other), len(least))]


def shared_end(*texts: str) -> str:
    """What all the texts end with."""
    return shared_start(*(text[::-1] for text in texts))[::-1]
