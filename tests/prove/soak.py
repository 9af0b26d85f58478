"""Hours of use: memory and handles must not grow."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from statistics import linear_regression
from time import perf_counter
from typing import NamedTuple

import psutil

from tests.prove.rows import Figure, Row
from tests.prove.stage import Stage, moat_at, port_of
from tests.prove.wire import Answer, ask, chat, post

LENGTH_S = "PROVE_SOAK_S"
REQUESTS = 20_000
"""The fewest requests in two hours."""
LONG_S = 3600
"""From this length on, memory is judged by the hour, and rounds have their time."""
ROUND_EVERY_S = 2.1
"""How often a round of seven requests begins: 24,000 in two hours. Late ones catch up."""
CLIENTS = 2
LONG_EVERY = 4
"""In rounds. An answer without a limit takes as long as three rounds of short ones."""
LISTS = ("/v1/models", "/api/tags", "/agents.json")
EVERY_S = 1.0
CACHE_MB = 8
SHORT_MB = 8 + CACHE_MB
"""What short use may add: the cache, and objects that are made when first needed."""
SETTINGS = {"model": {"slots": CLIENTS, "context_tokens": 1024, "prompt_cache_mb": CACHE_MB}}


class Sample(NamedTuple):
    hours: float
    megabytes: float
    """The memory of the server and its worker together."""
    handles: int


class Used(NamedTuple):
    asked: int
    errors: int


def soak(stage: Stage) -> Figure:
    """Mixes all kinds of requests by clients side by side for a long time."""
    length_s = int(os.environ.get(LENGTH_S, stage.pick(12, 7200)))
    samples = []
    with (
        moat_at(stage.scratch("soak"), SETTINGS) as moat,
        ThreadPoolExecutor(CLIENTS) as clients,
    ):
        port, began = port_of(moat), perf_counter()
        family, until = (psutil.Process(moat.pid), moat.worker()), began + length_s
        every_s = ROUND_EVERY_S if length_s >= LONG_S else 0
        users = [
            clients.submit(_use, stage, port, until, every_s, first) for first in range(CLIENTS)
        ]
        while not all(user.done() for user in users):
            samples.append(_sample(family, perf_counter() - began))
            time.sleep(EVERY_S)
    return _judged([user.result() for user in users], samples, length_s)


def _sample(family: Sequence[psutil.Process], age_s: float) -> Sample:
    memory = sum(one.memory_info().rss for one in family) / 2**20
    return Sample(age_s / 3600, memory, sum(one.num_fds() for one in family))


def _use(stage: Stage, port: int, until: float, every_s: float, first: int) -> Used:
    """Runs a client's rounds. No round repeats that of another client."""
    began, asked, errors = perf_counter(), 0, 0
    for number in count(first, CLIENTS):
        if perf_counter() >= until or stage.stopping.is_set():
            break
        stage.going.wait()
        stage.stopping.wait(began + number * every_s - perf_counter())
        answers = _one_of_each(port, number)
        asked += len(answers)
        errors += sum(answer.status != 200 for answer in answers)
    return Used(asked, errors)


def _one_of_each(port: int, number: int) -> list[Answer]:
    talk = {"role": "user", "content": f"Say {number}."}
    answers = [
        post(port, "/v1/chat/completions", chat(f"Say {number}.", 3)),
        post(port, "/v1/messages", {"messages": [talk], "max_tokens": 2}),
        post(port, "/api/chat", {"messages": [talk], "options": {"num_predict": 2}}),
        post(port, "/tokenize", {"content": "word " * 200}),
        *(ask(port, "GET", path) for path in LISTS),
    ]
    if number // CLIENTS % LONG_EVERY == 0:
        answers.append(post(port, "/v1/query", {"messages": [{"role": "human", "content": "Hi"}]}))
    return answers


def _judged(used: list[Used], samples: list[Sample], length_s: int) -> Figure:
    asked = sum(one.asked for one in used)
    errors = sum(one.errors for one in used)
    warm = samples[len(samples) // 3 :]
    slope = linear_regression([s.hours for s in warm], [s.megabytes for s in warm]).slope
    grown = warm[-1].megabytes - warm[0].megabytes
    text = (
        f"{asked} requests in {length_s} s: server and worker {grown:+.1f} MB after warm-up "
        f"({slope:+.1f} MB/h), handles {warm[0].handles} to {warm[-1].handles}, {errors} errors"
    )
    flat = slope < 1 if length_s >= LONG_S else grown < SHORT_MB
    enough = length_s < LONG_S or asked >= REQUESTS
    level = warm[-1].handles <= warm[0].handles + 4
    return Figure(text, enough and flat and level and not errors)


ROWS = (
    Row(
        "F19",
        "Hours of use leave no trace in memory or handles",
        f"20,000 requests, < 1 MB/h, flat, 0 errors (quick: < {SHORT_MB} MB)",
        soak,
        lasts=True,
    ),
)
