"""`moat serve` from the outside: real process, real worker, real starter model."""

import json
import os
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import openai
import psutil
import pytest

from server.system import processes
from tests.kit.running import SERVES, Moat, all_gone, chat, post, serving, started, until

TYPED_END = (b"engine_crashed", b"server_stopping")


@pytest.fixture
def moat() -> Iterator[Moat]:
    with serving() as running:
        yield running


def read_first_words(reply) -> bytes:
    seen = b""
    while seen.count(b'"content": "') < 3 and seen.count(b'"content":"') < 3:
        line = reply.readline()
        assert line, seen
        seen += line
    return seen


def test_the_openai_sdk_streams_a_chat_and_openbb_gets_its_chunks(moat: Moat):
    client = openai.OpenAI(base_url=f"{moat.address}/v1", api_key="none")
    message = {"role": "user", "content": "Say hello."}
    stream = client.chat.completions.create(
        model=client.models.list().data[0].id, messages=[message], stream=True, max_tokens=16
    )
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert chunks[-1].choices[0].finish_reason in ("stop", "length")

    with urllib.request.urlopen(f"{moat.address}/copilots.json") as reply:
        (copilot,) = json.load(reply).values()
    query = {"messages": [{"role": "human", "content": "Say hello."}]}
    events = post(copilot["endpoints"]["query"], query).read().decode().split("\n\n")
    chunks = [event for event in events if event.startswith("event: copilotMessageChunk\n")]
    assert chunks
    assert all(json.loads(chunk.split("data: ")[1])["delta"] for chunk in chunks)


def test_a_killed_worker_ends_the_answer_typed_and_the_next_is_answered(moat: Moat):
    reply = post(f"{moat.address}/v1/chat/completions", chat("Tell me a long story."))
    read_first_words(reply)
    moat.worker().kill()
    rest = reply.read()
    assert b"engine_crashed" in rest
    assert moat.process.poll() is None
    answer = json.load(
        post(f"{moat.address}/v1/chat/completions", chat("Hi", stream=False, max_tokens=4))
    )
    assert answer["usage"]["completion_tokens"] == 4


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_everything_in_mid_answer(moat: Moat, number: signal.Signals):
    reply = post(f"{moat.address}/v1/chat/completions", chat("Tell me a long story."))
    read_first_words(reply)
    family = moat.family()
    assert len(family) >= 2
    os.kill(moat.pid, number)
    assert b"server_stopping" in reply.read()
    all_gone(family)
    assert moat.process.wait() == 0


def test_a_killed_server_leaves_no_worker(moat: Moat):
    family = moat.family()
    moat.process.kill()
    all_gone(family)


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that another program listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_taken_port_is_named_and_the_next_used(taken: int, moat_home: Path):
    (moat_home / "config").mkdir(parents=True)
    settings = {"server": {"port": taken}, "model": {"load_at_start": False}}
    (moat_home / "config" / "settings.json").write_text(json.dumps(settings), "utf-8")
    with started(processes.command("serve"), {}) as process:
        moat = Moat(process)
        moat.read_until(SERVES)
        assert f"Port {taken} is taken by " in moat.lines[0]
        assert f"(process {os.getpid()}); Moat uses " in moat.lines[0]
        assert moat.address != f"http://127.0.0.1:{taken}"


def test_a_port_that_was_asked_for_is_refused_when_it_is_taken(taken: int):
    command = processes.command("serve", "--port", str(taken))
    environment = processes.environment("serve")
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 1
    assert f"Port {taken} is taken by " in ran.stdout
    assert "Loading" not in ran.stdout
    assert SERVES not in ran.stdout


def test_a_wrong_model_is_said_and_ends_the_command():
    command = processes.command("serve", "--port", "0", "--model", "no-such-model")
    environment = processes.environment("serve")
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert ran.returncode == 2
    assert "There is no model 'no-such-model' here. Installed: SmolLM2" in ran.stderr


def test_as_a_child_it_ends_typed_soon_after_its_parent(tmp_path):
    process = subprocess.Popen(
        processes.command("serve", "--port", "0", "--child"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=processes.environment("serve"),
    )
    moat = Moat(process)
    try:
        assert process.stdin
        assert process.stdout
        process.stdin.write("the-secret\n")
        process.stdin.flush()
        control = json.loads(process.stdout.readline())["control"]
        moat.address = until(lambda: address(control))
        reply = post(f"{moat.address}/v1/chat/completions", chat("Tell me a long story."))
        read_first_words(reply)
        family = moat.family()
        process.stdin.close()  # what the kernel does when the parent is killed
        rest = reply.read()
        assert b"server_stopping" in rest or b"[DONE]" in rest
        all_gone(family)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def address(control: str) -> str | None:
    """Where the server says, over its control link, that it listens."""
    headers = {"Authorization": "Bearer the-secret"}
    request = urllib.request.Request(f"{control}/control/stream", headers=headers)
    with urllib.request.urlopen(request) as stream:
        for line in stream:
            if line.startswith(b'data: {"value":"server"'):
                found: str = json.loads(line[6:])["data"]["address"]
                return found
    return None


def test_only_loopback_is_listened_on(moat: Moat):
    listening = [
        one.laddr.ip
        for process in moat.family()
        for one in process.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN
    ]
    assert set(listening) <= {"127.0.0.1", "::1"}
