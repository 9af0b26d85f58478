"""A worker without a model that follows instructions in the model's file name and the prompt.

It speaks the frames of server.engine.wire on stdin and stdout, so that faults happen exactly when a
test needs them.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from server.engine.wire import LENGTH, pack, unpack
from server.system import processes

FACTS: dict[str, Any] = {
    "name": "scripted",
    "context_tokens": 512,
    "template": "{{ messages }}",
    "special_tokens": ["<eos>"],
    "extra": {"pid": os.getpid()},
}
LOST = {"template": {}, "template_lost": "it did not answer", "template_again": True}
FOUND = {"template": {"calls": True}, "template_lost": "", "template_again": False}
USAGE = {"prompt_tokens": 3, "completion_tokens": 2}
GARBAGE = b"Segmentation fault (core dumped)\n" * 3
cancelled: set[int] = set()
running: set[int] = set()
stuck: set[int] = set()
tried: list[int] = []
pings: list[int] = []


def send(frame: dict[str, Any]) -> None:
    os.write(1, pack(frame))


def step(*items: list[Any]) -> None:
    send({"op": "step", "of": list(items)})


def receive() -> dict[str, Any]:
    head = os.read(0, LENGTH.size)
    if len(head) < LENGTH.size:
        os._exit(0)
    (size,) = LENGTH.unpack(head)
    body = b""
    while len(body) < size:
        body += os.read(0, size - len(body))
    return unpack(body)


def load(path: Path) -> None:
    send({"op": "progress", "done": 0.5})
    match path.stem:
        case "broken":
            send({"op": "failed", "code": "model_load_failed", "message": "The file is damaged."})
            sys.exit(1)
        case "hung":
            while True:  # seldom, so that it does not count as computing on a slow machine
                send({"op": "progress", "done": 0.5})
                time.sleep(0.2)
        case "crashing":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "short-lived":
            threading.Timer(0.05, os._exit, [7]).start()
        case "slow":
            time.sleep(0.3)
        case "once" if path.exists():
            os.kill(os.getpid(), signal.SIGABRT)
        case "once":
            path.touch()
        case "untried":
            FACTS["extra"] |= LOST
    send({"op": "ready", "facts": FACTS})


def generate(number: int, job: dict[str, Any]) -> None:
    running.add(number)
    match (job["prompt"] or job["messages"][-1]["content"]).split():
        case ["fault", name]:
            fault(name)
        case ["half", name]:
            step([number, "prompt", 3, 3], [number, "text", "half", None])
            time.sleep(0.05)
            fault(name)
        case ["first", path, name]:
            if not Path(path).exists():
                Path(path).touch()
                fault(name)
            finish(number, "second try")
        case ["refuse", code]:
            facts = {"needed": 900, "available": 512, "param": "messages", "waiting": 7}
            step([number, "error", code, "No.", facts])
        case ["late-refusal"]:
            step(
                [number, "text", "some", None],
                [number, "error", "template_failed", "Too late.", {}],
            )
        case ["endless"]:
            threading.Thread(target=endless, args=(number,), daemon=True).start()
            return
        case ["stuck"]:
            step([number, "prompt", 1, 3])
            return
        case ["logprobs"]:
            top = [["a", b"a", -0.1], ["b", b"b", -2.0]]
            step([number, "text", "a", [["a", b"a", -0.1, top]]], [number, "end", "stop", USAGE])
        case words:
            finish(number, " ".join(words))
    running.discard(number)


def finish(number: int, text: str) -> None:
    items: list[list[Any]] = [[number, "text", letter, None] for letter in text]
    step([number, "prompt", 1, 3], [number, "prompt", 3, 3], *items, [number, "end", "stop", USAGE])


def endless(number: int) -> None:
    while number not in cancelled:
        step([number, "text", "more ", None])
        time.sleep(0.01)
    step([number, "end", "stop", USAGE])
    running.discard(number)


def fault(name: str) -> None:
    match name:
        case "garbage":
            os.write(1, GARBAGE)
            time.sleep(60)
        case "hang":
            time.sleep(60)
        case "exit":
            os._exit(0)
        case "close":
            os.close(1)
            time.sleep(60)
        case "child":
            # A child of the worker keeps the pipe open after the worker died.
            if os.fork() == 0:
                time.sleep(60)
            os._exit(3)
        case _:
            os.kill(os.getpid(), signal.Signals[name])


def answer(frame: dict[str, Any]) -> None:
    match frame["what"]:
        case "tokenize":
            value: Any = [ord(letter) for letter in frame["with"]["text"]]
        case "detokenize":
            value = "".join(map(chr, frame["with"]["tokens"]))
        case "render":
            value = repr(frame["with"]["messages"])
        case "embed" if frame["with"]["texts"] == ["stuck"]:
            stuck.add(frame["id"])
            return
        case "template":
            tried.append(frame["id"])
            value = LOST if len(tried) == 1 else FOUND
        case "stats":
            value = {"running": len(running), "cancelled": sorted(cancelled), "pings": len(pings)}
        case _:
            frame |= {"op": "refused", "code": "not_supported", "message": "This model cannot."}
            send({key: frame[key] for key in ("op", "id", "code", "message")})
            return
    send({"op": "answer", "id": frame["id"], "value": value})


def main() -> None:
    processes.die_with_parent()
    sys.stderr.write("info: scripted worker up\n")
    load(Path(receive()["path"]))
    while True:
        match receive():
            case {"op": "generate", "id": number, "job": job}:
                generate(number, job)
            case {"op": "cancel", "id": number}:
                cancelled.add(number)
            case {"op": "ask"} as frame:
                answer(frame)
            case {"op": "ping", "id": number}:
                pings.append(number)
                told = {"steps": 0, "running": len(running), "waiting": 0}
                told |= {"errands": len(stuck), "errands_done": 0}
                send({"op": "pong", "id": number, **told})
            case {"op": "quit"}:
                return


if __name__ == "__main__":
    main()
