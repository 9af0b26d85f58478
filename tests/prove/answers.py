"""Promises about answers: they fit the context and a schema, and conversations are kept apart."""

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.prove.bodies import CHAT, FITS, ending, strict
from tests.prove.rows import Figure, Row
from tests.prove.stage import CONTEXT_TOKENS, Stage, Target
from tests.prove.wire import chat, post

NUMBER = re.compile(r"\b\d{3,6}\b")
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def kept_schemas(stage: Stage) -> Figure:
    tries = stage.pick(20, 300)
    ends: Counter[str] = Counter()
    for seed in range(tries):
        body = strict(PERSON) | {"seed": seed, "temperature": 1.5, "max_tokens": 120}
        ends[ending(post(stage.ours.port, CHAT, body), PERSON)] += 1
    told = ", ".join(f"{number} {end}" for end, number in ends.items())
    return Figure(
        f"{tries} answers at high temperature: the schema was {told}", ends[FITS] == tries
    )


def overlong(target: Target, tries: int) -> Figure:
    """Sends prompts longer than the context. All must be refused with the numbers, never cut."""
    told = silent = 0
    for number in range(tries):
        words = CONTEXT_TOKENS + 20 + number * 37
        answer = post(target.port, CHAT, chat("word " * words))
        said = answer.body.decode(errors="replace")
        told += answer.status == 400 and len(NUMBER.findall(said)) >= 2
        if answer.status == 200:
            silent += answer.json()["usage"]["prompt_tokens"] < words
    text = f"{told} of {tries} refused with the numbers, {silent} cut in silence"
    return Figure(text, told == tries and silent == 0)


def kept_apart(stage: Stage) -> Figure:
    """Tells many secrets at once and in turn. No answer may contain another conversation's."""
    count = stage.pick(12, 60)
    secrets = [f"zq{number:03d}{number * 7919 % 1000:03d}" for number in range(count)]
    bodies = [chat(f"My code is {code}. Repeat my code.", 24) for code in secrets]
    with ThreadPoolExecutor(8) as together:
        said = list(together.map(lambda body: _words(stage, body), bodies))
    said += [_words(stage, chat("What was the last code you were told?", 24))]
    crossed = sum(
        code in text
        for number, text in enumerate(said)
        for other, code in enumerate(secrets)
        if other != number
    )
    own = sum(code in text for code, text in zip(secrets, said, strict=False))
    text = f"{len(said)} conversations in one cache: {crossed} held another's code, {own} their own"
    return Figure(text, crossed == 0 and own > 0)


def _words(stage: Stage, body: dict[str, Any]) -> str:
    answer = post(stage.ours.port, CHAT, body | {"temperature": 0})
    return str(answer.json()["choices"][0]["message"]["content"])


CACHE = (
    Row(
        "S30",
        "Nothing of one conversation is told in another, though they share a cache",
        "0 crossed",
        kept_apart,
    ),
)
ROWS = (
    Row(
        "F17",
        "A prompt that is too long is refused with the numbers, never cut",
        "all refused, 0 cut",
        lambda stage: overlong(stage.ours, stage.pick(30, 1000)),
        lambda stage: overlong(stage.theirs, stage.pick(30, 100)),
    ),
    Row(
        "F18",
        "An answer that had to fit a schema fits it",
        "all of them",
        kept_schemas,
    ),
)
