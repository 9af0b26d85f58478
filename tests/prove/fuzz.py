"""Fuzzing: odd bodies for every route, and mutated files and streams for every reader.

Inputs that once broke a reader are kept in the corpus, from which mutations start. Inputs that
reached new code are kept beside it (`guided`).
"""

import asyncio
import hashlib
import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator

from scripts.fuzz_api import ROUTES, Body, Told, fuzz, is_ours, made
from scripts.fuzz_api_bodies import broken
from tests.prove.askable import BODIES
from tests.prove.guided import CORPUS, FOUND, guide
from tests.prove.readers import READERS, Reader
from tests.prove.rows import Figure, Measure, Row
from tests.prove.stage import Stage
from tests.prove.wire import ask, say_hello

PATIENCE_S = 4
HURRIED_S = 1
"""The patience in the full form. Most answers are then interrupted, which is a test too."""
LOGGED_BODIES = 2_000
"""The log is read after so many bodies, before their first lines are rotated away."""
BROKEN = re.compile(r"A request failed|A request to .* failed|An agent broke|The engine stopped")
"""Also matches what is logged when a worker dies. One that is unloaded is asked to go: Ollama's
clients do so with keep_alive 0, and the next question loads the model again."""
FEWEST_BODIES = 2
"""The fewest bodies for each route."""
TOKENS = (
    b"\x00", b"\xff" * 8, b"{", b"}", b"[[", b'"', b"null", b"-1", b"1e999", b"\n\n", b"data: ",
    b"$ref", b"\xed\xa0\x80", b"NaN", b"99999999999999999999", b"{}", b"&a *a", b"!!python/name:x",
)  # fmt: skip


def seeds(reader: Reader) -> list[bytes]:
    return [path.read_bytes() for path in sorted((CORPUS / reader.name).iterdir())]


def found(reader: Reader) -> list[bytes]:
    """Returns the inputs that guided fuzzing has kept."""
    return [path.read_bytes() for path in sorted((FOUND / reader.name).glob("*"))]


def mutants(reader: Reader, count: int, seed: int) -> Iterator[bytes]:
    chance, known = random.Random(seed), seeds(reader)
    yield from known
    yield from found(reader)
    for number in range(count):
        if reader.takes_json and number % 2:
            yield json.dumps(broken(chance, json.loads(chance.choice(known)))).encode()
            continue
        data = bytearray(chance.choice(known))
        for _ in range(chance.randint(1, 6)):
            chance.choice(MUTATIONS)(chance, data, known)
        yield bytes(data)


