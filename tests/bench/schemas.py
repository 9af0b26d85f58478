"""Shows how Moat and llama.cpp's own server handle JSON schemas from other sources.

python -m tests.bench.schemas FOLDER [--count 200] [--seed 7] [--tokens 64] [--at-once 8]

FOLDER holds schemas as .json files, for example the data of JSONSchemaBench. The same number is
taken from each of its folders. Both servers run at the same time and are asked in turn.
"""

import argparse
import asyncio
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import aiohttp
import jsonschema
import referencing.exceptions

from scripts.build_llama_server import llama_server as built_llama_server
from server.engine.worker.load.plan import usable_cores
from server.models import library
from tests.bench.load import percentile
from tests.bench.servers import Server, Shape, llama_server, moat

PATIENCE = aiohttp.ClientTimeout(total=120)
GONE = 0
"""Stands for a status if no answer came."""
QUESTION = [{"role": "user", "content": "Give an example."}]


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    schema: Any


class Lasting:
    """A server that is started again after a schema ended it. `deaths` counts how often."""

    def __init__(self, start: Callable[[], AbstractContextManager[Server]]) -> None:
        self._start = start
        self._open = ExitStack()
        self.deaths = 0
        self.server = self._open.enter_context(start())
        self.name = self.server.name

    def revive(self) -> None:
        if self.server.process.poll() is not None:
            self.deaths += 1
            self.close()
            self.server = self._open.enter_context(self._start())

    def close(self) -> None:
        self._open.close()


@dataclass(frozen=True, slots=True)
class Asked:
    status: int
    took_s: float
    text: str = ""
    reason: str = ""
    tokens: int = 0


@dataclass(slots=True)
class Figures:
    """The figures of one server. Each list is in the order of the cases."""

    first: list[Asked] = field(default_factory=list)
    answers: dict[str, Asked] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    unchecked: int = 0
    tokens: int = 0
    """Tokens of the cases that both servers accept, and the time that they took."""
    busy_s: float = 0.0
    plain_s: float = 0.0
    deaths: int = 0

    def accepted(self, cases: Sequence[Case]) -> set[str]:
        return {
            case.name for case, asked in zip(cases, self.first, strict=True) if asked.status == 200
        }


