"""An engine on another machine of the house: any server that speaks OpenAI's protocol, by URL."""

import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from server.chat import ChatRequest, Json, Prompt
from server.engine.base import Embeddings, LoadState, ModelFacts, Ranking
from server.engine.elsewhere.body import body_of
from server.engine.elsewhere.stream import DONE, RemoteAnswer, data_lines, text_of
from server.errors import (
    AppError,
    BadRequest,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    NotSupported,
)
from server.events import Finished, Pieces
from server.observe import Value

REASON = "the engine on another machine"
_FULL = (429, 503)


class Body(Protocol):
    def iter_any(self) -> AsyncIterator[bytes]: ...


class Response(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def content(self) -> Body: ...
    async def text(self) -> str: ...


class Door(Protocol):
    """The one door out; `failures` are what it raises when the way is broken."""

    @property
    def failures(self) -> tuple[type[Exception], ...]: ...
    def request(
        self, method: str, url: str, reason: str, **options: Any
    ) -> AbstractAsyncContextManager[Response]: ...


@dataclass(frozen=True, slots=True)
class Remote:
    """`url` as clients are given it, with its /v1. `model` empty: the first that it serves."""

    url: str
    model: str = ""

    @property
    def root(self) -> str:
        return self.url.rstrip("/").removesuffix("/v1")

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]


