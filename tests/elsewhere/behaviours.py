"""Every behaviour of an engine elsewhere, tested from outside. Each answer goes into a transcript.

The servers are started by the files in packaging/team, as docs/team.md describes it.
"""

import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

from scripts.build_llama_server import llama_server as built_llama_server
from tests.bench.servers import ROOT, free_port
from tests.contract.test_images import picture
from tests.elsewhere.stage import LOOPBACK, RESULTS, keep, moat_before, say, starter
from tests.kit.projectors import write_projector, write_reader
from tests.kit.running import until

Json = dict[str, Any]
TEAM = ROOT / "packaging" / "team"
START_S = 600.0
NAME = "team"
FAILED = (502, 503)
MASTER_KEY = f"sk-{secrets.token_hex(24)}"
HERE = "SmolLM2-135M-Instruct"
USER = {"role": "user", "content": "Say hello to Oslo."}
CITY = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Oslo", "Rome"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
WEATHER = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
ZONES = ["UTC", "CET"]
CLOCK = {
    "type": "function",
    "function": {
        "name": "clock",
        "parameters": {
            "type": "object",
            "properties": {"zone": {"enum": ZONES}},
            "required": ["zone"],
            "additionalProperties": False,
        },
    },
}
MUST = {"type": "function", "function": {"name": "weather"}}
FORM = {"type": "json_schema", "json_schema": {"name": "x", "schema": CITY, "strict": True}}
LONG = {"stream": True, "max_tokens": 900, "ignore_eos": True}


@dataclass(slots=True)
class Place:
    """The server that is asked, and the far server, whose own figures show if it is working."""

    address: str
    engine: str
    process: psutil.Process | None = None
    key: str = ""
    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        self.lines.append(text)
        say(f"  {text[:160]}")


@contextmanager
def reply_to(
    place: Place, path: str, body: Json | None = None
) -> Iterator[http.client.HTTPResponse]:
    parts = urlsplit(place.address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=START_S)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {place.key or 'x'}"}
    sent = None if body is None else json.dumps(body)
    with closing(connection):
        connection.request("GET" if body is None else "POST", path, sent, headers)
        with connection.getresponse() as reply:
            yield reply


def ask(place: Place, path: str, body: Json | None = None, *statuses: int) -> Any:
    with reply_to(place, path, body) as reply:
        text = reply.read().decode()
    if body is not None:
        place.note(f"> POST {path} {json.dumps({**body, 'messages': '…'})}")
    place.note(f"< {reply.status} {text}")
    assert reply.status in (statuses or (200,)), reply.status
    return json.loads(text)


def chat(place: Place, **fields: Any) -> Json:
    body = {"model": NAME, "messages": [USER], "temperature": 0, "max_tokens": 60, **fields}
    found: Json = ask(place, "/v1/chat/completions", body)["choices"][0]["message"]
    return found


def try_chat(place: Place) -> None:
    assert chat(place)["content"]


def try_stream(place: Place) -> None:
    body = {"model": NAME, "messages": [USER], "temperature": 0, "max_tokens": 12, "stream": True}
    with reply_to(place, "/v1/chat/completions", body) as reply:
        lines = reply.read().decode().splitlines()
    for line in filter(None, lines):
        place.note(f"< {line}")
    texts = [line for line in lines if '"content"' in line]
    assert len(texts) > 2
    assert "data: [DONE]" in lines


def try_tools(place: Place) -> None:
    _check_calls(chat(place, tools=[WEATHER], tool_choice=MUST)["tool_calls"])


def try_required(place: Place) -> None:
    """Offers two tools, of which the model must call one."""
    _check_calls(chat(place, tools=[WEATHER, CLOCK], tool_choice="required")["tool_calls"])


def try_auto(place: Place) -> None:
    """Lets the model call or answer. A call must fit, an answer must have words."""
    asked = {"role": "user", "content": "How is the weather in Rome for the next 3 days? Call it."}
    found = chat(place, messages=[asked], tools=[WEATHER], max_tokens=200)
    has_called = bool(found.get("tool_calls"))
    place.note("it called" if has_called else "it answered without a call")
    if has_called:
        _check_calls(found["tool_calls"])
    else:
        _check_words(found)


def try_result(place: Place) -> None:
    """Continues a conversation that contains a call and its result."""
    made = {"name": "weather", "arguments": json.dumps({"city": "Rome", "days": 3})}
    calls = [{"id": "call_1", "type": "function", "function": made}]
    result = {"role": "tool", "tool_call_id": "call_1", "content": "sunny, 21 degrees"}
    turns = [USER, {"role": "assistant", "content": "", "tool_calls": calls}, result]
    _check_words(chat(place, messages=turns, tools=[WEATHER], tool_choice="none"))


