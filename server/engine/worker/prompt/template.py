"""Renders a model's chat template, in a warm child process with limits of time and memory.

The time is processor time, so that a child may wait for its turn on a busy machine. What a template
can show is found out by rendering it and searching for the values that were put in.
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

from server.chat import ToolCall
from server.engine.styles import recognise
from server.engine.styles.base import THOUGHTS
from server.engine.styles.learned import (
    ANSWER,
    FIRST,
    LONGEST_MARK,
    ODD,
    SECOND,
    THOUGHT,
    TYPED,
    Samples,
    behind,
    probe_tools,
)
from server.engine.styles.messages import THOUGHT_NAMES, native_call, plainer
from server.engine.styles.parameters import declare
from server.engine.styles.stream import shared_end
from server.engine.worker.prompt.render import MEMORY_LIMIT_BYTES, TIME_LIMIT_CODE, TIME_LIMIT_S
from server.errors import TemplateRefused
from server.sentences import Sentence, from_wire, to_wire
from server.system import processes

ANSWER_S = 20.0
"""In seconds. The last resort: a child that is halted or gets no turn for this time is replaced.

Two of these must fit into the time that a load may go without progress (`watch.Limits.load_s`).
"""
LOOK_EVERY_S = 0.05
TOO_LONG = Sentence("it ran longer than {0:g} seconds", TIME_LIMIT_S)


class TemplateFailed(TemplateRefused):
    def __init__(self, reason: str) -> None:
        super().__init__(Sentence("The model's chat template could not be rendered: {0}.", reason))
        self.reason = reason


class RenderLost(TemplateFailed):
    """The render process gave no answer. The template may be fine, so it is worth another try."""


class Template:
    """A chat template with a render process of its own."""

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
        """Whether it needs content as a list of parts and does not show plain text."""
        self.stalls: list[str] = []
        """A reason for each time that the process exceeded its limits and had to be ended."""
        self._fixed = {"bos_token": bos, "eos_token": eos}
        self._command = command or processes.command("render")
        self._answer_s = answer_s
        self._one_at_a_time = threading.Lock()
        self._child: _Child | None = _Child(self._command, answer_s)

    def beside(self) -> "Template":
        """Returns a copy with its own process, which starts with the first prompt."""
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
        """Renders a prompt. Raises TemplateFailed, or RenderLost if the process did not answer."""
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
        """Renders a prompt; if refused, tries again with plainer turns and fuller schemas."""
        stalls, deadline = len(self.stalls), time.monotonic() + 2 * self._answer_s
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
        """Ends the process. The next job starts another."""
        if self._child:
            self._child.end()
        self._child = None


def _name_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Adds the other name that some templates have for the option `enable_thinking`."""
    if "enable_thinking" not in options:
        return dict(options)
    return {"thinking": options["enable_thinking"], **options}


