"""Load: many streams, bursts, and requests that end in every possible way."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.prove.rows import Figure, Row
from tests.prove.stage import QUIET, ROOT, Stage, Target, moat_at, port_of
from tests.prove.streams import DIALECTS, OPENAI, Heard, asking, listen
from tests.prove.wire import chat, say_hello

CLIENTS = 500
BURST = 2000
EVERY_S = 0.5
COMING_S = 5.0
LAG_MS = 50.0
WIDE = {
    "model": {"slots": 4, "context_tokens": 1024, "queue_limit": 1024, "gpu_layers": 0},
    "server": {"max_requests": 2048},
}


class Counting:
    """The server with the counting model, in a separate process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout
        self.process = process
        self.port = int(process.stdout.readline().rsplit(":", 1)[1])

    def figures(self) -> dict[str, float]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        found: dict[str, float] = json.loads(self.process.stdout.readline())
        return found

    def rss_mb(self) -> float:
        return float(psutil.Process(self.process.pid).memory_info().rss / 2**20)


@contextmanager
def counting(home: Path) -> Iterator[Counting]:
    settings = home / "config" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"server": {"max_requests": 2048}}), encoding="utf-8")
    environment = {**os.environ, **QUIET, "MOAT_HOME": str(home), "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.prove.counting"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield Counting(process)
        finally:
            process.kill()


async def many(server: Counting, clients: int, text: str) -> list[Heard]:
    """Runs clients that begin within a few seconds. The lag counts only after that."""

    async def one(number: int) -> Heard:
        await asyncio.sleep(number * COMING_S / clients)
        return await listen(server.port, DIALECTS[number % len(DIALECTS)], text)

    async def settle() -> None:
        await asyncio.sleep(COMING_S)
        server.figures()

    *heard, _ = await asyncio.gather(*(one(number) for number in range(clients)), settle())
    return [one for one in heard if one is not None]


def numbered(stage: Stage) -> Figure:
    """Checks that every client gets every number once and in order."""
    pieces = stage.pick(30, 1200)
    expected = "".join(f"{number} " for number in range(pieces))
    with counting(stage.scratch("counting")) as server:
        before = server.rss_mb()
        heard = asyncio.run(many(server, CLIENTS, f"count {pieces} every {EVERY_S}"))
        found, grown = server.figures(), server.rss_mb() - before
    whole = sum(one.text == expected and one.ended for one in heard)
    text = (
        f"{whole} of {CLIENTS} heard all {pieces} numbered pieces once and in order (5 protocols, "
        f"{pieces * EVERY_S:.0f} s, counting model); loop lag p99 {found['p99_ms']:.0f} ms, of its "
        f"own making {found['own_p99_ms']:.0f} ms, memory +{grown:.0f} MB"
    )
    # The short form only shows the lag, because it runs on a machine that may be busy.
    in_time = stage.quick or found["own_p99_ms"] < LAG_MS
    return Figure(text, whole == CLIENTS and in_time and not found["running"])


def real_streams(stage: Stage) -> Figure:
    """Runs many clients on the real model, which answers them in turn."""
    clients = stage.pick(100, CLIENTS)
    with moat_at(stage.scratch("wide"), WIDE) as moat:
        port = port_of(moat)
        heard = asyncio.run(_all_of(port, clients))
    whole = sum(one.ended and bool(one.text) for one in heard)
    return Figure(
        f"{whole} of {clients} at once were answered to the end by the real model", whole == clients
    )


async def _all_of(port: int, clients: int) -> list[Heard]:
    return await asyncio.gather(*(listen(port, OPENAI, f"Say {n}.", 2) for n in range(clients)))


def burst(target: Target, count: int, patience_s: float) -> Figure:
    heard = asyncio.run(_all_at_once(target.port, count, patience_s))
    served = sum(one.status == 200 and one.ended for one in heard)
    refused = sum(one.refused and one.retry_after for one in heard)
    bare = sum(one.refused and not one.retry_after for one in heard)
    lost = count - served - refused - bare
    text = f"{count} at once: {served} served, {refused} refused with Retry-After"
    text += f", {bare} without it" * bool(bare)
    return Figure(
        f"{text}, {lost} without an answer in {patience_s:.0f} s",
        served > 0 and served + refused == count,
    )


async def _all_at_once(port: int, count: int, patience_s: float) -> list[Heard]:
    async def one(number: int) -> Heard:
        try:
            async with asyncio.timeout(patience_s):
                return await listen(port, OPENAI, f"Say {number}.", 1)
        except TimeoutError:
            return Heard(failed="no answer")

    return await asyncio.gather(*(one(number) for number in range(count)))


def nothing_lost(stage: Stage) -> Figure:
    """Checks that every accepted request has exactly one end in the log, whatever happened."""
    home = stage.scratch("lost")
    with moat_at(home, {"model": {"slots": 2, "context_tokens": 1024}}) as moat:
        port = port_of(moat)
        asked = asyncio.run(_mixed(port, stage.pick(30, 300), moat.worker().kill))
        say_hello(port)
        moat.process.terminate()
        moat.process.wait()
    log = (home / "logs" / "moat.log").read_text("utf-8")
    ends = Counter(
        line.split("/v1/chat/completions: ")[1].split(",")[0]
        for line in log.splitlines()
        if "/v1/chat/completions: " in line
    )
    told = ", ".join(f"{number} {end}" for end, number in ends.most_common())
    text = f"{asked + 1} accepted, {ends.total()} ends logged: {told}"
    crashed = any(end not in ("length", "stop", "left") for end in ends)
    return Figure(text, ends.total() == asked + 1 and bool(ends["left"]) and crashed)


async def _mixed(port: int, count: int, kill: Any) -> int:
    """Sends requests. Some clients leave early, and the worker dies once. Returns the count."""
    killer = count // 2 // 3 * 3 + 1

    async def one(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = chat(f"Write {number} lines.", 12, stream=True, ignore_eos=True)
        writer.write(asking(port, OPENAI.path, body))
        await reader.readline()
        if number == killer:
            # During an answer: a request without any text yet would only be repeated.
            await _pieces(reader, 3)
            kill()
        if number % 3:
            await reader.read()
        writer.close()

    for start in range(0, count, 10):
        await asyncio.gather(*(one(number) for number in range(start, start + 10)))
    return count


async def _pieces(reader: asyncio.StreamReader, count: int) -> None:
    heard = 0
    while heard < count:
        heard += (await reader.readline()).startswith(b"data: ")


ROWS = (
    Row(
        "F1",
        "500 clients at once lose nothing: all pieces, once, in order, over five protocols",
        f"all of them; in full loop lag p99 < {LAG_MS:.0f} ms of its own making",
        numbered,
    ),
    Row("F1a", "The real model answers as many clients in turn", "all of them", real_streams),
    Row(
        "F2",
        "A burst is served or refused with a time to come back: nobody is left hanging",
        "served + refused = all",
        lambda stage: burst(stage.ours, BURST, 240),
        lambda stage: burst(stage.theirs, stage.pick(200, BURST), stage.pick(60, 240)),
    ),
    Row(
        "F21",
        "Every accepted request ends exactly once: done, left, or with a typed error",
        "ends = accepted, all three seen",
        nothing_lost,
    ),
)
