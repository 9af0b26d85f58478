"""An engine on another machine: any server that speaks OpenAI's protocol, given by its URL."""

import asyncio
import base64
import json
import math
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar
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
from server.egress import Egress, LeadsToPrivateAddress
from server.engine.base import Embeddings, LoadState, ModelFacts, Ranking, loading
from server.engine.elsewhere import calls
from server.engine.styles.base import wants_tools
from server.engine.styles.loose_calls import LooseCalls, may_call_loosely
from server.engine.styles.messages import native_call
from server.engine.styles.parameters import declare
from server.errors import (
    AppError,
    BadRequest,
    BadSchema,
    Busy,
    ContextOverflow,
    EngineCrashed,
    NotSupported,
    RedirectRefused,
)
from server.events import (
    CallArguments,
    CallOpened,
    Finished,
    Piece,
    Pieces,
    PromptProgress,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    ToolCallRequested,
    Usage,
)
from server.face.core import is_here
from server.observe import Value
from server.sentences import Sentence
from server.sizes import MIB
from server.sse import Sent, TooLong, read_events
from server.system.limits import one_line, try_json

T = TypeVar("T")
NO_GRAMMAR = Sentence(
    "The engine on the other machine takes only a JSON schema, and only for a chat."
)
NO_INFILL = Sentence("The engine on the other machine cannot fill a gap in a text.")
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
"""Our options with their names in llama-server and vLLM. Sent only if set: others refuse them."""


def body_of(request: ChatRequest, model: str, kind: str = "") -> Json:
    """Builds the body of a request. `kind` is the server program, as far as it is known."""
    body: Json = {
        "model": model,
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling),
        **_limits(request),
    }
    if kind == "llama-server" and request.sampling.seed is not None:
        # With a cached prompt, results differ in the last bits, so the same seed would not repeat
        # it.
        body["cache_prompt"] = False
    if kind == "llama-server":
        body["return_progress"] = True
    elif kind == "vllm":
        body["stream_options"]["continuous_usage_stats"] = True
    if request.infill is not None:
        raise NotSupported(NO_INFILL)
    if request.prompt is not None:
        prompt = list(request.prompt) if isinstance(request.prompt, tuple) else request.prompt
        return body | {"prompt": prompt} | _constraint(request.constraint, kind, raw=True)
    body["messages"] = [_message(message) for message in request.messages]
    if request.continues:
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.template_options:
        body["chat_template_kwargs"] = dict(request.template_options)
    return body | _constraint(request.constraint, kind, raw=False) | _tools(request, kind)


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
        body["tool_calls"] = [native_call(call, as_text=True) for call in message.tool_calls]
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


def _tools(request: ChatRequest, kind: str) -> Json:
    choice = request.tool_choice
    tools = [tool for tool in request.tools if not choice.names or tool.name in choice.names]
    if not tools or choice.mode == "none":
        return {}
    # vLLM 0.32 binds the arguments of a call that must be made only where the tool is strict.
    is_strict = kind == "vllm" and choice.mode == "required"
    # Only the tools that may be called are sent: llama-server ignores a choice by name.
    return {
        "tools": [_tool(tool, is_strict=is_strict or tool.strict) for tool in tools],
        "tool_choice": choice.mode,
        "parallel_tool_calls": request.parallel_calls,
    }


def _tool(tool: Tool, *, is_strict: bool) -> Json:
    made = declare(tool)
    if is_strict:
        made["function"]["strict"] = True
    return made


def _constraint(constraint: Constraint | None, kind: str, *, raw: bool) -> Json:
    """Returns the constraint as OpenAI's API has it, otherwise in the server's own form."""
    if constraint is None:
        return {}
    if constraint.kind == "json_schema" and not raw:
        named = {"name": "answer", "schema": json.loads(constraint.source)}
        schema = {**named, "strict": constraint.strict}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    if constraint.kind == "json_schema" and kind == "llama-server":
        return {"json_schema": json.loads(constraint.source)}
    if constraint.kind == "regex" and kind == "sglang":
        return {"regex": constraint.source}
    if constraint.kind != "lark" and kind == "vllm":
        word = "json" if constraint.kind == "json_schema" else constraint.kind
        # The first name is the current one, the second is that of versions before 0.12.
        return {
            "structured_outputs": {word: constraint.source},
            f"guided_{word}": constraint.source,
        }
    raise NotSupported(NO_GRAMMAR)


