"""S29: runs the server's tests in a network with only loopback and records every attempt to
connect.

`make prove ROWS=S29c` does so with all tests of the libraries that speak HTTP, in about a minute.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from scripts.pin import needed
from server.system.licenses import PROGRAM
from tests.contract.copilotkit.prepare import prepare
from tests.prove import by_test
from tests.prove.rows import Figure, Row
from tests.prove.stage import ROOT, Stage

CALLS = "connect,sendto,sendmsg,sendmmsg,execve,clone,clone3,fork,vfork"
STARTED = re.compile(r"(\d+) +execve\(\"(?!/proc/self/exe)(?:[^\"]*/)?([^\"]+)\"")
BORN = re.compile(r"(\d+) +(?:clone3?|v?fork|<\.\.\. (?:clone3?|v?fork) resumed>).* = (\d+)$")
ADDRESS = re.compile(
    r"sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?"
    r"(?:inet_addr\(\"|inet_pton\(AF_INET6, \")([0-9a-fA-F:.]+)\""
)
A_LOOK = ("chromium", "2001:4860:4860::8888 443")
"""The browser of a test asks its system for a route to this address. It sends nothing."""
QUICK = (
    "tests/server/commands/test_serve.py",
    "tests/server/core/test_core.py",
    "tests/server/test_egress.py",
    "tests/server/web",
    "--ignore=tests/server/web/test_mcp_server.py",
    "tests/contract/test_openai_sdk.py",
    "tests/contract/test_anthropic_sdk.py",
)
"""The tests of the hub, of MCP and of the door are left to S29c, in its short form too."""
LIBRARIES = (
    "tests/server/test_door.py",
    "tests/server/models/test_catalogue_refresh.py",
    "tests/server/models/test_hub.py",
    "tests/server/models/test_hub_cache.py",
    "tests/server/models/test_hub_facts.py",
    "tests/server/models/test_service.py",
    "tests/server/models/test_service_origin.py",
    "tests/server/plugins/mcp",
    "tests/server/web/test_mcp_server.py",
    "tests/contract/test_hub_library.py",
)
FULL = (
    *("tests/server", "tests/contract", "tests/faults", "--numprocesses=auto", "--reruns=1"),
    # These are about time, which tracing changes. Rows of their own measure it.
    "--deselect=tests/server/engine/worker/schedule/test_scheduler.py::test_speculation_changes_no_word_and_saves_steps",
    "--deselect=tests/faults/test_worker_faults.py::test_whoever_leaves_at_any_moment_frees_the_slot",
)
PROBE = """
import socket
for attempt in (lambda: socket.create_connection(("192.0.2.1", 443), 1),
                lambda: socket.getaddrinfo("nowhere.example", 443)):
    try:
        attempt()
    except OSError:
        pass
"""
SILENCED = ("huggingface-hub",)
INTERFACES = ("opentelemetry-api",)
"""Packages that do nothing by themselves. The package that would send must not be installed."""
TELLTALES = re.compile(
    r"huggingface.hub|posthog|sentry|segment|mixpanel|amplitude|opentelemetry|gradio|rudder"
    r"|datadog|newrelic|bugsnag|wandb|langsmith|scarf|statsig|telemetry|analytics"
)


@dataclass(slots=True)
class Record:
    """The addresses to which the processes of a run tried to connect or send."""

    inside: int = 0
    outside: Counter[str] = field(default_factory=Counter)
    looks: int = 0
    """How often a test's own browser looked for a route to the internet."""

    @property
    def names_asked(self) -> int:
        return sum(count for place, count in self.outside.items() if place.endswith(" 53"))


def read(log: Path) -> Record:
    record, programs = Record(), dict[str, str]()
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if started := STARTED.match(line):
                programs[started[1]] = started[2]
            elif born := BORN.match(line):
                programs.setdefault(born[2], programs.get(born[1], ""))
            for port, address in ADDRESS.findall(line):
                program = programs.get(line.split(maxsplit=1)[0], "")
                if (program, f"{address} {port}") == A_LOOK:
                    record.looks += 1
                elif _is_here(address) and port != "53":
                    record.inside += 1
                else:
                    record.outside[f"{program} {address} {port}".strip()] += 1
    return record