class RemoteEngine:
    def __init__(self, remote: Remote, door: Door, key: Callable[[], str] = str) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self._remote = remote
        self._door = door
        self._key = key

    async def load(self) -> None:
        if self.state.get().phase == "ready":
            return
        self.state.set(LoadState("loading"))
        try:
            served = await self._call("GET", "/v1/models")
            with self._as_expected():
                self.facts = self._choose(served["data"])
        except AppError as error:
            self.state.set(LoadState("failed", 0.0, str(error)))
            raise ModelLoadFailed(str(error)) from error
        self.state.set(LoadState("ready", 1.0))

    async def close(self) -> None:
        self.state.set(LoadState())

    async def generate(self, request: ChatRequest) -> Pieces:
        await self.load()
        path = "/v1/chat/completions" if request.prompt is None else "/v1/completions"
        answer = RemoteAnswer()
        began = first = time.monotonic()
        async with (
            self._open("POST", path, body_of(request, self.facts.name)) as response,
            aclosing(data_lines(response.content.iter_any())) as lines,
        ):
            async for line in lines:
                if line == DONE:
                    break
                with self._as_expected():
                    pieces = answer.feed(self._chunk(line))
                for piece in pieces:
                    first = first if first > began else time.monotonic()
                    yield piece
        if answer.reason is None:
            raise EngineCrashed(f"The engine at {self._remote.host} ended the answer early.")
        if answer.lacks_call and request.tools and request.tool_choice.mode == "required":
            raise EngineCrashed(
                f"The engine at {self._remote.host} called no tool although it must."
            )
        for piece in answer.finish():
            yield _timed(piece, began, first) if isinstance(piece, Finished) else piece

    async def apply_template(self, request: ChatRequest) -> str:
        body = body_of(replace(request, prompt=None), self.facts.name)
        found = await self._own("/apply-template", body)
        with self._as_expected():
            return text_of(found["prompt"])

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        # llama-server reads the first pair of names, vLLM the second.
        body = {"content": text, "parse_special": special}
        body |= {"prompt": text, "add_special_tokens": False, "model": self.facts.name}
        found = await self._own("/tokenize", body)
        with self._as_expected():
            return [int(token) for token in found["tokens"]]

    async def detokenize(self, tokens: Sequence[int]) -> str:
        found = await self._own("/detokenize", {"tokens": list(tokens), "model": self.facts.name})
        with self._as_expected():
            return text_of(found["content"] if "content" in found else found["prompt"])

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        await self.load()
        body = {"model": self.facts.name, "query": query, "documents": list(documents)}
        found = await self._call("POST", "/v1/rerank", body)
        with self._as_expected():
            scores = {int(row["index"]): float(row["relevance_score"]) for row in found["results"]}
            usage = found.get("usage") or {}
            ordered = [scores[at] for at in range(len(documents))]
            return Ranking(ordered, int(usage.get("total_tokens") or 0), "rank")

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        await self.load()
        body = {"model": self.facts.name, "input": list(texts)}
        found = await self._call("POST", "/v1/embeddings", body)
        with self._as_expected():
            rows = sorted(found["data"], key=lambda row: int(row["index"]))
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
            used = found.get("usage") or {}
            return Embeddings(vectors, int(used.get("prompt_tokens") or 0))

    async def stats(self) -> dict[str, Any]:
        return {}

    async def _own(self, path: str, body: Json) -> Json:
        """What is no part of OpenAI's protocol: some servers have it."""
        await self.load()
        try:
            return await self._call("POST", path, body)
        except (BadRequest, NotSupported) as error:
            text = f"The engine at {self._remote.host} has no {path}."
            raise NotSupported(text) from error

    async def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        async with self._open(method, path, body) as response:
            text = await response.text()
        return self._chunk(text)

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Json | None) -> AsyncIterator[Response]:
        # A kept connection that the server dropped meanwhile would look like a dead server.
        headers = {"Connection": "close"}
        if key := self._key():
            headers["Authorization"] = f"Bearer {key}"
        options: Json = {"headers": headers}
        if body is not None:
            options["json"] = body
        url = self._remote.root + path
        try:
            async with self._door.request(method, url, REASON, **options) as response:
                if response.status >= 400:
                    raise self._error(response.status, await response.text())
                yield response
        except self._door.failures as error:
            text = f"The engine at {self._remote.host} cannot be reached or broke off."
            self.state.set(LoadState("failed", 0.0, text))
            raise EngineCrashed(text) from error

    @contextmanager
    def _as_expected(self) -> Iterator[None]:
        """Another shape than the protocol's is that engine's fault, not ours."""
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            text = f"The engine at {self._remote.host} sent an unexpected answer."
            raise EngineCrashed(text) from error

    def _chunk(self, text: str) -> Json:
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError) as error:
            text = f"The engine at {self._remote.host} sent something that is no JSON."
            raise EngineCrashed(text) from error
        if not isinstance(chunk, dict):
            raise EngineCrashed(f"The engine at {self._remote.host} sent an unexpected answer.")
        if chunk.get("error"):
            raise self._error(500, text)
        return chunk

    def _error(self, status: int, text: str) -> AppError:
        facts = _error_facts(text)
        message = str(facts.get("message") or f"status {status}")
        needed, available = facts.get("n_prompt_tokens"), facts.get("n_ctx")
        if isinstance(needed, int) and isinstance(available, int):
            return ContextOverflow(needed, available)
        if status in _FULL:
            return Busy(0)
        if status in (401, 403):
            return EngineCrashed(f"The engine at {self._remote.host} does not accept our key.")
        if status in (404, 405, 501):
            return NotSupported(f"The engine at {self._remote.host} says: {message}")
        if status < 500:
            return BadRequest(f"The engine at {self._remote.host} says: {message}")
        return EngineCrashed(f"The engine at {self._remote.host} failed: {message}")

    def _choose(self, served: list[Json]) -> ModelFacts:
        wanted = self._remote.model
        for model in served:
            if not wanted or model["id"] == wanted:
                return _facts(model)
        names = ", ".join(str(model["id"]) for model in served) or "none"
        raise BadRequest(f"The engine at {self._remote.host} serves {names}, not '{wanted}'.")


def _facts(model: Json) -> ModelFacts:
    meta = model.get("meta") or {}
    context = model.get("max_model_len") or meta.get("n_ctx") or meta.get("n_ctx_train") or 0
    return ModelFacts(
        name=model["id"],
        parameters=meta.get("n_params") or 0,
        size_bytes=meta.get("size") or 0,
        context_tokens=context,
        trained_context_tokens=meta.get("n_ctx_train") or context,
        vocabulary=meta.get("n_vocab") or 0,
        embedding_size=meta.get("n_embd") or 0,
        device="remote",
    )


def _error_facts(text: str) -> Json:
    """Servers word it as {"error": {...}}, {"error": text}, {"message": ...} or {"detail": ...}."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    if isinstance(error, dict):
        return {"message": error.get("message") or error.get("detail"), **error}
    return {"message": error}


def _timed(finished: Finished, began: float, first: float) -> Finished:
    usage = replace(finished.usage, prompt_s=first - began, decode_s=time.monotonic() - first)
    return replace(finished, usage=usage)