def _fill(schema: Any) -> Any:
    """Adds the keywords of objects and lists that a template may read without checking."""
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
    """A render process. A thread reads its answers: not every system can poll a pipe."""

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
        if not self._is_ready:  # its own imports do not count
            self._wait(math.inf)
            self._is_ready = True
        used_s = self._used_s()
        try:
            self._process.stdin.write(job.encode("utf-8", "surrogatepass") + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise _NoAnswer(Sentence("the render process ended")) from None
        answer = json.loads(self._wait(used_s + TIME_LIMIT_S))
        if "failed" in answer:
            raise TemplateFailed(from_wire(answer["failed"]))
        return str(answer["text"])

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def _wait(self, most_used_s: float) -> bytes:
        """Returns the child's next line. Checks its limits, as not every system enforces them."""
        deadline = time.monotonic() + self._answer_s
        while time.monotonic() < deadline:
            try:
                line = self._answers.get(timeout=LOOK_EVERY_S)
            except queue.Empty:
                if self._size() > MEMORY_LIMIT_BYTES:
                    raise _BeyondLimits(Sentence("it took too much memory")) from None
                if self._used_s() > most_used_s:
                    raise _BeyondLimits(TOO_LONG) from None
                continue
            if line:
                return line
            self._process.kill()  # it may be alive without its pipe
            if self._process.wait() == TIME_LIMIT_CODE:
                raise _BeyondLimits(TOO_LONG)
            raise _NoAnswer(Sentence("the render process ended"))
        raise _NoAnswer(Sentence("it did not answer for {0:g} seconds", self._answer_s))

    def _size(self) -> int:
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _used_s(self) -> float:
        return processes.processor_s(self._process.pid)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(b"")


SYSTEM, QUESTION, RESULT = "needle-system", "needle-question", "needle-result"
VALUE = "needle-value"
PROBE = ToolCall("needle123", "needle_name", {"city": VALUE})
PATIENCE = 2
"""After this many stalls, which take seconds each, the template is not tried any further."""
USER = {"role": "user", "content": QUESTION}
ANSWERED = {"role": "assistant", "content": ANSWER}


def try_out(template: Template) -> dict[str, Any]:
    """Finds out what the template can show. `template` in the result holds its abilities.

    `template_lost` says why some may be missing, `template_again` whether another try may help.
    """
    template.stalls.clear()
    try:
        template.reads_parts = reads_parts(template)
        found = abilities(template)
    except RenderLost as lost:
        return {"template": {}, "template_lost": to_wire(lost.reason), "template_again": True}
    lost_for = template.stalls[-1] if template.stalls else ""
    return {"template": found, "template_lost": to_wire(lost_for), "template_again": False}


def abilities(template: Template) -> dict[str, Any]:
    """Returns the flags of `styles.base.Abilities`, and what was learned about the style."""
    # The tools come last: they are the hardest part, and a template that fails with them may
    # do well in all the rest.
    found = {
        "system": SYSTEM in _render(template, [{"role": "system", "content": SYSTEM}, USER]),
        "alternates": _alternates(template),
        **_find_opened(template, [begin for begin, _ in THOUGHTS]),
    }
    tools = _tools(template)
    if learned := tools.get("thoughts", [])[:1]:
        found |= _find_opened(template, learned, found)
    return found | tools


def _find_opened(
    template: Template, begins: Sequence[str], known: Mapping[str, Any] | None = None
) -> dict[str, bool]:
    """Returns for each thinking option whether the prompt already opens a thought."""
    asked: dict[str, dict[str, Any]] = {
        "opens_thought": {},
        "opens_thought_if_asked": {"enable_thinking": True},
        "opens_thought_if_unasked": {"enable_thinking": False},
    }
    before = known or {}
    return {
        name: bool(before.get(name)) or _opens(template, begins, options)
        for name, options in asked.items()
    }


def _tools(template: Template) -> dict[str, Any]:
    tools = [declare(tool) for tool in probe_tools(PROBE)]
    shown, shown_as_text = (
        _render(
            template,
            [USER, *_calling(PROBE, as_text=as_text)],
            tools=tools,
            add_generation_prompt=False,
        )
        for as_text in (False, True)
    )
    called = PROBE.name in shown and VALUE in shown
    called_as_text = PROBE.name in shown_as_text and VALUE in shown_as_text
    quoted_twice = '\\"city\\"' in shown_as_text
    as_python = "{'city'" in shown
    as_text = called_as_text and not quoted_twice and (as_python or not called)
    samples = _samples(template, as_text=as_text)
    found = recognise(samples.with_quotes() if samples.loses_quotes else samples)
    calls = called or called_as_text
    is_shown_once = samples.call.count(str(FIRST.arguments["alpha"])) < 2
    return {
        "calls": calls and not samples.loses_quotes and is_shown_once,
        "results": RESULT in shown or RESULT in shown_as_text,
        "text_arguments": as_text,
        "single_call": calls and not (FIRST.name in samples.calls and SECOND.name in samples.calls),
        "parts_text": calls
        and not (FIRST.name in samples.text_call and ANSWER in samples.text_call),
        **found,
    }


def reads_parts(template: Template) -> bool:
    """Whether the template accepts only lists of parts, as some for vision models do."""
    parts = [{"type": "text", "text": QUESTION}]
    plain = QUESTION in _render(template, [USER])
    return not plain and QUESTION in _render(template, [{"role": "user", "content": parts}])


def _alternates(template: Template) -> bool:
    """Whether two questions in a row, or a later system turn, are refused or not all shown."""
    other = {"role": "user", "content": "needle-other"}
    late = {"role": "system", "content": SYSTEM}
    twice = _render(template, [USER, other])
    middle = _render(template, [USER, ANSWERED, late, other])
    return not (QUESTION in twice and "needle-other" in twice and SYSTEM in middle)


def _opens(template: Template, begins: Sequence[str], options: Mapping[str, Any]) -> bool:
    end = _render(template, [USER], options).rstrip()
    return any(end.endswith(begin) for begin in begins)


def _samples(template: Template, *, as_text: bool) -> Samples:
    """Renders sample turns of the assistant, each after the same question."""
    tools = [declare(tool) for tool in probe_tools(FIRST, SECOND)]
    typed = [declare(tool) for tool in probe_tools(TYPED)]
    thinks = dict.fromkeys(THOUGHT_NAMES, THOUGHT)

    def turn(content: str, *calls: ToolCall, given: Sequence[Any] = tools, **more: str) -> str:
        """Returns what the template adds for a turn. If it has thoughts, thinking is enabled."""
        message = {"role": "assistant", "content": content, **more}
        made = [native_call(call, as_text=as_text) for call in calls]
        turns = [USER, {**message, "tool_calls": made} if calls else message]
        options = {"enable_thinking": True} if more else {}
        before, after = (
            _render(template, part, options, given, add_generation_prompt=False)
            for part in (turns[:1], turns)
        )
        rests = [text.rpartition(QUESTION)[2] for text in (after, before)]
        return behind(*(_without_instructions(rest, shared_end(*rests)) for rest in rests))

    asked, opened = (
        _render(template, [USER], tools=tools, add_generation_prompt=on) for on in (False, True)
    )
    whole = [USER, *_calling(FIRST, as_text=as_text)]
    return Samples(
        whole=_render(template, whole, tools=tools) or opened,
        opening=behind(opened, asked),
        answer=turn(ANSWER),
        thought=turn(ANSWER, **thinks),
        call=turn("", FIRST),
        calls=turn("", FIRST, SECOND),
        text_call=turn(ANSWER, FIRST),
        thought_call=turn("", FIRST, **thinks),
        typed=turn("", TYPED, given=typed),
        odd=turn("", ODD),
    )


def _without_instructions(text: str, end: str) -> str:
    """Removes the instructions that some templates repeat at the end. A mere mark stays."""
    return text.removesuffix(end) if len(end) > LONGEST_MARK else text


def _calling(call: ToolCall, *, as_text: bool) -> list[dict[str, Any]]:
    """Returns the turns of a call and its result."""
    calls = [native_call(call, as_text=as_text)]
    return [
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": RESULT},
    ]


def _render(
    template: Template,
    messages: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any] | None = None,
    tools: Sequence[Mapping[str, Any]] = (),
    *,
    add_generation_prompt: bool = True,
) -> str:
    """Returns the rendered text; empty if the template refuses or has stalled too often."""
    if len(template.stalls) >= PATIENCE:
        return ""
    for is_last in (False, True):
        try:
            return template.render(messages, tools, options, add_generation_prompt)
        except RenderLost:
            if is_last:
                raise
        except TemplateFailed:
            break
    return ""
