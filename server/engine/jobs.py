"""A request as a job for a worker, and the worker's items as pieces."""

import secrets
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from server.chat import SAMPLED, ChatRequest, Constraint, Json, Sampling
from server.engine.base import EngineOptions, ModelFacts
from server.engine.link import Item, refusal
from server.engine.styles.base import Format, Parser, Prepared
from server.engine.styles.messages import IMAGE_MARK
from server.engine.wire import Job
from server.errors import AppError, ContextOverflow
from server.events import (
    Finished,
    Piece,
    PromptProgress,
    ReasoningDelta,
    StopReason,
    TextDelta,
    TokenLogprob,
    Usage,
)


class Thoughts:
    """Hears each text with its tokens, then sees the pieces that were read in it."""

    def __init__(self) -> None:
        self.tokens = 0
        self._heard: list[tuple[str, int]] = []
        self._thinking = False

    def hear(self, text: str, tokens: int) -> None:
        self._heard.append((text, tokens))

    def see(self, pieces: Sequence[Piece]) -> None:
        """What has made no piece yet, such as half of a mark, waits for the next call."""
        if not pieces:
            return
        thoughts = [piece.text for piece in pieces if isinstance(piece, ReasoningDelta)]
        after = self._count(thoughts) if thoughts else []
        self._thinking = isinstance(pieces[-1], ReasoningDelta)
        self._heard = after if self._thinking else []

    def end(self, *, thinks: bool = True) -> None:
        """The answer is over: what still waits was thought if the rest before it was.

        Not where the parser still holds it back (`thinks` is False): then it is an answer.
        """
        if self._thinking and thinks:
            self.tokens += sum(tokens for _, tokens in self._heard)

    def _count(self, thoughts: list[str]) -> list[tuple[str, int]]:
        """Gives back what was heard after the last of them."""
        # Pieces are trimmed, and may hold white space of a text that was counted before.
        first, last = thoughts[0].strip(), thoughts[-1].strip()
        whole = "".join(text for text, _ in self._heard)
        begin = 0 if self._thinking else max(whole.find(first), 0)
        found = whole.find(last, begin)
        end = found + len(last) if found >= 0 else len(whole)
        at = 0
        after = []
        for text, tokens in self._heard:
            if at >= end:
                after.append((text, tokens))
            elif at + len(text) > begin:
                self.tokens += tokens
            at += len(text)
        return after


class PlainText:
    """The parser of a raw prompt: its continuation is text and nothing else."""

    stopped = False
    holds = False

    def feed(self, text: str, logprobs: tuple[TokenLogprob, ...] = ()) -> list[Piece]:
        return [TextDelta(text, logprobs)] if text or logprobs else []

    def end(self, reason: StopReason, usage: Usage) -> list[Piece]:
        return [Finished(reason, usage)]


CONTINUE_MARK = f"<goes on here {secrets.token_hex(8)}>"
"""Nobody else can write it."""


LONGEST_TOKEN = 256
"""The most characters of a token: no known vocabulary has a longer one."""
USUAL_TOKEN = 4


def size_of(request: ChatRequest) -> int:
    """Returns how much text there is to read, in characters."""
    prompt = len(request.prompt or ())
    return prompt + sum(len(message.content) + 1 for message in request.messages)


