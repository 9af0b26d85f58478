"""An engine on another machine: any server that speaks OpenAI's protocol, by its URL."""

import base64
import json
import time
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

from server.chat import (
    ChatRequest,
    Constraint,
    Image,
    Json,
    Message,
    Prompt,
    Sampling,
    Tool,
    ToolCall,
)
from server.engine.base import Embeddings, LoadState, ModelFacts, Ranking
from server.errors import (
    AppError,
    BadRequest,
    Busy,
    ContextOverflow,
    EngineCrashed,
    ModelLoadFailed,
    NotSupported,
)
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    Pieces,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
    Usage,
)
from server.observe import Value
from server.sizes import MIB
from server.sse import Sent, TooLong, read_events

NO_GRAMMAR = "The engine on the other machine takes only a JSON schema, and only for a chat."
NO_INFILL = "The engine on the other machine cannot fill a gap in a text."
_EXTRAS = {
    "top_k": ("top_k",),
    "min_p": ("min_p",),
    "typical_p": ("typical_p",),
    "repeat_penalty": ("repeat_penalty", "repetition_penalty"),
    "dry_multiplier": ("dry_multiplier",),
    "xtc_probability": ("xtc_probability",),
    "xtc_threshold": ("xtc_threshold",),
    "ignore_eos": ("ignore_eos",),
}
"""Our name: theirs, in llama-server and vLLM. Sent only when asked for: others refuse them."""


def body_of(request: ChatRequest, model: str) -> Json:
    body = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling),
        **_limits(request),
    }
    if request.infill is not None:
        raise NotSupported(NO_INFILL)
    if request.prompt is not None:
        if request.constraint is not None:
            raise NotSupported(NO_GRAMMAR)
        return body | {"prompt": request.prompt}
    body["messages"] = [_message(message) for message in request.messages]
    if request.continues:
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.template_options:
        body["chat_template_kwargs"] = dict(request.template_options)
    if request.constraint is not None:
        body["response_format"] = _response_format(request.constraint)
    return body | _tools(request)


def _limits(request: ChatRequest) -> Json:
    body: Json = {}
    if request.max_tokens is not None:
        body["max_tokens"] = request.max_tokens
    if request.stop:
        body["stop"] = list(request.stop)
    if request.top_logprobs is not None:
        if request.prompt is not None:
            body["logprobs"] = request.top_logprobs
        else:
            body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    return body


def _sampling(sampling: Sampling) -> Json:
    usual = Sampling()
    body: Json = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "frequency_penalty": sampling.frequency_penalty,
        "presence_penalty": sampling.presence_penalty,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.logit_bias:
        body["logit_bias"] = {str(token): bias for token, bias in sampling.logit_bias}
    for ours, theirs in _EXTRAS.items():
        wanted = getattr(sampling, ours)
        if wanted != getattr(usual, ours):
            body |= dict.fromkeys(theirs, wanted)
    return body


def _message(message: Message) -> Json:
    body: Json = {"role": message.role, "content": _content(message)}
    if message.name is not None:
        body["name"] = message.name
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        body["tool_calls"] = [_call(call) for call in message.tool_calls]
    if message.reasoning:
        body["reasoning_content"] = message.reasoning
    return body


def _content(message: Message) -> str | list[Json]:
    if not message.images:
        return message.content
    return [_part(part) for part in message.parts()]


def _part(part: str | Image) -> Json:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{data}"}}


def _call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _tools(request: ChatRequest) -> Json:
    choice = request.tool_choice
    tools = [tool for tool in request.tools if not choice.names or tool.name in choice.names]
    if not tools or choice.mode == "none":
        return {}
    # Only the tools it may call are shown: llama-server does not read a choice by name.
    return {
        "tools": [_tool(tool) for tool in tools],
        "tool_choice": choice.mode,
        "parallel_tool_calls": request.parallel_calls,
    }


def _tool(tool: Tool) -> Json:
    function: Json = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
    }
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _response_format(constraint: Constraint) -> Json:
    if constraint.kind != "json_schema":
        raise NotSupported(NO_GRAMMAR)
    schema = {
        "name": "answer",
        "schema": json.loads(constraint.source),
        "strict": constraint.strict,
    }
    return {"type": "json_schema", "json_schema": schema}