def sample(folder: Path, count: int, seed: int) -> list[Case]:
    groups: dict[Path, list[Path]] = {}
    for path in sorted(folder.rglob("*.json")):
        groups.setdefault(path.parent, []).append(path)
    chosen = random.Random(seed)
    each = -(-count // max(1, len(groups)))
    paths = [path for group in groups.values() for path in chosen.sample(group, len(group))[:each]]
    return [Case(str(path.relative_to(folder)), read(path)) for path in paths][:count]


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


async def ask(client: aiohttp.ClientSession, server: Lasting, schema: Any, tokens: int) -> Asked:
    body: dict[str, Any] = {"messages": QUESTION, "max_tokens": tokens, "temperature": 0.8}
    body |= {"top_k": 40, "seed": 7}
    if schema is not None:
        form = {"name": "example", "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": form}
    address = f"http://127.0.0.1:{server.server.port}/v1/chat/completions"
    began = perf_counter()
    try:
        async with client.post(address, json=body) as reply:
            told = await reply.json(content_type=None)
            took_s = perf_counter() - began
    except (aiohttp.ClientError, TimeoutError):
        took_s = perf_counter() - began
        server.revive()
        return Asked(GONE, took_s)
    if reply.status != 200:
        return Asked(reply.status, took_s, str(told.get("error", {}).get("message", "")))
    choice = told["choices"][0]
    text = choice["message"]["content"] or ""
    used = told["usage"]["completion_tokens"]
    return Asked(200, took_s, text, choice["finish_reason"], used)


async def look(
    servers: Sequence[Lasting], cases: Sequence[Case], tokens: int, at_once: int
) -> dict[str, Figures]:
    found = {server.name: Figures() for server in servers}
    async with aiohttp.ClientSession(timeout=PATIENCE) as client:
        await _ask_for_one_token(client, servers, cases, found)
        taken = {name: figures.accepted(cases) for name, figures in found.items()}
        both = set.intersection(*taken.values())
        for group in _chunks([case for case in cases if case.name in both], at_once):
            for server in servers:
                figures = found[server.name]
                began = perf_counter()
                figures.tokens += await _burst(client, server, group, tokens, figures)
                figures.busy_s += perf_counter() - began
        for server in servers:
            alone = [case for case in cases if case.name in taken[server.name] - both]
            for group in _chunks(alone, at_once):
                await _burst(client, server, group, tokens, found[server.name])
            found[server.name].deaths = server.deaths
    return found


async def _ask_for_one_token(
    client: aiohttp.ClientSession,
    servers: Sequence[Lasting],
    cases: Sequence[Case],
    found: dict[str, Figures],
) -> None:
    for server in servers:
        plain = [(await ask(client, server, None, 1)).took_s for _ in range(9)]
        found[server.name].plain_s = median(plain)
    for at, case in enumerate(cases):
        for server in servers if at % 2 else reversed(servers):
            found[server.name].first.append(await ask(client, server, case.schema, 1))


def _chunks(cases: Sequence[Case], at_once: int) -> Iterator[Sequence[Case]]:
    for at in range(0, len(cases), at_once):
        yield cases[at : at + at_once]


async def _burst(
    client: aiohttp.ClientSession,
    server: Lasting,
    chunk: Sequence[Case],
    tokens: int,
    figures: Figures,
) -> int:
    """Sends these cases at once. Returns how many tokens were made."""
    answers = await asyncio.gather(*(ask(client, server, case.schema, tokens) for case in chunk))
    for case, asked in zip(chunk, answers, strict=True):
        figures.answers[case.name] = asked
        if asked.status == 200 and asked.reason == "stop":
            _check(case, asked.text, figures)
    return sum(asked.tokens for asked in answers)


def _check(case: Case, text: str, figures: Figures) -> None:
    try:
        checker = jsonschema.validators.validator_for(case.schema)
        checker(case.schema).validate(json.loads(text))
    except (jsonschema.ValidationError, ValueError) as error:
        told = str(error).splitlines()[0][:160]
        figures.wrong.append(f"{case.name}: {told}")
    except (jsonschema.SchemaError, referencing.exceptions.Unresolvable, RecursionError):
        figures.unchecked += 1


def rows(figures: Figures) -> dict[str, str]:
    first, answers = figures.first, figures.answers.values()
    compile_ms = [
        1000 * max(0.0, asked.took_s - figures.plain_s) for asked in first if asked.status == 200
    ]
    refused = [asked for asked in first if 400 <= asked.status < 500]
    finished = [asked for asked in answers if asked.reason == "stop"]
    return {
        "accepted": f"{len(compile_ms)} of {len(first)}",
        "refused with 4xx": str(len(refused)),
        "  of these with the place": str(sum(" at #" in asked.text for asked in refused)),
        "5xx or no answer": str(len(first) - len(compile_ms) - len(refused)),
        "  of these ended the server": str(figures.deaths),
        "finished in the limit": f"{len(finished)} of {len(answers)}",
        "  of these valid": str(len(finished) - len(figures.wrong) - figures.unchecked),
        "  of these wrong": str(len(figures.wrong)),
        "  of these not to be checked": str(figures.unchecked),
        "extra time to 1st token p50, ms": f"{median(compile_ms):.1f}",
        "extra time to 1st token p95, ms": f"{percentile(compile_ms, 0.95):.1f}",
        "tokens/s under a schema": f"{figures.tokens / figures.busy_s:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--at-once", type=int, default=8)
    given = parser.parse_args()
    model = library.find_starter()
    if model is None:
        sys.exit("The starter model is not installed; 'make setup' brings it.")
    cases = sample(given.folder, given.count, given.seed)
    program = built_llama_server()
    shape = Shape(model, given.at_once, context_tokens=2048, threads=usable_cores())
    with ExitStack() as stack:
        ours = stack.enter_context(closing(Lasting(lambda: moat(shape))))
        theirs = stack.enter_context(closing(Lasting(lambda: llama_server(program, shape))))
        found = asyncio.run(look((ours, theirs), cases, given.tokens, given.at_once))
    tables = {name: rows(figures) for name, figures in found.items()}
    say(f"{'':36}" + "".join(f"{name:>16}" for name in tables))
    for title in next(iter(tables.values())):
        say(f"{title:36}" + "".join(f"{table[title]:>16}" for table in tables.values()))
    for name, figures in found.items():
        for line in figures.wrong:
            say(f"{name} wrong: {line}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
