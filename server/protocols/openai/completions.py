"""OpenAI's older completions: POST /v1/completions continues one or several raw prompts."""

from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from server.asking.ask import Means
from server.chat import ChatRequest, Infill, Json, Prompt
from server.conversation.run import converse
from server.events import (
    Event,
    Events,
    Failed,
    Finished,
    OfChoice,
    PromptProgress,
    TextDelta,
    TokenLogprob,
    Usage,
)
from server.protocols.base import KEEP_ALIVE, Endpoint, Facts, Frames, Reply, Run
from server.protocols.constraints import constraint_of, refuse_what_is_not_done
from server.protocols.fields import (
    Fields,
    model_name,
    prompts_of,
    sampling,
    stop_texts,
    streams,
    token_limit,
    wants_usage,
)
from server.protocols.frames import (
    DONE,
    chat_usage,
    error_object,
    failed,
    head,
    split_choice,
    sse,
    sum_usage,
)

DEFAULT_TOKENS = 16
"""OpenAI's default for `max_tokens`."""
MOST_CHOICES = 16
MOST_PROMPTS = 64


def accept(body: Any, facts: Facts) -> ChatRequest | Run:
    """Continues one or several prompts, given as texts or as token numbers."""
    fields = Fields(body)
    streams(body)
    wants_usage(fields)
    if fields.flag("echo") and fields.value("logprobs") is not None:
        raise fields.wrong(
            "echo", "cannot be combined with 'logprobs': the prompt's tokens have none"
        )
    refuse_what_is_not_done(fields, best_of=(1, _choices(fields)))
    request = ChatRequest(
        model=model_name(fields, facts),
        sampling=sampling(fields),
        max_tokens=token_limit(fields, "max_tokens", "n_predict", usual=DEFAULT_TOKENS),
        stop=stop_texts(fields),
        constraint=constraint_of(fields),
        top_logprobs=fields.integer("logprobs", 0, 20),
        choices=_choices(fields),
        client=fields.text("user") or "",
    )
    requests = [_asking(request, fields, prompt) for prompt in _prompts(fields)]
    if len(requests) == 1:
        return requests[0]
    return Run(partial(_each, requests), request.model)


def _asking(request: ChatRequest, fields: Fields, prompt: Prompt) -> ChatRequest:
    suffix = fields.text("suffix")
    if not isinstance(prompt, str) and (suffix or fields.flag("echo")):
        other = "suffix" if suffix else "echo"
        raise fields.wrong(other, "needs a prompt of text, not of tokens")
    if suffix:
        return replace(request, infill=Infill(str(prompt), suffix))
    return replace(request, prompt=prompt)


async def render(events: Events, body: Any, facts: Facts) -> Frames:
    fields = Fields(body)
    begins = head("cmpl", "text_completion", body, facts)
    no_usage: Json = {"usage": None} if wants_usage(fields) else {}
    usages: list[Usage] = []
    offsets: Counter[int] = Counter()
    for frame in _echoes(fields):
        yield sse({**begins, "choices": [frame], **no_usage})
    async for event in events:
        index, inner = split_choice(event)
        match inner:
            case Failed(error):
                yield sse({"error": error_object(error)})
                return
            case PromptProgress():
                yield KEEP_ALIVE
            case TextDelta(text, logprobs):
                shown = _logprobs(logprobs, fields, offsets[index]) if logprobs else None
                offsets[index] += sum(len(token.text) for token in logprobs)
                yield sse({**begins, "choices": [_choice(index, text, None, shown)], **no_usage})
            case Finished(reason, usage):
                usages.append(usage)
                yield sse({**begins, "choices": [_choice(index, "", reason, None)], **no_usage})
    if no_usage:
        used = chat_usage(sum_usage(usages, prompts=len(_prompts(fields))))
        yield sse({**begins, "choices": [], "usage": used})
    yield DONE


async def collect(events: Events, body: Any, facts: Facts) -> Reply:
    fields = Fields(body)
    prompts = _prompts(fields)
    answers = [_Answer() for _ in range(len(prompts) * _choices(fields))]
    async for event in events:
        index, inner = split_choice(event)
        if isinstance(inner, Failed):
            return failed(inner.error)
        answers[index].see(inner)
    echoed = {choice["index"]: choice["text"] for choice in _echoes(fields)}
    choices = [
        answer.choice(index, echoed.get(index, ""), fields) for index, answer in enumerate(answers)
    ]
    usage = sum_usage([answer.usage for answer in answers], prompts=len(prompts))
    begins = head("cmpl", "text_completion", body, facts)
    return Reply({**begins, "choices": choices, "usage": chat_usage(usage)})


@dataclass
class _Answer:
    text: list[str] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: str = "stop"
    usage: Usage = field(default_factory=Usage)

    def see(self, event: Event) -> None:
        match event:
            case TextDelta(text, logprobs):
                self.text.append(text)
                self.logprobs.extend(logprobs)
            case Finished(reason, usage):
                self.reason, self.usage = reason, usage

    def choice(self, index: int, echoed: str, fields: Fields) -> Json:
        wanted = fields.value("logprobs") is not None
        logprobs = _logprobs(tuple(self.logprobs), fields) if wanted else None
        return _choice(index, echoed + "".join(self.text), self.reason, logprobs)


async def _each(requests: list[ChatRequest], means: Means) -> AsyncGenerator[OfChoice, None]:
    """Answers the prompts one after the other. Choices are numbered across all prompts."""
    for at, request in enumerate(requests):
        async with aclosing(converse(means, request)) as events:
            async for event in events:
                index, inner = split_choice(event)
                yield OfChoice(at * request.choices + index, inner)
                if isinstance(inner, Failed):
                    return


def _prompts(fields: Fields) -> list[Prompt]:
    prompts = prompts_of(fields, "prompt")
    if not 1 <= len(prompts) <= MOST_PROMPTS:
        raise fields.wrong("prompt", f"must have 1 to {MOST_PROMPTS} entries")
    return prompts


def _choices(fields: Fields) -> int:
    return fields.integer("n", 1, MOST_CHOICES) or 1


def _echoes(fields: Fields) -> Iterator[Json]:
    if not fields.flag("echo"):
        return
    choices = _choices(fields)
    for at, prompt in enumerate(_prompts(fields)):
        for index in range(at * choices, (at + 1) * choices):
            yield _choice(index, str(prompt), None, None)


def _choice(index: int, text: str, reason: str | None, logprobs: Json | None) -> Json:
    return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": reason}


def _logprobs(tokens: tuple[TokenLogprob, ...], fields: Fields, offset: int = 0) -> Json:
    wanted = fields.integer("logprobs", 0, 20) or 0
    offsets = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token.text)
    return {
        "tokens": [token.text for token in tokens],
        "token_logprobs": [token.logprob for token in tokens],
        "top_logprobs": [
            {other.text: other.logprob for other in token.top[:wanted]} for token in tokens
        ],
        "text_offset": offsets,
    }


ENDPOINTS = (Endpoint("POST", "/v1/completions", accept, render, collect, streams, failed=failed),)
