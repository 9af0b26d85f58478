"""Turns a job from the wire into a request for the scheduler, or refuses it."""

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from time import perf_counter
from typing import Any

from server.chat import Sampling
from server.engine.causes import JobRefused, too_long
from server.engine.wire import Job
from server.engine.worker.decode.batch import Tokens
from server.engine.worker.decode.sampling import Constrained, Grammars, Trigger
from server.engine.worker.prompt.template import Template, TemplateFailed
from server.engine.worker.prompt.vision import Picture, Projector, TokenPrompt
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.sentences import Sentence


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
    submitted_at: float = field(default_factory=perf_counter)

    def whole_until(self, count: int) -> int:
        """Returns `count`, or the start of the picture that this place lies in."""
        cut = (picture.start for picture in self.pictures if picture.start < count < picture.end)
        return next(cut, count)

    def tokens_until(self, count: int) -> int:
        """Returns how many tokens the first `count` places take: a picture may take more."""
        pictures = (picture for picture in self.pictures if picture.end <= count)
        return count + sum(picture.tokens - picture.positions for picture in pictures)


JOB_FIELDS = frozenset(field.name for field in fields(Job))
SAMPLING_FIELDS = frozenset(field.name for field in fields(Sampling))


IsWanted = Callable[[], bool]


def _always() -> bool:
    return True


class Preparer:
    """Renders, tokenises and compiles. It does not run on the scheduler's thread."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        template: Template,
        context_tokens: int,
        projector: Projector | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._template = template
        self._available = context_tokens - 1
        self._projector = projector
        self._grammars = Grammars(vocabulary)
        self._compiling = threading.Lock()

    def beside(self, template: Template) -> "Preparer":
        """Returns a copy for another thread and template. Compiled grammars are shared."""
        other = copy.copy(self)
        other._template = template
        return other

    def prepare(
        self, request_id: int, raw: dict[str, Any], is_wanted: IsWanted = _always
    ) -> Request:
        """Prepares a job. Raises Refused, or Unwanted when `is_wanted` returns False."""
        job = Job(**{name: value for name, value in raw.items() if name in JOB_FIELDS})
        prompt = self._with_images(job) if job.images else self._plain(job, is_wanted)
        constrained = None
        if job.constraint is not None:
            with self._compiling:
                constrained = self._grammars.constrain(job.constraint, _trigger(job))
        return Request(
            id=request_id,
            tokens=prompt.tokens,
            sampling=sampling_of(job.sampling),
            max_tokens=job.max_tokens,
            stops=tuple(job.stop),
            constrained=constrained,
            visible=self._vocabulary.markers(job.visible_tokens),
            top_logprobs=job.top_logprobs,
            client=job.client,
            pictures=prompt.pictures,
        )

    def _plain(self, job: Job, is_wanted: IsWanted) -> TokenPrompt:
        tokens = self._tokens(job, is_wanted)
        if len(tokens) > self._available:
            raise too_long(len(tokens), self._available)
        if not len(tokens):
            raise JobRefused("invalid_request", Sentence("The prompt is empty."))
        return TokenPrompt(tokens)

    def _tokens(self, job: Job, is_wanted: IsWanted = _always) -> Tokens:
        most = self._available
        if job.infill is not None:
            return self._vocabulary.tokenize_infill(job.infill, job.prompt or "", most)
        if isinstance(job.prompt, list):
            return self._vocabulary.tokenize_parts(job.prompt, most)
        return self._vocabulary.tokenize_prompt(self.render(job), most, is_wanted)

    def _with_images(self, job: Job) -> TokenPrompt:
        if self._projector is None:
            raise JobRefused("not_supported", Sentence("This model cannot read images."))
        texts = self.render(job).split(job.image_mark)
        if len(texts) != len(job.images) + 1 or not texts[-1]:
            raise JobRefused(
                "template_failed",
                Sentence("The model's chat template does not show where the images are."),
            )
        for text in texts:
            self._vocabulary.tokenize(text, most=self._available)
        bos = self._vocabulary.lacks_bos(texts[0])
        return self._projector.read(texts, job.images, self._available, bos=bos)

    def render(self, job: Job) -> str:
        if isinstance(job.prompt, list) or job.infill is not None:
            return self._vocabulary.detokenize(self._tokens(job).tolist())
        if job.prompt is not None:
            return job.prompt
        try:
            text = self._template.render_somehow(
                job.messages,
                job.tools,
                job.template_options,
                add_generation_prompt=not job.continue_mark,
            )
        except TemplateFailed as error:
            raise JobRefused("template_failed", str(error)) from error
        return _until(text, job.continue_mark) if job.continue_mark else text


def sampling_of(raw: dict[str, Any]) -> Sampling:
    known = {name: value for name, value in raw.items() if name in SAMPLING_FIELDS}
    bias = known.get("logit_bias") or ()
    known["logit_bias"] = tuple((int(token), float(value)) for token, value in bias)
    return Sampling(**known)


def _until(text: str, mark: str) -> str:
    """Returns the prompt up to the mark where the last message continues."""
    before, found, _ = text.rpartition(mark)
    if not found:
        raise JobRefused(
            "template_failed",
            Sentence("The model's chat template does not show the last message as it is."),
        )
    return before


def _trigger(job: Job) -> Trigger | None:
    return Trigger(job.trigger, job.trigger_lead, job.trigger_thought) if job.trigger else None