def try_tool_stream(place: Place) -> None:
    """Checks that a call's first piece has its name, and that its pieces form the arguments."""
    for choice in (MUST, "required"):
        pieces = [
            call
            for delta in _deltas(place, tools=[WEATHER], tool_choice=choice)
            for call in delta.get("tool_calls") or ()
        ]
        texts = [piece["function"].get("arguments") or "" for piece in pieces]
        whole = {"name": pieces[0]["function"]["name"], "arguments": "".join(texts)}
        _check_calls([{"id": pieces[0]["id"], "function": whole}])


def _check_calls(found: list[Json]) -> None:
    assert found
    for call in found:
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        assert call["id"]
        if name == "clock":
            assert arguments["zone"] in ZONES
            continue
        assert name == "weather"
        assert arguments["city"] in ("Oslo", "Rome")
        assert 1 <= arguments["days"] <= 9


def _check_words(found: Json) -> None:
    assert found["content"].strip()
    assert not found.get("tool_calls")


def try_schema(place: Place) -> None:
    found = json.loads(chat(place, response_format=FORM)["content"])
    assert found["city"] in ("Oslo", "Rome")


def try_schema_stream(place: Place) -> None:
    texts = [delta.get("content") or "" for delta in _deltas(place, response_format=FORM)]
    found = json.loads("".join(texts))
    assert found["city"] in ("Oslo", "Rome")
    assert 1 <= found["days"] <= 9


def _deltas(place: Place, **fields: Any) -> list[Json]:
    """Returns the deltas of a streamed answer, which must end as the protocol requires."""
    body = {"model": NAME, "messages": [USER], "temperature": 0, "max_tokens": 60, "stream": True}
    place.note(f"> POST /v1/chat/completions {json.dumps({**body, **fields, 'messages': '…'})}")
    with reply_to(place, "/v1/chat/completions", {**body, **fields}) as reply:
        lines = reply.read().decode().splitlines()
    for line in filter(None, lines):
        place.note(f"< {line}")
    assert "data: [DONE]" in lines
    chunks = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    return [choice["delta"] for chunk in chunks for choice in chunk["choices"]]


def try_embeddings(place: Place) -> None:
    """Checks that each text gets a vector of its own, and the same text the same one."""
    texts = ["Oslo is cold.", "Rome is warm.", "Oslo is cold."]
    rows = ask(place, "/v1/embeddings", {"model": NAME, "input": texts})["data"]
    first, second, again = (row["embedding"] for row in sorted(rows, key=lambda row: row["index"]))
    assert len(first) == len(second) > 1
    assert max(abs(one - other) for one, other in zip(first, again, strict=True)) < 1e-3
    assert max(abs(one - other) for one, other in zip(first, second, strict=True)) > 1e-3


def try_image(place: Place) -> None:
    """Checks by the prompt's length that the image has reached the model.

    The text comes last: llama-server breaks off where a prompt ends with an image, as this model's
    would without a text behind it.
    """
    url = {"url": f"data:image/png;base64,{picture()}"}
    parts = [{"type": "image_url", "image_url": url}, {"type": "text", "text": USER["content"]}]
    lengths = []
    for content in (USER["content"], parts):
        body = {"model": NAME, "messages": [{"role": "user", "content": content}], "max_tokens": 4}
        lengths.append(ask(place, "/v1/chat/completions", body)["usage"]["prompt_tokens"])
    assert lengths[1] > lengths[0] + 8, lengths


def try_overlong(place: Place) -> None:
    body = {"model": NAME, "messages": [{"role": "user", "content": "word " * 20_000}]}
    text = json.dumps(ask(place, "/v1/chat/completions", body, 400))
    assert "context" in text.lower() or "token" in text.lower()


def try_cancel(place: Place) -> None:
    """Checks by the far server's own figures that its work ends when the client leaves."""
    with reply_to(place, "/v1/chat/completions", {"model": NAME, "messages": [USER], **LONG}) as it:
        while b'"content"' not in it.readline():
            pass
        place.note(f"running while the client reads: {running(place.engine)}")
        assert running(place.engine) == 1
    until(lambda: running(place.engine) == 0)
    place.note("running after it left: 0")


def running(engine: str) -> int:
    """Returns how many requests the far server is computing, by its own /metrics."""
    parts = urlsplit(engine)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=START_S)
    with closing(connection):
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    names = (
        "llamacpp:requests_processing",
        "vllm:num_requests_running",
        "moat_running_requests",
    )
    found = [line for line in text.splitlines() if line.startswith(names)]
    return int(sum(float(line.split()[-1]) for line in found))


