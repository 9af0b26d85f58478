"""A model's chat template, rendered in a warm child process under time and memory limits."""

import copy
import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from server import roles
from server.engine.worker.render import MEMORY_LIMIT_BYTES, TIME_LIMIT_S
from server.errors import TemplateRefused

STARTING_S = 15.0
LOOK_EVERY_S = 0.05


class TemplateFailed(TemplateRefused):
    def __init__(self, reason: str) -> None:
        super().__init__(f"The model's chat template could not be rendered: {reason}.")
        self.reason = reason


class Template:
    def __init__(
        self,
        source: str,
        bos: str = "",
        eos: str = "",
        command: Sequence[str] | None = None,
    ) -> None:
        self._source = source
        self.reads_parts = False
        """Whether it wants a message's content as a list of parts and shows no plain text."""
        self.stalls = 0
        """How often it had to be ended: at its limits, or dead."""
        self._fixed = {"bos_token": bos, "eos_token": eos}
        self._command = command or roles.command("render")
        self._one_at_a_time = threading.Lock()
        self._child: _Child | None = _Child(self._command)

    def beside(self) -> "Template":
        """The same with a process of its own, which starts with its first prompt."""
        other = copy.copy(self)
        other._child = None
        other._one_at_a_time = threading.Lock()
        return other

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        options: Mapping[str, Any] | None = None,
        add_generation_prompt: bool = True,
    ) -> str:
        variables: dict[str, Any] = {
            **(options or {}),
            **self._fixed,
            "messages": [_in_parts(one) if self.reads_parts else one for one in messages],
            "add_generation_prompt": add_generation_prompt,
        }
        if tools:
            variables["tools"] = list(tools)
            variables.setdefault("functions", json.dumps(list(tools), indent=4))
        job = json.dumps({"source": self._source, "variables": variables})
        with self._one_at_a_time:
            if self._child is None:
                self._child = _Child(self._command)
            try:
                return self._child.ask(job)
            except _ChildGone as gone:
                self._child.end()
                self._child = None
                self.stalls += 1
                raise TemplateFailed(str(gone)) from None

    def close(self) -> None:
        with self._one_at_a_time:
            if self._child:
                self._child.end()
            self._child = None


def _in_parts(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if not isinstance(content, str):
        return message
    return {**message, "content": [{"type": "text", "text": content}]}


class _ChildGone(Exception):
    pass


class _Child:
    """One render process. A thread reads its answers, because pipes cannot be polled everywhere."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=roles.environment("render"),
        )
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="render answers", daemon=True)
        self._reader.start()
        self._ready_at = time.monotonic() + STARTING_S

    def ask(self, job: str) -> str:
        assert self._process.stdin
        try:
            self._process.stdin.write(job.encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _ChildGone("the render process ended") from None
        answer = json.loads(self._wait())
        if "failed" in answer:
            raise TemplateFailed(answer["failed"])
        self._ready_at = 0.0
        return str(answer["text"])

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def _wait(self) -> bytes:
        """The child ends itself at its limit; longer waits are for a slow or a stuck one."""
        began = time.monotonic()
        deadline = max(began + 2 * TIME_LIMIT_S, self._ready_at)
        while time.monotonic() < deadline:
            try:
                line = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if self._size() > MEMORY_LIMIT_BYTES:
                    raise _ChildGone("it took too much memory") from None
                continue
            if line:
                return line
            if time.monotonic() - began < TIME_LIMIT_S:
                raise _ChildGone("the render process ended")
            break
        raise _ChildGone(f"it ran longer than {TIME_LIMIT_S:g} seconds")

    def _size(self) -> int:
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")
