"""llm: the model writes a text from a prompt with data."""

import asyncio
import re
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from server.asking.ask import stream
from server.asking.fit import fit_prompt
from server.chat import ChatRequest, Sampling
from server.errors import FlowFailed
from server.events import TextDelta
from server.flows.base import Output, Signs, Step, Work
from server.flows.templates import NOTE, render

SYSTEM = "You are a helpful assistant. Answer from the data given, briefly and truthfully."
USER = "{context}\n{data}\nQuestion: {question}"
USUAL_TEMPERATURE = 0.3
USUAL_S = 300.0
USUAL_TOKENS = 1024
LEAST_ECHO = 12
STOPS = ".!\"' "
_MARKS = re.compile(r"</?data>", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n]")
OPENING = " ".join(NOTE.split()[:3])
"""A sentence that begins like our note is about the note, not about the data."""
OWN_SENTENCES = (NOTE, _MARKS.sub("", NOTE), *filter(None, SYSTEM.split(".")))
_MARK_BEGUN = re.compile(r"</?d?a?t?a?$", re.IGNORECASE)
_WORD_START = re.compile(r"(?<![^\W_])[^\W_]")


async def run(step: Step, work: Work) -> Signs:
    system = str(step.params.get("system_prompt") or SYSTEM)
    user = str(step.params.get("user_prompt") or USER)
    share = max(len(user.split("{")) - 1, 1)

    def prompt(room: int) -> tuple[str, str]:
        each = room // share
        return f"{render(system, work, each)}\n{NOTE}", render(user, work, each)

    messages = await fit_prompt(work.engine, prompt)
    request = ChatRequest(
        messages,
        sampling=Sampling(temperature=_number(step.params.get("temperature"), USUAL_TEMPERATURE)),
        max_tokens=_room(
            step, work, messages_chars=sum(len(message.content) for message in messages)
        ),
        client=work.client,
    )
    parts: list[str] = []
    echo = Echo()
    limit_s = min(_number(step.params.get("timeout"), USUAL_S), USUAL_S)
    try:
        async with asyncio.timeout(limit_s), aclosing(stream(work.engine, request)) as texts:
            async for text in texts:
                if own := echo.without(text):
                    parts.append(own)
                    yield TextDelta(own)
        if own := echo.rest():
            parts.append(own)
            yield TextDelta(own)
    except TimeoutError:
        raise FlowFailed("timeout", f"The model took longer than {limit_s:.0f} s.") from None
    written = "".join(parts).strip()
    yield Output(written, written, is_answer=bool(written))


@dataclass(slots=True)
class Echo:
    """Removes from a streamed text what a weak model repeats of our own instructions."""

    _held: str = ""
    _is_after: bool = False
    """One of our sentences has just ended. Its full stop may still come."""

    def without(self, text: str) -> str:
        """Returns what can be shown now. Holds back what may become one of our sentences."""
        self._held = _MARKS.sub("", self._held + text)
        if self._is_after:
            self._held = self._held.lstrip(STOPS)
            self._is_after = not self._held
        shown = ""
        while (found := self._find()) is not None:
            begin, end = found
            shown += self._held[:begin]
            if end is None:
                self._held = self._held[begin:]
                return shown
            self._held = self._held[end:].lstrip(STOPS)
            self._is_after = not self._held
        begun = _MARK_BEGUN.search(self._held)
        place = begun.start() if begun else len(self._held)
        shown, self._held = shown + self._held[:place], self._held[place:]
        return shown

    def rest(self) -> str:
        """Returns the end of the text. A cut-off sentence of ours is not shown either."""
        found = self._find()
        held, self._held = self._held, ""
        if found is None or len(_letters(held[found[0] :])) < LEAST_ECHO:
            return held
        return held[: found[0]]

    def _find(self) -> tuple[int, int | None] | None:
        """Finds where one of our sentences begins and ends. Without an end it may still become
        one."""
        for start in _WORD_START.finditer(self._held):
            begin = start.start()
            letters = _letters(self._held[begin:])
            if letters.startswith(_letters(OPENING)):
                end = _SENTENCE_END.search(self._held, begin)
                return begin, end.end() if end else None
            for own in map(_letters, OWN_SENTENCES):
                if letters.startswith(own):
                    return begin, begin + _length(self._held[begin:], len(own))
                if own.startswith(letters):
                    return begin, None
        return None


def _letters(text: str) -> str:
    return "".join(sign for sign in text.lower() if sign.isalnum())


def _length(text: str, letters: int) -> int:
    """Returns how much of the text those letters take."""
    return next(n for n in range(1, len(text) + 1) if len(_letters(text[:n])) >= letters)


def _room(step: Step, work: Work, messages_chars: int) -> int:
    most = int(_number(step.params.get("max_tokens"), USUAL_TOKENS)) or USUAL_TOKENS
    context = work.engine.facts.context_tokens
    return min(most, max(context - messages_chars, context // 5)) if context else min(most, 512)


def _number(given: Any, usual: float) -> float:
    return float(given) if isinstance(given, int | float) and given >= 0 else usual