def recorded(stage: Stage, command: list[str]) -> tuple[Record, str]:
    """Runs a command with only loopback, and records every address that it or its children use."""
    log = stage.scratch("trace") / "calls"
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    alone = ["unshare", *rights, "--net", sys.executable, "-m", "tests.prove.alone"]
    trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-e", f"trace={CALLS}"]
    run = subprocess.run(
        [*alone, *trace, "-s", "0", "-o", str(log), *command],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if not log.exists():
        raise RuntimeError(run.stderr[-300:])
    return read(log), run.stdout


def nothing_leaves(stage: Stage) -> Figure:
    if not stage.quick:
        prepare()
    return _watched(stage, QUICK if stage.quick else FULL)


def libraries_leave_nothing(stage: Stage) -> Figure:
    return _watched(stage, LIBRARIES)


def _watched(stage: Stage, tests: tuple[str, ...]) -> Figure:
    for program in ("unshare", "strace"):
        if shutil.which(program) is None:
            raise RuntimeError(f"'{program}' is not installed here; the row needs it")
    probe, _ = recorded(stage, [sys.executable, "-c", PROBE])
    if len(probe.outside) < 2:
        raise RuntimeError("the recorder did not notice a connection made on purpose")
    report = stage.scratch("alone") / "report.xml"
    record, output = recorded(stage, [*by_test.command(report), *tests])
    outcome = by_test.read(report, output)
    out = record.outside.total()
    text = (
        f"{out} beyond loopback, {record.names_asked} names asked for, {record.inside} calls within"
        f" it, while {outcome.passed} tests passed and {len(outcome.failed)} failed"
    )
    if record.looks:
        text += f" ({record.looks} times a test's browser looked whether there is a way out)"
    if out or outcome.failed:
        text += f": {', '.join([*record.outside, *outcome.failed, *outcome.reasons][:8])}"
    return Figure(text, not out and outcome.passed > 20 and not outcome.failed)


def silent_parts(_stage: Stage) -> Figure:
    """Checks that no package at run time is known to report home, or that it cannot."""
    parts = sorted(set(needed(PROGRAM, ("window",), set())) - {PROGRAM})
    known = [name for name in parts if TELLTALES.search(name)]
    loud = [name for name in known if name not in (*SILENCED, *INTERFACES)]
    text = f"{len(parts)} packages at run time, {len(loud)} known to report home"
    if silenced := [name for name in known if name in SILENCED]:
        text += f" ({', '.join(silenced)} only through our door: S29b)"
    if interfaces := [name for name in known if name in INTERFACES]:
        text += f" ({', '.join(interfaces)} has nothing to send with)"
    return Figure(f"{text} {', '.join(loud)}".strip(), not loud and len(parts) > 10)


def clients_are_ours(stage: Stage) -> Figure:
    """Uses the libraries in a server's process, and checks its clients and what they sent."""
    record, output = recorded(stage, [sys.executable, "-m", "tests.prove.clients"])
    found = json.loads(output or "{}")
    out = record.outside.total()
    strangers, refused = found.get("strangers", ["no report"]), found.get("refused", 0)
    text = (
        f"{found.get('answers', 0)} answers of the hub's library, 2 + 3 is {found.get('sum', '?')}"
        f" by MCP's, {out} beyond loopback,"
        f" {len(strangers)} clients that are not ours, {refused} of 2 foreign ones refused,"
        f" {found.get('reports', '?')} reports home"
    )
    passed = not out and not strangers and refused == 2 and found.get("answers") == 3
    passed = passed and found.get("sum") == "5"
    return Figure(text, passed and found.get("reports") == 0)


def _is_here(address: str) -> bool:
    found = ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback or found.is_unspecified


ROWS = (
    Row(
        "S29",
        "Nothing leaves the machine: the server's tests with only loopback, every call recorded",
        "0 connections, 0 names asked for",
        nothing_leaves,
        beside="apart",
    ),
    Row("S29a", "No part of Moat is one that reports home", "0 of them", silent_parts),
    Row(
        "S29b",
        "Libraries that speak HTTP leave only through our door, checked as they run",
        "0 clients but ours, 0 connections beyond loopback",
        clients_are_ours,
    ),
    Row(
        "S29c",
        "The libraries of the hub and of MCP in use: their tests with only loopback, all recorded",
        "0 connections, 0 names asked for",
        libraries_leave_nothing,
        beside="apart",
    ),
)
