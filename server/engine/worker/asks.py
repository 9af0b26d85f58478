"""Questions beside generation: tokens of a text, a rendered prompt, vectors, figures."""

from collections.abc import Callable
from typing import Any

from server.engine.wire import Job
from server.engine.worker.embed import Embedder
from server.engine.worker.prepare import JOB_FIELDS, Preparer
from server.engine.worker.refusals import Refused
from server.engine.worker.scheduler import Scheduler
from server.engine.worker.vocabulary import Vocabulary

Question = dict[str, Any]


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
        self._known: dict[str, Callable[[Question], Any]] = {
            "tokenize": self._tokenize,
            "detokenize": self._detokenize,
            "render": self._render,
            "embed": self._embed,
            "rerank": self._rerank,
            "stats": self._stats,
            "template": lambda _question: try_template(),
        }

    def answer(self, what: str, question: Question) -> Any:
        if what not in self._known:
            raise Refused("invalid_request", f"The worker does not know '{what}'.")
        return self._known[what](question)

    def _tokenize(self, question: Question) -> list[int]:
        special = bool(question.get("special", True))
        tokens: list[int] = self._vocabulary.tokenize(question["text"], special=special).tolist()
        return tokens

    def _detokenize(self, question: Question) -> str:
        return self._vocabulary.detokenize(question["tokens"])

    def _render(self, question: Question) -> str:
        job = question.get("job", question)
        return self._preparer.render(Job(**{k: v for k, v in job.items() if k in JOB_FIELDS}))

    def _embed(self, question: Question) -> dict[str, Any]:
        vectors, tokens = self._embedder.embed(question["texts"])
        return {"vectors": vectors, "tokens": tokens}

    def _rerank(self, question: Question) -> dict[str, Any]:
        scores, tokens, method = self._embedder.rerank(question["query"], question["documents"])
        return {"scores": scores, "tokens": tokens, "method": method}

    def _stats(self, _question: Question) -> dict[str, Any]:
        return self._scheduler.stats()
