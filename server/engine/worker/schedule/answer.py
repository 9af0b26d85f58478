"""An answer in the making: the prompt that is left to read, its text, and why it ended."""

import codecs
from time import perf_counter
from typing import Any

import numpy as np

from server.engine.styles.stream import first_of, held_back
from server.engine.worker.decode.batch import Tokens
from server.engine.worker.decode.sampling import Logits, Sampler
from server.engine.worker.prompt.prepare import Request
from server.engine.worker.prompt.vision import Picture, View
from server.engine.worker.prompt.vocabulary import Vocabulary
from server.engine.worker.schedule.draft import Payoff, Purse
from server.engine.worker.schedule.prefix import Slot

Entry = list[Any]


def logprob_entry(logits: Logits, token: int, top: int, vocabulary: Vocabulary) -> Entry:
    """Returns [text, bytes, logprob, alternatives]; an alternative is [text, bytes, logprob]."""
    exact = logits.astype(np.float64)
    exact -= exact.max()
    exact -= np.log(np.exp(exact).sum())
    likeliest = _best(exact, top)
    alternatives = [_entry(vocabulary, int(t), float(exact[t])) for t in likeliest]
    return [*_entry(vocabulary, token, float(exact[token])), alternatives]


def _best(values: Any, count: int) -> Any:
    if count <= 0:
        return ()
    best = np.argpartition(values, -count)[-count:]
    return best[np.argsort(-values[best], kind="stable")]


def _entry(vocabulary: Vocabulary, token: int, logprob: float) -> Entry:
    piece = vocabulary.marked_piece(token)
    return [piece.decode(errors="replace"), piece, logprob]


class TextOut:
    """Turns bytes into `ready` text. It holds back what may become a stop string."""

    def __init__(self, stops: tuple[str, ...] = ()) -> None:
        self.ready = ""
        self.met: str | None = None
        """The stop string that was found."""
        self._stops = tuple(stop for stop in stops if stop)
        self._held = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def stopped(self) -> bool:
        return self.met is not None

    @property
    def holds(self) -> bool:
        return bool(self._held) or bool(self._decoder.getstate()[0])

    def feed(self, piece: bytes) -> None:
        text = self._decoder.decode(piece)
        if not self._stops:
            self.ready += text
            return
        text = self._held + text
        found = first_of(text, self._stops)
        if found:
            cut, _ = found
            self.met = next(stop for stop in self._stops if text.startswith(stop, cut))
            self.ready += text[:cut]
            self._held = ""
            return
        keep = held_back(text, self._stops)
        self.ready += text[: len(text) - keep]
        self._held = text[len(text) - keep :]

    def take(self) -> str:
        text, self.ready = self.ready, ""
        return text

    def finish(self) -> None:
        """Releases what was held back, because no more bytes come."""
        if not self.stopped:
            self.ready += self._held + self._decoder.decode(b"", final=True)
        self._held = ""


Item = list[Any]