def check_fits(request: ChatRequest, facts: ModelFacts) -> None:
    """Refuses, before any work, a prompt that cannot fit however well it is written: each message
    takes a token at least, and each token stands for so many characters at most."""
    room = facts.context_tokens
    if not room:
        return
    tokens = size_of(request) // LONGEST_TOKEN
    if isinstance(request.prompt, tuple | list):
        tokens = len(request.prompt)
    if max(len(request.messages), tokens) > room:
        usual = max(len(request.messages), tokens, size_of(request) // USUAL_TOKEN)
        raise ContextOverflow(usual, room - 1, room, is_certain=False)


def prepare(request: ChatRequest, style: Format, facts: ModelFacts) -> Prepared:
    if not request.is_raw:
        return style.prepare(request, facts)
    return Prepared((), PlainText(), constraint=request.constraint, stop=request.stop)


def job_of(request: ChatRequest, prepared: Prepared) -> Json:
    constraint = prepared.constraint
    messages = list(prepared.messages)
    if request.continues:
        messages[-1] = {**messages[-1], "content": f"{messages[-1]['content']}{CONTINUE_MARK}"}
    job = Job(
        messages=messages,
        tools=list(prepared.tools),
        template_options=dict((*prepared.options, *request.template_options)),
        prompt=request.prompt if isinstance(request.prompt, str | None) else list(request.prompt),
        infill=asdict(request.infill) if request.infill else None,
        continue_mark=CONTINUE_MARK if request.continues else "",
        prompt_suffix=prepared.prompt_suffix,
        images=[image.data for message in request.messages for image in message.images],
        image_mark=IMAGE_MARK,
        sampling=_sampling(request.sampling),
        max_tokens=request.max_tokens,
        stop=list(prepared.stop),
        constraint=_constraint(constraint) if constraint else None,
        trigger=prepared.trigger,
        trigger_lead=prepared.trigger_lead,
        trigger_thought=prepared.trigger_thought,
        visible_tokens=list(prepared.visible_tokens),
        top_logprobs=request.top_logprobs,
        client=request.client,
    )
    # Shallow: a conversation may be megabytes, and packing it makes the copy that travels.
    return {field.name: getattr(job, field.name) for field in fields(job)}


def _sampling(sampling: Sampling) -> Json:
    """Without the note of who set it: the worker does not need that."""
    return {name: value for name, value in asdict(sampling).items() if name in SAMPLED}


def _constraint(constraint: Constraint) -> Json:
    return {"kind": constraint.kind, "source": constraint.source, "strict": constraint.strict}


def options_of(options: EngineOptions) -> Json:
    return {
        **asdict(options),
        "draft_model": options.draft_model and str(options.draft_model),
        "projector": options.projector and str(options.projector),
        "prompt_folder": options.prompt_folder and str(options.prompt_folder),
        "loras": [str(path) for path in options.loras],
    }


def facts_of(frame: Json) -> ModelFacts:
    known = {name: frame[name] for name in ModelFacts.__dataclass_fields__ if name in frame}
    special = tuple(known.get("special_tokens", ()))
    return ModelFacts(**{**known, "special_tokens": special})


class Reading:
    """Turns bursts of a worker's items into pieces: text that came together is one piece.

    `ended` after the last of them, `error` when the worker refused to go on.
    """

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._text: list[str] = []
        self._logprobs: list[TokenLogprob] = []
        self._thoughts = Thoughts()
        self.ended = False
        self.error: AppError | None = None

    def pieces(self, items: list[Item]) -> list[Piece]:
        made: list[Piece] = []
        progress: PromptProgress | None = None
        for item in items:
            match item:
                case [_, "text", text, logprobs, *counted]:
                    self._text.append(text)
                    self._thoughts.hear(text, counted[0] if counted else 0)
                    self._logprobs += map(_logprob, logprobs or ())
                case [_, "prompt", done, total]:
                    progress = PromptProgress(done, total)
                case [_, "end", reason, usage, *stop_text]:
                    made += self._feed()
                    made += self._end(reason, usage, *stop_text)
                case [_, "error", code, message, facts]:
                    self.error = refusal(code, message, facts)
        made += self._feed()
        return [progress, *made] if progress else made

    @property
    def stopped(self) -> bool:
        """Whether nothing more is wanted of the worker."""
        return self._parser.stopped

    def _end(self, reason: StopReason, usage: Json, stop_text: str | None = None) -> list[Piece]:
        self.ended = True
        self._thoughts.end(thinks=not self._parser.holds)
        used = Usage(**usage, reasoning_tokens=self._thoughts.tokens)
        pieces = self._parser.end(reason, used)
        if stop_text and pieces[-1] == Finished("stop", used):
            return [*pieces[:-1], Finished("stop", used, stop_text)]
        return pieces

    def _feed(self) -> list[Piece]:
        if not self._text:
            return []
        text, logprobs = "".join(self._text), tuple(self._logprobs)
        self._text, self._logprobs = [], []
        pieces = self._parser.feed(text, logprobs)
        self._thoughts.see(pieces)
        return pieces


def _logprob(row: list[Any]) -> TokenLogprob:
    text, token, logprob, *top = row
    return TokenLogprob(text, token, logprob, tuple(map(_logprob, top[0])) if top else ())
