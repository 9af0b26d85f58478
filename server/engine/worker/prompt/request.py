"""One generation, prepared: everything the scheduler needs, nothing it must still work out."""

from dataclasses import dataclass, field
from time import perf_counter

from server.chat import Sampling
from server.engine.worker.decode.batch import Tokens
from server.engine.worker.decode.constrained import Constrained
from server.engine.worker.prompt.vision import Picture


@dataclass(eq=False, slots=True)
class Request:
    id: int
    tokens: Tokens
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stops: tuple[str, ...] = ()
    constrained: Constrained | None = None
    visible: frozenset[int] = frozenset()
    top_logprobs: int | None = None
    client: str = ""
    pictures: tuple[Picture, ...] = ()
    cancelled: bool = False
    submitted_at: float = field(default_factory=perf_counter)

    def whole_until(self, count: int) -> int:
        """As many of the first `count` places as hold no part of a picture."""
        cut = (one.start for one in self.pictures if one.start < count < one.end)
        return next(cut, count)

    def tokens_until(self, count: int) -> int:
        """What the first `count` places take in the cache: a picture may take more than places."""
        pictures = (one for one in self.pictures if one.end <= count)
        return count + sum(one.tokens - one.positions for one in pictures)