DONE = "[DONE]"
"""The data of the last event of a stream."""
LONGEST_EVENT = 8 * MIB
LONGEST_BODY = 256 * MIB
"""The limit of a whole response, in bytes. It also holds for a stream."""
MOST_TOKENS = 1 << 31
EVENTS_AT_ONCE = 16
"""After so many events in a row, other tasks get a turn."""
_REASONS: dict[str, StopReason] = {
    "length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


_BROKEN_OFF = frozenset({"error", "abort"})
"""The finish reasons with which vLLM, SGLang and gateways end an answer that failed."""
QUIET_S = 20.0
"""How long to wait for the usage and the last event after an answer has ended, in seconds."""


@dataclass(slots=True)
class _Call:
    number: int
    id: str
    name: str = ""
    arguments: str = ""


class RemoteAnswer:
    """Turns chunks of a response into pieces: `feed` each chunk, then `finish`.

    `reason` is None until the server reports the end. A malformed chunk raises TypeError or the
    like.
    """

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        self.is_broken_off = False
        self._usage = Usage()
        self._has_begun = False
        self._calls: list[_Call] = []
        self._latest: dict[int, _Call] = {}
        """The last call of each index. Some servers give all calls the same index."""
        self._open: _Call | None = None
        self._half = ""
        """The first half of a surrogate pair that a server cut in two."""

    def feed(self, chunk: Json) -> list[Piece]:
        pieces: list[Piece] = self._progress(chunk)
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        for choice in (chunk.get("choices") or ())[:1]:
            pieces += self._choice(choice)
        self._has_begun |= bool(pieces)
        return pieces

    def finish(self) -> list[Piece]:
        assert self.reason
        reason: StopReason = "tool_calls" if self._calls and self.reason == "stop" else self.reason
        return [*self._close_call(), Finished(reason, self._usage)]

    def _progress(self, chunk: Json) -> list[Piece]:
        """Returns how far the prompt is read. llama-server reports it meanwhile, vLLM once."""
        if told := chunk.get("prompt_progress"):
            return [PromptProgress(_tokens(told["processed"]), _tokens(told["total"]))]
        if self._has_begun or not chunk.get("usage"):
            return []
        read = _usage(chunk["usage"]).prompt_tokens
        return [PromptProgress(read, read)]

    def _choice(self, choice: Json) -> list[Piece]:
        delta = choice.get("delta") or choice.get("message") or {}
        pieces: list[Piece] = []
        thought, text = _split_content(delta.get("content") or choice.get("text") or "")
        if reasoning := delta.get("reasoning_content") or delta.get("reasoning") or thought:
            pieces.append(ReasoningDelta(text_of(reasoning)))
        text = self._join_halves(text)
        logprobs = _logprobs(choice.get("logprobs"))
        if text or logprobs:
            pieces.append(TextDelta(text, logprobs))
        for call in delta.get("tool_calls") or ():
            pieces += self._call(call)
        if choice.get("finish_reason"):
            self.is_broken_off = choice["finish_reason"] in _BROKEN_OFF
            self.reason = _REASONS.get(choice["finish_reason"], "stop")
        return pieces

    def _join_halves(self, text: str) -> str:
        """Joins surrogate pairs that a server cut between two chunks."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text

    def _call(self, delta: Json) -> list[Piece]:
        index = int(delta.get("index") or 0)
        id_, function = text_of(delta.get("id") or ""), delta.get("function") or {}
        name = text_of(function.get("name") or "")
        pieces: list[Piece] = []
        call = self._latest.get(index)
        if call is None or (id_ and name and id_ != call.id):
            pieces += self._close_call()
            number = len(self._calls)
            call = _Call(number, id_ or f"call_{number}")
            self._calls.append(call)
            self._latest[index] = self._open = call
        if name and not call.name:
            call.name = name
            pieces.append(CallOpened(call.number, call.id, name, is_whole=True))
            pieces += [CallArguments(call.number, call.arguments)] if call.arguments else []
        if arguments := function.get("arguments"):
            # A few servers send an object instead of JSON text.
            text = json.dumps(arguments) if isinstance(arguments, dict) else text_of(arguments)
            call.arguments += text
            pieces += [CallArguments(call.number, text)] if call.name else []
        return pieces

    def _close_call(self) -> list[Piece]:
        call, self._open = self._open, None
        if call is None:
            return []
        if not call.name:
            raise ValueError("a call without a name")
        arguments = try_json(call.arguments or "{}")
        valid = isinstance(arguments, dict)
        made = ToolCall(call.id, call.name, arguments if valid else {})
        return [ToolCallRequested(made, valid)]


def _split_content(content: Any) -> tuple[str, str]:
    """Returns a chunk's thought and its text. Mistral's servers send both as parts."""
    if not isinstance(content, list):
        return "", text_of(content)
    found = {"thinking": "", "text": ""}
    for part in content:
        kind = part.get("type")
        if kind in found:
            held = part.get(kind) or ""
            found[kind] += _split_content(held)[1]
    return found["thinking"], found["text"]


def text_of(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text was expected, not {type(value).__name__}")
    return value


def _usage(usage: Json) -> Usage:
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        cached_tokens=_tokens(prompt.get("cached_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
        reasoning_tokens=_tokens(completion.get("reasoning_tokens")),
    )


def _tokens(count: Any) -> int:
    """Returns the count, limited to a range that can be added up safely."""
    return min(max(int(count or 0), 0), MOST_TOKENS)


def _logprobs(logprobs: Any) -> tuple[TokenLogprob, ...]:
    rows = logprobs.get("content") if isinstance(logprobs, dict) else None
    return tuple(_logprob(row) for row in rows or ())


def _logprob(row: Json) -> TokenLogprob:
    token = text_of(row.get("token") or "")
    raw = row.get("bytes")
    return TokenLogprob(
        token,
        bytes(raw) if raw is not None else token.encode(),
        _likelihood(row.get("logprob")),
        tuple(_logprob(top) for top in row.get("top_logprobs") or ()),
    )


def _likelihood(value: Any) -> float:
    """Returns a finite number, as JSON has no infinity. OpenAI's API also writes -9999 instead."""
    number = float(value or 0.0)
    return number if math.isfinite(number) else LEAST_LIKELY


LEAST_LIKELY = -9999.0
REASON = Sentence("the engine on another machine")
STALL_S = 3600.0
"""In seconds, without any data. A long prompt takes time; probes check whether the server lives."""
PROBE_S = 5.0
_FULL = (429, 503)
_KINDS = {"llamacpp": "llama-server", "vllm": "vllm", "sglang": "sglang"}
"""Server programs, by the `owned_by` that they report for a model."""
MOST_TRIES = 3
"""The request itself and at most two retries with the faults added."""


API_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
"""A version of an API in the path of a URL, such as /v1 or /v1beta."""


@dataclass(frozen=True, slots=True)
class Remote:
    """The address of a server and what is known about it.

    `url` is that of other clients: it ends in /v1, which may be missing, or in another version of
    the API. An empty `model` means the first one that it serves. Values other than 0 and None
    override what the server reports.
    """

    url: str
    model: str = ""
    reason: str = REASON
    context_tokens: int = 0
    parameters: int = 0
    sees_images: bool | None = None
    reads_calls: bool = True
    """Whether the server parses the model's tool calls. Otherwise we do."""

    def address_of(self, path: str) -> str:
        """Returns the address of an endpoint. Those of OpenAI's protocol begin with /v1 here."""
        base = self.url.rstrip("/")
        version = API_VERSION.search(urlsplit(base).path)
        if version is None:
            return base + path
        if path.startswith("/v1/"):
            return base + path.removeprefix("/v1")
        return base.removesuffix(version[0]) + path

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]


