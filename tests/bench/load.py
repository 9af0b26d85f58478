"""Load on an OpenAI-compatible server: many streams at once, timed at each piece of text."""

import asyncio
import json
import random
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from time import perf_counter
from typing import Any

TEXT = (
    "revenue margin portfolio equity bond yield risk index sector growth quarter dividend cash "
    "ratio debt price volume trade market fund asset value return forecast earnings report company "
    "analyst share capital interest inflation currency option hedge credit rating cost income tax"
)
WORDS = TEXT.split()
SYSTEM = "You are a helpful financial assistant. Answer shortly and precisely."
SAMPLING = {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.05, "seed": 42}
HEAD = (
    "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    "Content-Type: application/json\r\nConnection: close\r\nContent-Length: {size}\r\n\r\n"
)
ERROR_BYTES = 500


@dataclass(slots=True)
class Answered:
    began: float
    ended: float = 0.0
    times: list[float] = field(default_factory=list)
    text: str = ""
    usage: dict[str, Any] = field(default_factory=dict)

    @property
    def first_s(self) -> float:
        return self.times[0] - self.began

    @property
    def tokens(self) -> int:
        return int(self.usage.get("completion_tokens") or len(self.times))


@dataclass(frozen=True, slots=True)
class Burst:
    """The figures of several streams that were started together."""

    tokens_per_s: float
    first_p50_s: float
    first_p95_s: float
    gap_p50_s: float
    gap_p95_s: float


def filler(words: int, seed: int) -> str:
    chosen = random.Random(seed)
    return " ".join(chosen.choice(WORDS) for _ in range(words))


def question(words: int, seed: int) -> list[dict[str, str]]:
    text = f"Case {seed}. {filler(words, seed)}\nWrite a long report about it."
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]


async def ask(port: int, messages: list[dict[str, str]], tokens: int, **more: Any) -> Answered:
    body: dict[str, Any] = {"messages": messages, "max_tokens": tokens, "stream": True}
    body |= {**SAMPLING, "ignore_eos": True, "stream_options": {"include_usage": True}, **more}
    raw = json.dumps(body).encode()
    answered = Answered(perf_counter())
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        writer.write(HEAD.format(port=port, size=len(raw)).encode() + raw)
        status = await reader.readline()
        if b" 200" not in status:
            said = await reader.read(ERROR_BYTES)
            raise RuntimeError((status + said).decode(errors="replace"))
        await _follow(reader, answered)
    finally:
        writer.close()
    return answered


async def _follow(reader: asyncio.StreamReader, answered: Answered) -> None:
    """Collects lines and their times. They are parsed afterwards, so parsing delays nothing."""
    came: list[tuple[float, bytes]] = []
    while line := await reader.readline():
        if line.startswith(b"data: {"):
            came.append((perf_counter(), line))
    answered.ended = perf_counter()
    for at, line in came:
        chunk = json.loads(line[6:])
        if "error" in chunk:
            raise RuntimeError(str(chunk["error"]))
        answered.usage = chunk.get("usage") or answered.usage
        for choice in chunk.get("choices", ()):
            text = choice.get("delta", {}).get("content")
            if text:
                answered.times.append(at)
                answered.text += text


async def burst(port: int, streams: int, words: int, tokens: int, seed: int) -> Burst:
    began = perf_counter()
    answers = await asyncio.gather(
        *(ask(port, question(words, seed + n), tokens) for n in range(streams))
    )
    return figures(answers, began)


def figures(answers: list[Answered], began: float) -> Burst:
    took = max(answer.ended for answer in answers) - began
    firsts = [answer.first_s for answer in answers]
    gaps = [b - a for one in answers for a, b in pairwise(one.times)]
    return Burst(
        tokens_per_s=sum(answer.tokens for answer in answers) / took,
        first_p50_s=median(firsts),
        first_p95_s=percentile(firsts, 0.95),
        gap_p50_s=median(gaps),
        gap_p95_s=percentile(gaps, 0.95),
    )


async def alternate(port: int, talks: int, words: int, turns: int, seed: int) -> list[float]:
    """Runs conversations in turn, sent whole every time. Returns first-token times from turn 2."""
    histories = [question(words, seed + n) for n in range(talks)]
    firsts = []
    for turn in range(turns):
        for history in histories:
            answer = await ask(port, history, 8)
            if turn:
                firsts.append(answer.first_s)
            history.append({"role": "assistant", "content": answer.text})
            history.append({"role": "user", "content": f"And what about case {turn}?"})
    return firsts


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