DONE = "[DONE]"
LONGEST_EVENT = 8 * MIB
_REASONS: dict[str, StopReason] = {
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


@dataclass(slots=True)
class _Call:
    index: int
    id: str
    name: str
    arguments: str = ""


class RemoteAnswer:
    """Feed it chunks, then `finish` it. `reason` is None until the server said that it ended.

    A chunk of another shape is one of the errors Python has for that.
    """

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        self._usage = Usage()
        self._calls: dict[int, _Call] = {}
        self._open: _Call | None = None

    @property
    def lacks_call(self) -> bool:
        """It ended by itself and without a tool call."""
        return self.reason == "stop" and not self._calls

    def feed(self, chunk: Json) -> list[Piece]:
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        pieces: list[Piece] = []
        for choice in chunk.get("choices", ())[:1]:
            pieces += self._choice(choice)
        return pieces

    def finish(self) -> list[Piece]:
        assert self.reason
        reason: StopReason = "tool_calls" if self._calls and self.reason == "stop" else self.reason
        return [*self._close_call(), Finished(reason, self._usage)]

    def _choice(self, choice: Json) -> list[Piece]:
        delta = choice.get("delta") or {}
        pieces: list[Piece] = []
        if reasoning := delta.get("reasoning_content") or delta.get("reasoning"):
            pieces.append(ReasoningDelta(text_of(reasoning)))
        text = text_of(delta.get("content") or choice.get("text") or "")
        logprobs = _logprobs(choice.get("logprobs"))
        if text or logprobs:
            pieces.append(TextDelta(text, logprobs))
        for call in delta.get("tool_calls") or ():
            pieces += self._call(call)
        if choice.get("finish_reason"):
            self.reason = _REASONS.get(choice["finish_reason"], "stop")
        return pieces

    def _call(self, delta: Json) -> list[Piece]:
        index = int(delta.get("index", 0))
        function = delta.get("function") or {}
        pieces: list[Piece] = []
        call = self._calls.get(index)
        if call is None:
            pieces += self._close_call()
            name = text_of(function.get("name") or "")
            call = _Call(index, text_of(delta.get("id") or f"call_{index}"), name)
            self._calls[index] = self._open = call
            pieces.append(CallOpened(index, call.id, call.name))
        if arguments := function.get("arguments"):
            call.arguments += text_of(arguments)
            pieces.append(CallArguments(index, arguments))
        return pieces

    def _close_call(self) -> list[Piece]:
        call, self._open = self._open, None
        if call is None:
            return []
        try:
            arguments = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError):
            arguments = None
        valid = isinstance(arguments, dict)
        made = ToolCall(call.id, call.name, arguments if isinstance(arguments, dict) else {})
        return [ToolCallRequested(made, valid)]


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _usage(usage: Json) -> Usage:
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=int(usage.get("prompt_tokens") or 0),
        cached_tokens=int(prompt.get("cached_tokens") or 0),
        completion_tokens=int(usage.get("completion_tokens") or 0),
        reasoning_tokens=int(completion.get("reasoning_tokens") or 0),
    )


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...]:
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    return tuple(_logprob(row) for row in rows or ())


def _logprob(row: Json) -> TokenLogprob:
    token = text_of(row.get("token") or "")
    raw = row.get("bytes")
    return TokenLogprob(
        token,
        bytes(raw) if raw is not None else token.encode(),
        float(row.get("logprob") or 0.0),
        tuple(_logprob(top) for top in row.get("top_logprobs") or ()),
    )


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
            aclosing(self._events(response)) as events,
        ):
            async for sent in events:
                if sent.data.strip() == DONE:
                    break
                with self._as_expected():
                    pieces = answer.feed(self._chunk(sent.data))
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

    async def _events(self, response: Response) -> AsyncGenerator[Sent, None]:
        try:
            async with aclosing(read_events(response.content.iter_any(), LONGEST_EVENT)) as events:
                async for sent in events:
                    yield sent
        except TooLong as error:
            text = f"The engine at {self._remote.host} sent an unexpected answer."
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