class UnexpectedAnswer(EngineCrashed):
    """Raised when a server's response does not follow the protocol."""


class Silent(EngineCrashed):
    """Raised when a server does not answer in time. Perhaps it is only slow."""

    def __init__(self, host: str) -> None:
        super().__init__(Sentence("The engine at {0} does not answer.", host))


async def _no_key() -> str:
    return ""


class RemoteEngine:
    """A model on another machine, behind OpenAI's protocol. `key` returns the key or ""."""

    def __init__(
        self, remote: Remote, door: Egress, key: Callable[[], Awaitable[str]] = _no_key
    ) -> None:
        self.facts = ModelFacts()
        self.state: Value[LoadState] = Value(LoadState())
        self._remote = remote
        self._door = door
        self._key = key
        self._lacks: set[str] = set()
        """Paths outside the protocol that the server turned out not to have."""

    @property
    def host(self) -> str:
        return self._remote.host

    @property
    def kind(self) -> str:
        """The server program, if known: "llama-server", "vllm" or "sglang"."""
        found: str = self.facts.extra.get("kind", "")
        return found

    async def load(self) -> None:
        if self.state.get().phase == "ready":
            return
        with loading(self.state):
            served = await self._call("GET", "/v1/models")
            with self._as_expected():
                chosen = self._choose(served["data"])
                kind = _KINDS.get(chosen.get("owned_by") or "", "")
            properties = await self._ask_properties() if kind == "llama-server" else {}
            with self._as_expected():
                self.facts = _facts(chosen, properties, self._remote, kind)

    async def find_facts(self) -> ModelFacts:
        await self.load()
        return self.facts

    async def close(self) -> None:
        self._lacks.clear()
        self.state.set(LoadState())

    async def probe(self, patience_s: float = PROBE_S) -> None:
        """Raises an AppError unless the server lists its models within that time."""
        try:
            async with asyncio.timeout(patience_s):
                await self._call("GET", "/v1/models")
        except TimeoutError:
            raise Silent(self.host) from None

    async def generate(self, request: ChatRequest) -> Pieces:
        await self.load()
        if request.is_raw:
            answer = self._stream(request)
        elif wants_tools(request):
            answer = self._with_calls(request)
        elif request.constraint is not None and request.constraint.kind == "json_schema":
            is_bound = self.kind and calls.can_be_bound(request)
            answer = self._bound(request) if is_bound else self._with_schema(request)
        else:
            answer = self._stream(request)
        async with aclosing(answer) as pieces:
            async for piece in pieces:
                yield piece

    async def _stream(self, request: ChatRequest) -> Pieces:
        """Yields an answer as the server sends it."""
        path = "/v1/chat/completions" if request.prompt is None else "/v1/completions"
        answer = RemoteAnswer()
        began = first = time.monotonic()
        async with (
            self._open("POST", path, body_of(request, self.facts.name, self.kind)) as response,
            aclosing(self._chunks(response, answer)) as chunks,
        ):
            async for chunk in chunks:
                with self._as_expected():
                    pieces = answer.feed(chunk)
                for piece in pieces:
                    if first == began and not isinstance(piece, PromptProgress):
                        first = time.monotonic()
                    if isinstance(piece, CallOpened) and not wants_tools(request):
                        raise self._unexpected("a call of a tool that was not offered")
                    yield piece
        if answer.reason is None:
            raise EngineCrashed(Sentence("The engine at {0} ended the answer early.", self.host))
        with self._as_expected():
            last = answer.finish()
        for piece in last:
            yield _timed(piece, began, first) if isinstance(piece, Finished) else piece

    async def _chunks(self, response: Any, answer: RemoteAnswer) -> AsyncGenerator[Json, None]:
        """Yields chunks until the end. Some servers only fall silent; some send a single answer."""
        if response.headers.get("Content-Type", "").startswith("application/json"):
            yield self._chunk(await self._read(response))
            return
        async with aclosing(self._events(response)) as events:
            while True:
                try:
                    async with asyncio.timeout(QUIET_S if answer.reason else None):
                        sent = await anext(events, None)
                except TimeoutError:
                    return
                if sent is None or sent.data.strip() == DONE:
                    return
                if sent.event == "error":
                    raise self._error(500, sent.data)
                yield self._chunk(sent.data)
                if answer.is_broken_off:
                    raise EngineCrashed(
                        Sentence("The engine at {0} ended the answer early.", self.host)
                    )

    async def _read_by_both(self, request: ChatRequest) -> Pieces:
        """Yields an answer with the calls that the server parsed, and calls found in its text.

        A server's parser reads one form; small models also write others.
        """
        found = LooseCalls(request) if may_call_loosely(request) else None
        async with aclosing(self._stream(request)) as pieces:
            async for piece in pieces:
                if found is None or isinstance(piece, PromptProgress):
                    yield piece
                elif isinstance(piece, Finished):
                    for read in found.rest():
                        yield read
                    is_call = found.count and piece.reason == "stop"
                    yield replace(piece, reason="tool_calls") if is_call else piece
                else:
                    for read in found.see([piece]):
                        yield read

    async def _read_by_us(self, request: ChatRequest) -> Pieces:
        """Yields an answer in our own form of calls, enforced by a schema and parsed here."""
        parser = calls.parser_of(request)
        async with aclosing(self._stream(calls.bind(request))) as pieces:
            async for piece in pieces:
                match piece:
                    case TextDelta(text, logprobs):
                        for read in parser.feed(text, logprobs):
                            yield read
                    case Finished(reason, usage):
                        for read in parser.end(reason, usage):
                            yield read
                    case _:
                        yield piece

    async def _with_calls(self, request: ChatRequest) -> Pieces:
        """Yields an answer whose calls fit their schemas. Other calls are requested again."""
        is_theirs = self._remote.reads_calls and self.facts.extra.get("reads_calls", True)
        answer = self._read_by_both if is_theirs else self._read_by_either
        asked, used = request, Usage()
        for turn in range(MOST_TRIES):
            is_theirs = answer == self._read_by_both
            checked = calls.CheckedCalls(asked, self._binds_calls(asked, is_theirs))
            async with aclosing(answer(asked)) as pieces:
                async for piece in pieces:
                    for fitting in checked.see(piece):
                        # Text beside a call was already passed on in the first try.
                        if not turn or not isinstance(fitting, TextDelta | ReasoningDelta):
                            yield fitting
            assert checked.end
            used += checked.end.usage
            if not checked.faults:
                yield replace(checked.end, usage=used)
                return
            if checked.is_final:
                break
            asked, answer = checked.ask_again(), self._read_by_either
            asked = calls.narrow(asked) if turn == MOST_TRIES - 2 else asked
        fault = checked.faults[0]
        if fault == calls.NO_CALL:
            raise EngineCrashed(
                Sentence("The engine at {0} called no tool although it must.", self.host)
            )
        raise EngineCrashed(
            Sentence("The engine at {0} made a call that does not fit: {1}.", self.host, fault)
        )

    def _binds_calls(self, request: ChatRequest, is_theirs: bool) -> bool:
        """Whether calls are bound to their schemas while they are written.

        vLLM and SGLang do not enforce the schema of a call that is optional.
        """
        is_free = is_theirs and request.tool_choice.mode != "required"
        return bool(self.kind) and (self.kind == "llama-server" or not is_free)

    async def _read_by_either(self, request: ChatRequest) -> Pieces:
        """Yields an answer parsed here; if the server refuses schemas, one parsed by the server."""
        answer, begun = self._read_by_us, False
        while True:
            try:
                async with aclosing(answer(request)) as pieces:
                    async for piece in pieces:
                        begun |= not isinstance(piece, PromptProgress)
                        yield piece
            except (BadRequest, NotSupported):
                if begun or answer == self._stream:
                    raise
                answer = self._stream
            else:
                return

    async def _bound(self, request: ChatRequest) -> Pieces:
        """Yields an answer while it arrives. The server enforces the schema; we check it."""
        text = ""
        async with aclosing(self._stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, TextDelta):
                    text += piece.text
                elif (
                    isinstance(piece, Finished)
                    and piece.reason != "length"
                    and (fault := calls.find_fault(text, request))
                ):
                    raise self._broke_schema(fault)
                yield piece

    def _broke_schema(self, fault: str) -> EngineCrashed:
        return EngineCrashed(
            Sentence("The engine at {0} does not keep to the JSON schema: {1}.", self.host, fault)
        )

    async def _with_schema(self, request: ChatRequest) -> Pieces:
        """Yields an answer that fits its schema. It is held back until that is certain."""
        used, asked = Usage(), request
        for turn in range(MOST_TRIES):
            async with aclosing(self._stream(asked)) as pieces:
                *held, last = [piece async for piece in pieces]
            assert isinstance(last, Finished)
            end = last
            used += end.usage
            text = "".join(piece.text for piece in held if isinstance(piece, TextDelta))
            fault = "" if end.reason == "length" else calls.find_fault(text, request)
            if not fault:
                for piece in (*held, replace(end, usage=used)):
                    yield piece
                return
            asked = calls.ask_for_json(request, text, fault)
            asked = calls.narrow(asked) if turn == MOST_TRIES - 2 else asked
        if not calls.can_be_bound(request):
            text = Sentence(
                "The engine at {0} cannot keep to the JSON schema: {1}.", self.host, fault
            )
            raise BadSchema(text, _param(request))
        raise self._broke_schema(fault)

    async def apply_template(self, request: ChatRequest) -> str:
        await self.load()
        body = body_of(replace(request, prompt=None), self.facts.name)
        return await self._own("/apply-template", body, lambda found: text_of(found["prompt"]))

    async def tokenize(self, text: str, *, special: bool = True) -> list[int]:
        await self.load()
        # llama-server reads the first two names, vLLM the others.
        body = {"content": text, "parse_special": special}
        body |= {"prompt": text, "add_special_tokens": False, "model": self.facts.name}
        return await self._own(
            "/tokenize", body, lambda found: [int(token) for token in found["tokens"]]
        )

    async def detokenize(self, tokens: Sequence[int]) -> str:
        await self.load()
        body = {"tokens": list(tokens), "model": self.facts.name}
        return await self._own(
            "/detokenize",
            body,
            lambda found: text_of(found["content" if "content" in found else "prompt"]),
        )

    async def rerank(self, query: str, documents: Sequence[str]) -> Ranking:
        await self.load()
        body = {"model": self.facts.name, "query": query, "documents": list(documents)}
        found = await self._call("POST", "/v1/rerank", body)
        with self._as_expected():
            scores = {
                int(row["index"]): _number(row["relevance_score"]) for row in found["results"]
            }
            usage = found.get("usage") or {}
            ordered = [scores[at] for at in range(len(documents))]
            return Ranking(ordered, _tokens(usage.get("total_tokens")), "rank")

    async def embed(self, texts: Sequence[Prompt]) -> Embeddings:
        await self.load()
        body = {"model": self.facts.name, "input": list(texts)}
        found = await self._call("POST", "/v1/embeddings", body)
        with self._as_expected():
            rows = {int(row["index"]): row["embedding"] for row in found["data"]}
            vectors = [list(map(_number, rows[at])) for at in range(len(texts))]
            if len({len(vector) for vector in vectors}) > 1:
                raise ValueError("vectors of different lengths")
            used = found.get("usage") or {}
            return Embeddings(vectors, _tokens(used.get("prompt_tokens")))

    async def stats(self) -> dict[str, Any]:
        return {}

    async def _ask_properties(self) -> Json:
        """Returns llama-server's properties; empty if a proxy in front of it blocks them."""
        try:
            return await self._call("GET", "/props")
        except (BadRequest, NotSupported, EngineCrashed):
            return {}

    async def _own(self, path: str, body: Json, read: Callable[[Json], T]) -> T:
        """Calls an endpoint outside OpenAI's protocol. Raises `NotSupported` if it is missing."""
        lacking = NotSupported(Sentence("The engine at {0} has no {1}.", self.host, path))
        if path in self._lacks:
            raise lacking
        try:
            found = await self._call("POST", path, body)
            with self._as_expected():
                return read(found)
        except BadRequest as error:
            raise lacking from error
        except (NotSupported, UnexpectedAnswer) as error:
            self._lacks.add(path)
            raise lacking from error

    async def _call(self, method: str, path: str, body: Json | None = None) -> Json:
        async with self._open(method, path, body) as response:
            return self._chunk(await self._read(response))

    async def _read(self, response: Any) -> str:
        async with aclosing(self._parts(response)) as parts:
            return b"".join([part async for part in parts]).decode(errors="replace")

    async def _parts(self, response: Any) -> AsyncGenerator[bytes, None]:
        size = 0
        async for part in response.content.iter_any():
            size += len(part)
            if size > LONGEST_BODY:
                raise self._unexpected("an answer without end")
            yield part

    @asynccontextmanager
    async def _open(self, method: str, path: str, body: Json | None) -> AsyncIterator[Any]:
        # A kept connection that the server has closed meanwhile would look like a dead server.
        headers = {"Connection": "close", "Accept-Encoding": "identity"}
        if key := await self._key():
            headers["Authorization"] = f"Bearer {key}"
        options: Json = {"headers": headers, "stall_s": STALL_S, "direct": is_here(self.host)}
        if body is not None:
            options["json"] = body
        url = self._remote.address_of(path)
        try:
            reason = self._remote.reason
            async with self._door.request(method, url, reason, **options) as response:
                if response.headers.get("Content-Encoding", "identity") != "identity":
                    # A few compressed bytes could unpack to more than memory and time allow.
                    raise self._unexpected("a compressed answer")
                if response.status >= 400:
                    raise self._error(response.status, await self._read(response))
                yield response
        except RedirectRefused as error:
            raise EngineCrashed(
                Sentence("The engine at {0} redirects requests.", self.host)
            ) from error
        except self._door.failures as error:
            text = Sentence("The engine at {0} cannot be reached or broke off.", self.host)
            if isinstance(getattr(error, "os_error", error), LeadsToPrivateAddress):
                text = Sentence(
                    "The engine at {0} is at a private address. {1}", self.host, OWN_DOMAIN
                )
            self.state.set(LoadState("failed", 0.0, text))
            raise EngineCrashed(text) from error

    async def _events(self, response: Any) -> AsyncGenerator[Sent, None]:
        try:
            async with (
                aclosing(self._parts(response)) as parts,
                aclosing(read_events(parts, LONGEST_EVENT)) as events,
            ):
                count = 0
                async for sent in events:
                    yield sent
                    count += 1
                    if count % EVENTS_AT_ONCE == 0:
                        await asyncio.sleep(0)  # others get a turn, however fast it sends
        except TooLong as error:
            raise self._unexpected() from error

    @contextmanager
    def _as_expected(self) -> Iterator[None]:
        """Turns the errors that a malformed response causes into `UnexpectedAnswer`."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise self._unexpected() from error

    def _unexpected(self, what: str = "an unexpected answer") -> "UnexpectedAnswer":
        return UnexpectedAnswer(Sentence("The engine at {0} sent {1}.", self.host, what))

    def _chunk(self, text: str) -> Json:
        try:
            chunk = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise self._unexpected("something that is no JSON") from error
        if not isinstance(chunk, dict):
            raise self._unexpected()
        if chunk.get("error") or chunk.get("object") == "error":
            raise self._error(500, text)
        return chunk

    def _error(self, status: int, text: str) -> AppError:
        facts = _error_facts(text)
        message = one_line(str(facts.get("message") or Sentence("status {0}", status)))[
            :LONGEST_COMPLAINT
        ]
        needed, available = facts.get("n_prompt_tokens"), facts.get("n_ctx")
        if isinstance(needed, int) and isinstance(available, int):
            return ContextOverflow(needed, available)
        if status in _FULL:
            return Busy(0)
        if status in (401, 403):
            return EngineCrashed(Sentence("The engine at {0} does not accept our key.", self.host))
        if status in (404, 405, 501):
            return NotSupported(Sentence("The engine at {0} reports: {1}", self.host, message))
        if status < 500:
            return BadRequest(Sentence("The engine at {0} reports: {1}", self.host, message))
        return EngineCrashed(Sentence("The engine at {0} failed: {1}", self.host, message))

    def _choose(self, served: list[Json]) -> Json:
        wanted = self._remote.model
        for model in served:
            if not wanted or model["id"] == wanted:
                return model
        names = ", ".join(one_line(str(model["id"])) for model in served[:MOST_NAMED]) or Sentence(
            "none"
        )
        raise BadRequest(
            Sentence("The engine at {0} serves {1}, not '{2}'.", self.host, names, wanted)
        )


OWN_DOMAIN = Sentence("If that network is yours, name its domain in the settings, under Network.")
LONGEST_COMPLAINT = 500
"""In characters, of a server's error message."""
MOST_NAMED = 20
"""How many models an error message lists."""


