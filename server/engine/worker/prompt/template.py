"""A model's chat template, rendered in a warm child process under time and memory limits.

The time is the processor's: on a busy machine a child that waits for its turn loses nothing.
"""

import copy
import json
import math
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import psutil

from server.engine.styles.messages import plainer
from server.engine.worker.prompt.render import MEMORY_LIMIT_BYTES, TIME_LIMIT_CODE, TIME_LIMIT_S
from server.errors import TemplateRefused
from server.system import processes

ANSWER_S = 20.0
"""The last resort: a child that gets no turn for so long, or is halted, is replaced.

Two of these must fit into the time that a load may go without progress (`watch.Limits.load_s`).
"""
LOOK_EVERY_S = 0.05
TOO_LONG = f"it ran longer than {TIME_LIMIT_S:g} seconds"


class TemplateFailed(TemplateRefused):
    def __init__(self, reason: str) -> None:
        super().__init__(f"The model's chat template could not be rendered: {reason}.")
        self.reason = reason


class RenderLost(TemplateFailed):
    """The render process gave no answer. That says nothing about the template: try again."""


class Template:
    def __init__(
        self,
        source: str,
        bos: str = "",
        eos: str = "",
        command: Sequence[str] | None = None,
        answer_s: float = ANSWER_S,
    ) -> None:
        self._source = source
        self.reads_parts = False
        """Whether it wants a message's content as a list of parts and shows no plain text."""
        self.stalls: list[str] = []
        """Why it had to be ended, each time that it went beyond its limits."""
        self._fixed = {"bos_token": bos, "eos_token": eos}
        self._command = command or processes.command("render")
        self._answer_s = answer_s
        self._one_at_a_time = threading.Lock()
        self._child: _Child | None = _Child(self._command, answer_s)

    def beside(self) -> "Template":
        """Returns a copy with a process of its own, which starts with its first prompt."""
        other = copy.copy(self)
        other.stalls = []
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
            **_name_options(options or {}),
            **self._fixed,
            "messages": [_in_parts(turn) if self.reads_parts else turn for turn in messages],
            "add_generation_prompt": add_generation_prompt,
        }
        if tools:
            variables["tools"] = list(tools)
            variables.setdefault("functions", json.dumps(list(tools), indent=4))
        job = json.dumps({"source": self._source, "variables": variables})
        with self._one_at_a_time:
            if self._child is None:
                self._child = _Child(self._command, self._answer_s)
            try:
                return self._child.ask(job)
            except _BeyondLimits as beyond:
                self._replace_child()
                self.stalls.append(str(beyond))
                raise TemplateFailed(str(beyond)) from None
            except _NoAnswer as silence:
                self._replace_child()
                raise RenderLost(str(silence)) from None

    def render_somehow(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] = (),
        options: Mapping[str, Any] | None = None,
        add_generation_prompt: bool = True,
    ) -> str:
        """Renders what the template refuses again, in plainer turns and with fuller schemas."""
        stalls, deadline = len(self.stalls), time.monotonic() + 2 * ANSWER_S
        given = [tools, [_fill(tool) for tool in tools]] if tools else [tools]
        first: TemplateFailed | None = None
        for turns in (messages, *plainer([dict(message) for message in messages])):
            for declared in given:
                try:
                    return self.render(turns, declared, options, add_generation_prompt)
                except TemplateFailed as failed:
                    first = first or failed
                    if len(self.stalls) > stalls or time.monotonic() > deadline:
                        raise first from None
        assert first
        raise first

    def close(self) -> None:
        with self._one_at_a_time:
            self._replace_child()

    def _replace_child(self) -> None:
        """Ends it; the next job starts another."""
        if self._child:
            self._child.end()
        self._child = None


def _name_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Adds the other name that some templates have for the switch of thoughts."""
    if "enable_thinking" not in options:
        return dict(options)
    return {"thinking": options["enable_thinking"], **options}


def _fill(schema: Any) -> Any:
    """Adds the keywords of objects and lists that a template may read without looking first."""
    if isinstance(schema, list):
        return [_fill(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _fill(part) for key, part in schema.items()}
    if made.get("type") == "object":
        made.setdefault("properties", {})
        made.setdefault("required", [])
        made.setdefault("additionalProperties", {})
    if made.get("type") == "array":
        made.setdefault("items", {"type": "string"})
    return made


def _in_parts(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if not isinstance(content, str):
        return message
    return {**message, "content": [{"type": "text", "text": content}]}


class _BeyondLimits(Exception):
    pass


class _NoAnswer(Exception):
    pass


class _Child:
    """One render process. A thread reads its answers, because pipes cannot be polled everywhere."""

    def __init__(self, command: Sequence[str], answer_s: float) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=processes.environment("render"),
        )
        self._answer_s = answer_s
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, name="render answers", daemon=True)
        self._reader.start()
        self._is_ready = False

    def ask(self, job: str) -> str:
        assert self._process.stdin
        if not self._is_ready:  # the time of its own imports is not the template's
            self._wait(math.inf)
            self._is_ready = True
        used_s = self._used_s()
        try:
            self._process.stdin.write(job.encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _NoAnswer("the render process ended") from None
        answer = json.loads(self._wait(used_s + TIME_LIMIT_S))
        if "failed" in answer:
            raise TemplateFailed(answer["failed"])
        return str(answer["text"])

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def _wait(self, most_used_s: float) -> bytes:
        """Its next line. The child ends itself at its limits where the system can see to it."""
        deadline = time.monotonic() + self._answer_s
        while time.monotonic() < deadline:
            try:
                line = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if self._size() > MEMORY_LIMIT_BYTES:
                    raise _BeyondLimits("it took too much memory") from None
                if self._used_s() > most_used_s:
                    raise _BeyondLimits(TOO_LONG) from None
                continue
            if line:
                return line
            self._process.kill()  # it may live on without its pipe
            if self._process.wait() == TIME_LIMIT_CODE:
                raise _BeyondLimits(TOO_LONG)
            raise _NoAnswer("the render process ended")
        raise _NoAnswer(f"it did not answer for {self._answer_s:g} seconds")

    def _size(self) -> int:
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _used_s(self) -> float:
        """Seconds of the processor's time."""
        try:
            used = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(used.user + used.system)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")
