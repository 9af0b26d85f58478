"""Questions beside generation: tokens of a text, a rendered prompt, vectors, figures."""

from collections.abc import Callable
from typing import Any

from server.engine.wire import Job
from server.engine.worker.prompt.embed import Embedder
from server.engine.worker.prompt.prepare import JOB_FIELDS, IsWanted, Preparer
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.refusals import Refused
from server.engine.worker.schedule.scheduler import Scheduler

Question = dict[str, Any]
MOST_CHARS = 4_000_000
MOST_TOKENS = 4_000_000
"""What a question to the tokeniser may hold: its answer travels as one frame."""


class Asks:
    def __init__(
        self,
        vocabulary: Vocabulary,
        preparer: Preparer,
        embedder: Embedder,
        scheduler: Scheduler,
        try_template: Callable[[], dict[str, Any]],
    ) -> None:
        self._vocabulary = vocabulary
        self._preparer = preparer
        self._embedder = embedder
        self._scheduler = scheduler
        self._known: dict[str, Callable[[Question, IsWanted], Any]] = {
            "tokenize": self._tokenize,
            "detokenize": self._detokenize,
            "render": self._render,
            "embed": self._embed,
            "rerank": self._rerank,
            "stats": self._stats,
            "template": lambda _question, _is_wanted: try_template(),
        }

    def answer(self, what: str, question: Question, is_wanted: IsWanted) -> Any:
        if what not in self._known:
            raise Refused("invalid_request", f"The worker does not know '{what}'.")
        return self._known[what](question, is_wanted)

    def _tokenize(self, question: Question, is_wanted: IsWanted) -> list[int]:
        text, special = question["text"], bool(question.get("special", True))
        if len(text) > MOST_CHARS:
            raise Refused("invalid_request", f"At most {MOST_CHARS} characters are tokenised.")
        found = self._vocabulary.tokenize(text, special=special, is_wanted=is_wanted)
        tokens: list[int] = found.tolist()
        return tokens

    def _detokenize(self, question: Question, _is_wanted: IsWanted) -> str:
        if len(question["tokens"]) > MOST_TOKENS:
            raise Refused("invalid_request", f"At most {MOST_TOKENS} tokens are read at once.")
        return self._vocabulary.detokenize(question["tokens"])

    def _render(self, question: Question, _is_wanted: IsWanted) -> str:
        job = question.get("job", question)
        return self._preparer.render(Job(**{k: v for k, v in job.items() if k in JOB_FIELDS}))

    def _embed(self, question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        vectors, tokens = self._embedder.embed(question["texts"])
        return {"vectors": vectors, "tokens": tokens}

    def _rerank(self, question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        scores, tokens, method = self._embedder.rerank(question["query"], question["documents"])
        return {"scores": scores, "tokens": tokens, "method": method}

    def _stats(self, _question: Question, _is_wanted: IsWanted) -> dict[str, Any]:
        return self._scheduler.stats()