def try_hang(place: Place) -> None:
    """Stops the far server. A probe must notice it, and the open request must fail."""
    assert place.process
    place.process.send_signal(signal.SIGSTOP)
    try:
        body = {"model": NAME, "messages": [USER], "max_tokens": 4}
        text = json.dumps(ask(place, "/v1/chat/completions", body, *FAILED))
        assert "does not answer" in text
        try_here(place)
    finally:
        place.process.send_signal(signal.SIGCONT)
    body = {"model": NAME, "messages": [USER], "max_tokens": 4}
    until(lambda: _status(place, body) == 200, START_S)
    place.note("it goes on, and is asked again")


def _status(place: Place, body: Json) -> int:
    with reply_to(place, "/v1/chat/completions", body) as reply:
        reply.read()
        return reply.status


def try_here(place: Place) -> None:
    """Checks that a model on this machine is served meanwhile."""
    body = {"model": HERE, "messages": [USER], "max_tokens": 4}
    assert ask(place, "/v1/chat/completions", body)["usage"]["completion_tokens"] > 0


def try_death(place: Place) -> None:
    assert place.process
    with reply_to(place, "/v1/chat/completions", {"model": NAME, "messages": [USER], **LONG}) as it:
        while b'"content"' not in it.readline():
            pass
        place.process.kill()
        text = it.read().decode()
    place.note(f"< … {text[-300:]}")
    assert "cannot be reached or broke off" in text
    body = {"model": NAME, "messages": [USER], "max_tokens": 4}
    ask(place, "/v1/chat/completions", body, *FAILED)
    try_here(place)


ASKED: dict[str, Callable[[Place], None]] = {
    "chat": try_chat,
    "stream": try_stream,
    "tools, one named": try_tools,
    "tools, required": try_required,
    "tools, auto": try_auto,
    "tools, a result": try_result,
    "tools, streamed": try_tool_stream,
    "JSON schema": try_schema,
    "JSON schema, streamed": try_schema_stream,
    "too long": try_overlong,
    "cancel": try_cancel,
}
FAULTS: dict[str, Callable[[Place], None]] = {"hangs": try_hang, "dies": try_death}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a far server is asked for, and how it is started for that."""

    attempts: dict[str, Callable[[Place], None]]
    llama: Callable[[Path], list[str]]
    """Returns the model for llama-server, which it may write into the folder, and options."""
    vllm: tuple[str, ...] = ()


def write_eyes(folder: Path) -> list[str]:
    model = write_reader(folder / "small.gguf", "llama")
    return [str(model), "--mmproj", str(write_projector(folder / "eyes.gguf", width=64))]


CHATS = Kind(ASKED | FAULTS, lambda _folder: [str(starter())])
EMBEDS = Kind(
    {"embeddings": try_embeddings},
    lambda _folder: [str(starter()), "--embeddings", "--pooling", "mean"],
    ("--runner", "pooling", "--convert", "embed"),
)
SEES = Kind({"images": try_image}, write_eyes)


def run_behaviours(where: str, programs: list[str]) -> int:
    """Runs all tests in one place. `programs` are folders to search for vllm and litellm."""
    folders = [str(Path(sys.executable).parent), *programs, os.environ["PATH"]]
    path = os.pathsep.join(folders)
    worst, lines = 0, []
    opened, kinds = PLACES[where]
    for kind in kinds:
        with opened(path, kind) as place:
            for name, attempt in kind.attempts.items():
                if place.process or name not in FAULTS:
                    worst |= _attempt(place, name, attempt)
        lines += place.lines
    keep(f"behaviours-{where}.txt", "\n".join(lines))
    return worst


def _attempt(place: Place, name: str, attempt: Callable[[Place], None]) -> int:
    say(name)
    place.lines.append(f"\n## {name}")
    try:
        attempt(place)
    except (AssertionError, KeyError, TypeError, ValueError, OSError) as error:
        place.note(f"FAILED: {type(error).__name__} {error}")
        return 1
    place.note("passed")
    return 0


@contextmanager
def before_llama_server(path: str, kind: Kind) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "llama-server").symlink_to(built_llama_server())
        found = f"{folder}{os.pathsep}{path}"
        threads = os.environ.get("THREADS")
        options = (*kind.llama(Path(folder)), *(("-t", threads) if threads else ()))
        with by_script("before-llama-server.sh", found, *options) as place:
            yield place


@contextmanager
def before_vllm(path: str, kind: Kind) -> Iterator[Place]:
    model = os.environ.get("MODEL") or sys.exit("MODEL names the folder of a model for vLLM.")
    options = ("--enforce-eager", "--max-model-len", "2048", "--max-num-seqs", "8")
    with by_script("before-vllm.sh", path, str(model), *options, *kind.vllm) as place:
        yield place


@contextmanager
def by_script(name: str, path: str, model: str, *options: str) -> Iterator[Place]:
    """Runs a file of packaging/team. The block begins when Moat is ready."""
    port, engine = free_port(), free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "PATH": path, "MODEL": model, "MOAT_HOME": home}
        environment |= {"PORT": str(port), "ENGINE_PORT": str(engine)}
        environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
        RESULTS.mkdir(parents=True, exist_ok=True)
        command = ["sh", str(TEAM / name), *options]
        with (RESULTS / f"{name}.log").open("wb") as log:
            began = time.monotonic()
            script = psutil.Popen(command, env=environment, cwd=ROOT, stdout=log, stderr=log)
            try:
                place = Place(f"http://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{engine}")
                _wait_for(script, place, "/ready")
                place.note(f"sh {name}: ready after {time.monotonic() - began:.0f} s")
                place.process = _engine_of(script, engine)
                yield place
            finally:
                _end(script)


def _wait_for(process: psutil.Popen, place: Place, path: str) -> None:
    until(lambda: process.poll() is not None or _answers(place, path), START_S)
    if process.poll() is not None:
        sys.exit(f"{place.address} ended before it answered; its log is in {RESULTS}.")


def _answers(place: Place, path: str) -> bool:
    with suppress(OSError), reply_to(place, path) as reply:
        return reply.status == 200
    return False


def _engine_of(script: psutil.Process, port: int) -> psutil.Process:
    found = (child for child in script.children() if str(port) in child.cmdline())
    return next(child for child in found if "serve" in " ".join(child.cmdline()))


def _end(script: psutil.Process) -> None:
    family = [script]
    with suppress(psutil.Error):
        family += script.children(recursive=True)
    for process in family:
        with suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)
            process.terminate()
    _, left = psutil.wait_procs(family, timeout=20)
    for process in left:
        with suppress(psutil.Error):
            process.kill()


@contextmanager
def litellm_behind(path: str, kind: Kind) -> Iterator[Place]:
    """Moat before LiteLLM's proxy before llama-server."""
    with (
        before_llama_server(path, kind) as far,
        litellm(path, f"{far.engine}/v1") as proxy,
        moat_before(**_proxied(f"{proxy}/v1", kind)) as moat,
    ):
        yield Place(moat.address, far.engine)


