"""Serves a Moat in a process of its own, with an oracle or a real model, and logs every call.

    python -m tests.evaluate.serve ENGINE LOG

ENGINE is the name of an oracle, or the path of a GGUF file, or 'starter'. PLAN=1 in the environment
lets any model pass the trial.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

from server.chat import ChatRequest
from server.core.core import Core
from server.dashboard import trial
from server.engine.base import Engine, EngineOptions
from server.engine.process import WorkerProcess
from server.events import Finished, Pieces, ReasoningDelta, TextDelta
from server.system import paths
from tests.evaluate.oracle import ENGINES

Json = dict[str, Any]
STARTER = "starter"
READY = "Serving on "
GRACE_S = 20.0


class Recorded:
    """An engine that logs each request and its outcome."""

    def __init__(self, engine: Engine, log: Path) -> None:
        self._engine = engine
        self._log = log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def generate(self, request: ChatRequest) -> Pieces:
        entry = _entry(request)
        began = time.monotonic()
        try:
            async with aclosing(self._engine.generate(request)) as pieces:
                async for piece in pieces:
                    match piece:
                        case TextDelta(text):
                            entry["text"] += text
                        case ReasoningDelta(text):
                            entry["thought"] += len(text)
                        case Finished(reason, usage):
                            entry |= {"reason": reason, "read": usage.prompt_tokens}
                            entry |= {"cached": usage.cached_tokens}
                            entry["written"] = usage.completion_tokens
                    yield piece
        finally:
            entry["seconds"] = round(time.monotonic() - began, 3)
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _entry(request: ChatRequest) -> Json:
    told = [[one.role, one.content] for one in request.messages]
    return {
        "messages": told,
        "is_bound": request.constraint is not None,
        "max_tokens": request.max_tokens,
        "text": "",
        "thought": 0,
        "read": 0,
        "cached": 0,
        "written": 0,
    }


async def serve(engine: str, log: Path) -> None:
    def make(path: Path, options: EngineOptions) -> Engine:
        made = ENGINES[engine]() if engine in ENGINES else WorkerProcess(path, options)
        return Recorded(made, log)  # type: ignore[return-value]

    if os.environ.get("PLAN"):
        trial.TASKS = ()
    core = Core(paths.find(), make)
    await core.open(downloads=False)
    try:
        if threads := os.environ.get("THREADS"):
            await core.change_setting("model.threads", int(threads))
        if engine not in ENGINES and engine != STARTER:
            core.choose_model(engine)
        await core.start_on(0)
        if core.model.get().phase != "ready":
            sys.exit(f"The model is not ready: {core.model.get().reason}")
        print(f"{READY}{core.server.get().address}", flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.read)
    finally:
        await core.close()


@contextmanager
def serving(engine: str) -> Iterator[tuple[str, Path]]:
    """Starts such a Moat. Yields its address, and the file with the model's calls."""
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "calls.jsonl"
        log.touch()
        environment = {**os.environ, "MOAT_HOME": home}
        environment["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
        command = [sys.executable, "-m", "tests.evaluate.serve", engine, str(log)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        try:
            yield _address(process), log
        finally:
            _end(process)


def _end(process: "subprocess.Popen[str]") -> None:
    """Closes the process's input, on which it ends. Kills it after `GRACE_S` seconds."""
    assert process.stdin
    assert process.stdout
    process.stdin.close()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _address(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    for line in process.stdout:
        if line.startswith(READY):
            return line.removeprefix(READY).split()[0]
    sys.exit("Moat did not start.")


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], Path(sys.argv[2])))