def _flip(chance: random.Random, data: bytearray, _known: list[bytes]) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _insert(chance: random.Random, data: bytearray, _known: list[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = chance.choice(TOKENS)


def _remove(chance: random.Random, data: bytearray, _known: list[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    del data[at : at + chance.randint(1, 32)]


def _repeat(chance: random.Random, data: bytearray, _known: list[bytes]) -> None:
    at = chance.randrange(len(data) + 1)
    data[at:at] = data[at : at + chance.randint(1, 64)] * chance.randint(1, 8)


def _splice(chance: random.Random, data: bytearray, known: list[bytes]) -> None:
    other = chance.choice(known)
    at = chance.randrange(len(data) + 1)
    data[at:] = other[chance.randrange(len(other) + 1) :]


MUTATIONS: tuple[Callable[[random.Random, bytearray, list[bytes]], None], ...] = (
    _flip,
    _insert,
    _remove,
    _repeat,
    _splice,
)


def reader_row(reader: Reader) -> Measure:
    def measure(stage: Stage) -> Figure:
        count = stage.pick(200, 20_000)
        folder = stage.scratch(reader.name)
        ends: Counter[str] = Counter()
        defects: list[str] = []
        for data in mutants(reader, count, seed=1):
            try:
                reader.read(data, folder)
                ends["read"] += 1
            except reader.refusals:
                ends["refused"] += 1
            except Exception as error:  # noqa: BLE001 - finding these is what it is for
                defects.append(f"{type(error).__name__}: {error}"[:80])
                _keep(reader, data)
        guided = guide(reader, folder, stage.pick(2, 60), in_full=not stage.quick)
        text = f"{ends['read']} read, {ends['refused']} refused, {len(defects)} defects"
        return Figure(
            f"{text} {'; '.join(sorted(set(defects))[:3])}".strip() + f"; {guided.text}",
            not defects and ends["refused"] > 0 and guided.held,
        )

    return measure


def _keep(reader: Reader, data: bytes) -> None:
    """Adds the input to the corpus, so that it is tried in every later run."""
    name = hashlib.sha256(data).hexdigest()[:16]
    (CORPUS / reader.name / name).write_bytes(data)


def routes(stage: Stage) -> Figure:
    count = stage.pick(200, 20_000)
    before = log_of_errors(stage)
    address = f"http://127.0.0.1:{stage.ours.port}"
    sent = itertools.chain(made(11, count, math.inf), _more(count // 4))
    patience_s = stage.pick(PATIENCE_S, HURRIED_S)
    told, broke = _strange_paths(stage)
    reached: set[str] = set()
    while some := list(itertools.islice(sent, LOGGED_BODIES)):
        reached |= {route for route, _ in some}
        more, errors = asyncio.run(fuzz(address, iter(some), patience_s))
        told += more
        broke += [*errors, *(log_of_errors(stage) - before)]
    statuses = Counter[int]()
    for (_, status), number in told.items():
        statuses[status] += number
    serves = say_hello(stage.ours.port)
    shown = ", ".join(
        f"{number} x {status or 'left'}" for status, number in sorted(statuses.items())
    )
    missed = [
        path for method, path in stage.ours.routes if method == "POST" and path not in reached
    ]
    text = f"{told.total()} bodies over {len(reached)} routes: {shown}"
    text += f"; it {'answers' if serves else 'DOES NOT ANSWER'} afterwards"
    ours = sorted(set(broke))
    return Figure(
        f"{text} {ours[:3] or missed or ''}".strip(),
        not ours and not missed and serves and told.total() >= count,
    )


def log_of_errors(stage: Stage) -> set[str]:
    """Returns errors of ours and deaths of workers in the log. An answer that had begun, or was
    left, has no status to show them."""
    texts = [path.read_text("utf-8") for path in (stage.home / "logs").glob("moat.log*")]
    return {line for text in texts for line in text.splitlines() if BROKEN.search(line)}


def _more(count: int) -> Iterator[Body]:
    """Yields equally many bodies for each route that the fuzzer has no own bodies for."""
    chance = random.Random(12)
    others = {path: body for path, body in BODIES.items() if path not in ROUTES}
    for path, body in others.items():
        for _ in range(max(FEWEST_BODIES, count // len(others))):
            yield path, json.dumps(broken(chance, body)).encode()


def _strange_paths(stage: Stage) -> tuple[Told, list[str]]:
    """Requests the routes with parameters in their paths, filled with odd names."""
    told: Told = Counter()
    broke: list[str] = []
    odd = ("..%2f..%2fetc", "%00", "%ff", "x" * 3000, "%2e%2e", "a%2fb", "CON", "%e2%80%ae", "'--")
    for method, path in stage.ours.routes:
        if path.endswith("/x") or "/t" in path:
            for name in odd:
                asked = path.replace("/x", f"/{name}").replace("/t/", f"/{name}/")
                body = b"{}" if method == "POST" else None
                answer = ask(stage.ours.port, method, asked, {}, body)
                told[path, answer.status] += 1
                if is_ours(path, answer.status, answer.body):
                    broke.append(f"{answer.status} from {method} {asked[:80]}")
    return told, broke


ROWS = (
    Row(
        "F8",
        "No body over any route makes an error of ours or ends a worker",
        "0 errors of ours in answers or the log, 0 worker deaths, no route left out",
        routes,
    ),
    *(
        Row(
            f"F8{letter}",
            f"The {reader.name} reader takes or refuses whatever it gets",
            "0 defects",
            reader_row(reader),
            beside="apart",
        )
        for letter, reader in zip("abcde", READERS, strict=True)
    ),
)