def _facts(model: Json, properties: Json, remote: Remote, kind: str) -> ModelFacts:
    meta = model.get("meta") or {}
    loaded = properties.get("default_generation_settings") or {}
    sees = (properties.get("modalities") or {}).get("vision") or meta.get("vision")
    context = (
        remote.context_tokens
        or _count(loaded.get("n_ctx"))
        or _count(model.get("max_model_len"))
        or _count(meta.get("n_ctx"))
        or _count(meta.get("n_ctx_train"))
    )
    return ModelFacts(
        name=text_of(model["id"]),
        parameters=remote.parameters or _count(meta.get("n_params")),
        size_bytes=_count(meta.get("size")),
        context_tokens=context,
        vocabulary=_count(meta.get("n_vocab")),
        sees_images=bool(sees) if remote.sees_images is None else remote.sees_images,
        device="remote",
        extra={"kind": kind, "reads_calls": _reads_calls(properties)},
    )


def _reads_calls(properties: Json) -> bool:
    """Whether the model sees tools. llama-server silently drops them if its template cannot."""
    able = properties.get("chat_template_caps")
    reported = able.get("supports_tool_calls") if isinstance(able, dict) else None
    template = properties.get("chat_template")
    knows_tools = not isinstance(template, str) or not template or "tools" in template
    return reported if isinstance(reported, bool) else knows_tools


def _count(value: Any) -> int:
    """Returns a server's number; 0 if it is not a positive integer."""
    is_count = isinstance(value, int) and not isinstance(value, bool)
    return value if is_count and 0 < value < 1 << 53 else 0


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("no number")
    return number


def _error_facts(text: str) -> Json:
    """Reads {"error": {...}}, {"error": text}, {"message": ...} or {"detail": ...}."""
    body = try_json(text)
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    if isinstance(error, dict):
        return {"message": error.get("message") or error.get("detail"), **error}
    return {"message": error}


def _param(request: ChatRequest) -> str | None:
    return request.constraint.param if request.constraint else None


def _timed(finished: Finished, began: float, first: float) -> Finished:
    usage = replace(finished.usage, prompt_s=first - began, decode_s=time.monotonic() - first)
    return replace(finished, usage=usage)