class Answer:
    """An answer: `todo` is unread prompt, `pending` is written but not evaluated, `draft` a guess.

    `chunk` is how many tokens of `todo` or of `pending` the step evaluates.
    """

    def __init__(
        self, request: Request, slot: Slot, sampler: Sampler, room_tokens: int, purse: Purse
    ) -> None:
        self.request = request
        self.slot = slot
        self.todo: Tokens = request.tokens[slot.count :]
        self.view: View | None = None
        self.pending: list[int] = []
        self.draft: list[int] = []
        self.row = 0
        self.chunk = 0
        self.written = 0
        self.reason: str | None = None
        self.payoff = Payoff(purse)
        self.first_at = 0.0
        self.on_device = False
        """Whether llama.cpp chooses the tokens, on the device."""
        self._sampler = sampler
        self._pictures = [picture for picture in request.pictures if picture.start >= slot.count]
        self._cached = request.tokens_until(slot.count)
        self._asked = request.tokens_until(len(request.tokens))
        self._text = TextOut(request.stops)
        self._logprobs: list[Entry] = []
        self._sent = 0
        self._admitted_at = perf_counter()
        wanted = request.max_tokens
        room = room_tokens - self._asked
        self._most = room if wanted is None else min(wanted, room)

    @property
    def room(self) -> int:
        """The number of tokens that it may still write."""
        return self._most - self.written

    @property
    def picture(self) -> Picture | None:
        """The picture that the prompt continues with; None if text comes next."""
        return self._pictures[0] if self._pictures and not self.text_left else None

    @property
    def text_left(self) -> int:
        """The number of unread tokens before the next picture."""
        if not self._pictures:
            return len(self.todo)
        return self._pictures[0].start - (len(self.request.tokens) - len(self.todo))

    @property
    def is_parted(self) -> bool:
        """Whether more is pending than the step has room for. The rest follows in the next step."""
        return self.chunk < len(self.pending)

    def pass_part(self) -> None:
        """Moves the evaluated part of `pending` to the slot."""
        self.slot.append(self.pending[: self.chunk])
        self.pending = self.pending[self.chunk :]

    def progress(self) -> Item:
        done = self.request.tokens_until(self.slot.count) + (self.view.done if self.view else 0)
        return [self.request.id, "prompt", done, self._asked]

    def pass_picture(self) -> None:
        """Notes that the slot holds the whole picture."""
        places = self._pictures.pop(0).positions
        self.slot.append(self.todo[:places])
        self.todo = self.todo[places:]
        self.view = None

    def advance(self, logits: Logits, vocabulary: Vocabulary) -> None:
        """Chooses what follows: the tokens that must come, else a token and what it forces."""
        self.pending = []
        if self.room <= 0:
            self.reason = "length"
            return
        constrained = self.request.constrained
        if constrained is None:
            self._choose(logits, vocabulary)
            return
        if not self._write_forced(vocabulary):
            self._choose(logits, vocabulary)
            if self.reason is None:
                self._write_forced(vocabulary)
        if constrained.is_complete and not self._text.stopped:
            self.reason = "stop"

    def take(self, token: int, vocabulary: Vocabulary) -> None:
        """Takes a token that the device has chosen."""
        self.pending = []
        if self.room <= 0:
            self.reason = "length"
        elif token in vocabulary.ends and not self.request.sampling.ignore_eos:
            self.reason = "stop"
        else:
            self._write(token, vocabulary)

    def items(self) -> list[Item]:
        """Returns the items for the server after a step."""
        if self.reason is not None:
            self._text.finish()
        text = self._text.take()
        found: list[Item] = []
        if text or (self._logprobs and self.reason is None and not self._text.holds):
            logprobs = self._logprobs if self.request.top_logprobs is not None else None
            found.append([self.request.id, "text", text, logprobs, self.written - self._sent])
            self._sent = self.written
            self._logprobs = []
        if self.reason is not None:
            met = [self._text.met] if self._text.met else []
            found.append([self.request.id, "end", self.reason, self.usage(), *met])
        return found

    def usage(self) -> dict[str, Any]:
        now = perf_counter()
        first_at = self.first_at or now
        return {
            "prompt_tokens": self._asked,
            "cached_tokens": self._cached,
            "completion_tokens": self.written,
            "prompt_s": first_at - self._admitted_at,
            "decode_s": now - first_at,
        }

    def close(self) -> None:
        self._sampler.close()

    def _choose(self, logits: Logits, vocabulary: Vocabulary) -> None:
        token = self._sampler.pick(logits)
        constrained = self.request.constrained
        if constrained is not None and not constrained.allows(token):
            token = self._sampler.pick(constrained.mask(logits))
        if token in vocabulary.ends and not self.request.sampling.ignore_eos:
            self.reason = "stop"
            return
        if constrained is not None:
            if constrained.active:
                constrained.consume(token)
            else:
                replaced = constrained.hear(token)
                if replaced is not None:
                    self._write_all(replaced, vocabulary)
                    return
        if self.request.top_logprobs is not None:
            top = self.request.top_logprobs
            self._logprobs.append(logprob_entry(logits, token, top, vocabulary))
        self._write(token, vocabulary)

    def _write_forced(self, vocabulary: Vocabulary) -> bool:
        """Writes tokens that must come, except with log-probabilities: each then needs logits."""
        constrained = self.request.constrained
        if constrained is None or self.request.top_logprobs is not None:
            return False
        forced = constrained.take_forced()
        self._write_all(forced, vocabulary)
        return bool(forced)

    def _write_all(self, tokens: list[int], vocabulary: Vocabulary) -> None:
        for token in tokens:
            self._write(token, vocabulary)
            if self.reason is not None:
                return

    def _write(self, token: int, vocabulary: Vocabulary) -> None:
        self.written += 1
        self.pending.append(token)
        self._sampler.accept(token)
        visible = token in self.request.visible
        text = self._text
        text.feed(vocabulary.marked_piece(token) if visible else vocabulary.piece(token))
        if text.stopped:
            self._logprobs = []
            self.reason = "stop"
        elif self.written >= self._most:
            self.reason = "length"
