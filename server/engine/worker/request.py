"""One generation, prepared: everything the scheduler needs, nothing it must still work out."""

from dataclasses import dataclass, field
from time import perf_counter

from server.chat import Sampling
from server.engine.worker.batch import Tokens
from server.engine.worker.constrained import Constrained


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
    cancelled: bool = False
    submitted_at: float = field(default_factory=perf_counter)
