"""A real worker process, driven frame by frame from a test's thread."""

import queue
import subprocess
import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from server.engine.wire import LENGTH, pack, unpack
from server.system import processes

PATIENCE_S = 240.0


@dataclass(slots=True)
class Outcome:
    """Everything received for a request. `ended` is its last item without the id."""

    text: str = ""
    ended: list[Any] = field(default_factory=list)
    logprobs: list[Any] = field(default_factory=list)
    progress: list[tuple[int, int]] = field(default_factory=list)
    said_at: list[float] = field(default_factory=list)

    @property
    def reason(self) -> str:
        return str(self.ended[1])

    @property
    def usage(self) -> dict[str, Any]:
        usage: dict[str, Any] = self.ended[2]
        return usage


class WorkerClient:
    def __init__(self, model: Path, **options: Any) -> None:
        self.process = subprocess.Popen(
            processes.command("worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=processes.environment("worker"),
        )
        self._frames: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._items: dict[int, queue.SimpleQueue[tuple[float, list[Any]]]] = {}
        self._ids = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        # Tests run side by side: threads on the same cores wait for each other at every step.
        self.send({"op": "load", "path": str(model), "options": {"threads": 1, **options}})
        self.loading = [self.frame()]
        while self.loading[-1]["op"] == "progress":
            self.loading.append(self.frame())
        self.facts: dict[str, Any] = self.loading[-1].get("facts", {})

    def send(self, frame: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(pack(frame))
        self.process.stdin.flush()

    def frame(self) -> dict[str, Any]:
        """Waits for the next frame that is not a step."""
        return self._frames.get(timeout=PATIENCE_S)

    def start(self, **job: Any) -> int:
        self._ids += 1
        self._items[self._ids] = queue.SimpleQueue()
        self.send({"op": "generate", "id": self._ids, "job": job})
        return self._ids

    def item(self, request_id: int) -> tuple[float, list[Any]]:
        return self._items[request_id].get(timeout=PATIENCE_S)

    def has_ended(self, request_id: int) -> bool:
        """Whether the request has ended. It discards all items that have arrived."""
        while not self._items[request_id].empty():
            if self.item(request_id)[1][1] in ("end", "error"):
                return True
        return False

    def wait(self, request_id: int) -> Outcome:
        outcome = Outcome()
        while not outcome.ended:
            now, (_, kind, *rest) = self.item(request_id)
            if kind == "prompt":
                outcome.progress.append((rest[0], rest[1]))
            elif kind == "text":
                outcome.text += rest[0]
                outcome.logprobs += rest[1] or []
                outcome.said_at.append(now)
            else:
                outcome.ended = [kind, *rest]
        return outcome

    def generate(self, **job: Any) -> Outcome:
        return self.wait(self.start(**job))

    def ask(self, what: str, **question: Any) -> dict[str, Any]:
        self._ids += 1
        self.send({"op": "ask", "id": self._ids, "what": what, "with": question})
        return self.frame()

    def ping(self) -> dict[str, Any]:
        self.send({"op": "ping", "id": 0})
        return self.frame()

    def close(self) -> int:
        self.send({"op": "quit"})
        code = self.process.wait(PATIENCE_S)
        self._end()
        return code

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._end()

    def _end(self) -> None:
        self._reader.join()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout
        while head := self.process.stdout.read(LENGTH.size):
            frame = unpack(self.process.stdout.read(LENGTH.unpack(head)[0]))
            if frame["op"] != "step":
                self._frames.put(frame)
                continue
            now = perf_counter()
            for item in frame["of"]:
                self._items[item[0]].put((now, item))
