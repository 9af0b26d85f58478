"""The render process: a chat template is untrusted code, so it runs here, sandboxed and limited.

It reports on stdout that it is ready, then answers each JSON line from stdin until stdin ends.
"""

import contextlib
import io
import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from jinja2 import Template as Compiled
from jinja2 import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.nodes import Node
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from server.sentences import Sentence, to_wire

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

TIME_LIMIT_S = 2.0
"""The processor time that one job may take, in seconds."""
TIME_LIMIT_CODE: int | None = None
"""The exit code at that limit; None on Windows, where only the parent watches the time."""
if sys.platform != "win32":
    TIME_LIMIT_CODE = -signal.SIGPROF
MEMORY_LIMIT_BYTES = 512 * 1024 * 1024
OUTPUT_LIMIT_CHARS = 32 * 1024 * 1024


class GenerationBlock(Extension):
    """Accepts {% generation %}, which marks training text: a prompt contains only its body."""

    tags = {"generation"}  # noqa: RUF012 - jinja2 declares it as a plain class attribute

    def parse(self, parser: Parser) -> list[Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class Sandbox(ImmutableSandboxedEnvironment):
    """An immutable sandbox, except for lists: some templates build lists. All are copies."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        grows = isinstance(obj, list) and attr in ("append", "extend", "pop")
        return grows or bool(super().is_safe_attribute(obj, attr, value))


def environment() -> Sandbox:
    sandbox = Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, GenerationBlock]
    )
    sandbox.filters["tojson"] = _as_json
    sandbox.globals["raise_exception"] = _raise
    sandbox.globals["strftime_now"] = time.strftime
    return sandbox


def render(compiled: Compiled, variables: Mapping[str, Any]) -> str:
    today = {"date_string": time.strftime("%d %b %Y"), "datetime": time.strftime("%b %d %Y")}
    size = 0
    parts: list[str] = []
    for part in compiled.generate({**today, **variables}):
        size += len(part)
        if size > OUTPUT_LIMIT_CHARS:
            raise TemplateError(Sentence("its output is too long"))
        parts.append(part)
    return "".join(parts)


def serve(jobs: io.TextIOBase, answers: io.TextIOBase) -> None:
    sandbox = environment()
    compiled: tuple[str, Compiled] | None = None
    reply = json.dumps({"ready": True})
    while True:
        answers.write(reply + "\n")
        answers.flush()
        line = jobs.readline()
        if not line:
            return
        limit_time(TIME_LIMIT_S)
        try:
            job = json.loads(line)
            if compiled is None or compiled[0] != job["source"]:
                compiled = job["source"], sandbox.from_string(job["source"])
            reply = json.dumps({"text": render(compiled[1], job["variables"])})
        except MemoryError:
            reply = json.dumps({"failed": to_wire(Sentence("it took too much memory"))})
        except Exception as error:  # noqa: BLE001 - a template may raise anything
            what = str(error)
            what = what[:LONGEST_ERROR] if len(what) > LONGEST_ERROR else what
            failed = Sentence("{0}: {1}", type(error).__name__, what)
            reply = json.dumps({"failed": to_wire(failed)})
        limit_time(0)


LONGEST_ERROR = 500


def limit_time(seconds: float) -> None:
    """Lets the system end this process after this processor time; 0 means never."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def limit_memory() -> None:
    """Limits this process's memory where the kernel can; the parent watches its size anyway."""
    if sys.platform != "win32":
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))


def main() -> None:
    limit_memory()
    serve(
        io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8"),
        io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8"),
    )


def _as_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
        default=_as_list,
    )


def _as_list(value: Any) -> list[Any]:
    """Turns the iterators that filters like `map` and `select` return into lists."""
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)


if __name__ == "__main__":
    main()