def _proxied(url: str, kind: Kind) -> dict[str, str]:
    """Returns the variables for an engine behind a proxy, which cannot say what the model sees."""
    engine = {"name": NAME, "urls": [url], "images": "yes" if kind is SEES else "ask"}
    listed = json.dumps([engine])
    return {"MOAT_ENGINES__ELSEWHERE": listed, "MOAT_SECRET_ENGINE_TEAM": MASTER_KEY}


@contextmanager
def litellm_before(path: str, kind: Kind) -> Iterator[Place]:
    """LiteLLM's proxy before Moat before llama-server."""
    with (
        before_llama_server(path, kind) as far,
        litellm(path, f"{far.address}/v1") as proxy,
    ):
        yield Place(proxy, far.engine, key=MASTER_KEY)


@contextmanager
def litellm(path: str, url: str, model: str = NAME) -> Iterator[str]:
    port = free_port()
    command = ["litellm", "--config", str(TEAM / "litellm.yaml"), "--port", str(port)]
    environment = {**os.environ, "PATH": path, "MOAT_URL": url, "MOAT_KEY": "none"}
    environment |= {"LITELLM_MASTER_KEY": MASTER_KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    environment["MOAT_MODEL"] = f"openai/{model}"
    RESULTS.mkdir(parents=True, exist_ok=True)
    with (RESULTS / "litellm.log").open("wb") as log:
        proxy = psutil.Popen(
            command, env=environment, stdout=log, stderr=subprocess.STDOUT, cwd=RESULTS
        )
        try:
            place = Place(f"http://{LOOPBACK}:{port}", "", key=MASTER_KEY)
            _wait_for(proxy, place, "/v1/models")
            yield place.address
        finally:
            _end(proxy)


@contextmanager
def litellm_alone(path: str, _kind: Kind) -> Iterator[Place]:
    """LiteLLM's proxy before a Moat that runs the starter itself."""
    with moat_before() as moat, litellm(path, f"{moat.address}/v1", HERE) as proxy:
        yield Place(proxy, moat.address, key=MASTER_KEY)


ALL = (CHATS, EMBEDS, SEES)
PLACES: dict[str, tuple[Callable[[str, Kind], AbstractContextManager[Place]], tuple[Kind, ...]]] = {
    "llama-server": (before_llama_server, ALL),
    "vllm": (before_vllm, (CHATS, EMBEDS)),
    "litellm-behind": (litellm_behind, ALL),
    "litellm-before": (litellm_before, ALL),
    "litellm": (litellm_alone, (CHATS,)),
}
