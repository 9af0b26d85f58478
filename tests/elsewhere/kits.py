"""The conformance kits against Moat whose engine is elsewhere, straight or through nginx."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from server.face.core import KeyLimits
from tests.bench.servers import ROOT
from tests.contract.copilotkit.programs import packaged
from tests.contract.test_openai_conformance import LACKING
from tests.elsewhere.stage import (
    ALIAS,
    Proxy,
    address_of,
    far,
    keep,
    moat_before,
    nginx_before,
    say,
)
from tests.kit.programs import need

COPILOTKIT = ROOT / "tests" / "conformance" / "copilotkit"
ENDED = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)
SHORT = {"MOAT_COPILOT__ANSWER_TOKENS": "32"}
"""The starter never ends by itself what CopilotKit's kit asks it."""


@dataclass(frozen=True, slots=True)
class Kit:
    command: tuple[str, ...]
    folder: Path = ROOT
    key: tuple[str, ...] = ()
    """The options that send a key, which stands for {}."""
    variables: dict[str, str] = field(default_factory=dict)


def kit_of(name: str, address: str) -> Kit:
    python = (sys.executable, "-m", f"tests.conformance.{name}")
    match name:
        case "openai":
            command = (*python, f"{address}/v1", "--model", ALIAS, "--timeout", "600")
            return Kit(command, key=("--api-key", "{}"))
        case "openbb":
            command = (*python, address, "--ai-service", "--timeout", "600")
            return Kit(command, key=("--header", "Authorization: Bearer {}"))
        case _:
            asked = (
                *("--prompt-chat", "What is the capital of France?"),
                *("--prompt-tool", "Please greet Ada by calling sayHello"),
                *("--prompt-long", "Count from one to two hundred."),
                *("--prompt-error", "none", "--timeout", "240000", "--gql-agent", "default"),
            )
            command = (need("node"), "kit.mjs", f"{address}/api/copilotkit", *asked)
            return Kit(command, packaged(COPILOTKIT), ("--key", "{}"), SHORT)


def run_kits(names: list[str], behind: str) -> int:
    worst = 0
    for name in names:
        with served(name, behind) as (kit, key, proxy):
            sent = [part.format(key) for part in kit.key] if key else []
            worst |= run_kit(name, [*kit.command, *sent], kit.folder, proxy)
    return worst


@contextmanager
def served(name: str, behind: str) -> Iterator[tuple[Kit, str, Proxy | None]]:
    variables = dict(kit_of(name, "").variables)
    if not behind:
        with far() as server, moat_before(f"{ALIAS}={address_of(server)}", **variables) as moat:
            yield kit_of(name, moat.address), "", None
        return
    variables |= Proxy.VARIABLES
    with (
        far() as server,
        moat_before(f"{ALIAS}={address_of(server)}", **variables) as moat,
        nginx_before(behind, moat) as proxy,
    ):
        key = asyncio.run(moat.make_key("kit", KeyLimits()))
        yield kit_of(name, proxy.address), key, proxy


def run_kit(name: str, command: list[str], folder: Path, proxy: Proxy | None) -> int:
    where = "through nginx" if proxy else "straight"
    say(f"--- {name}, {where}")
    command = [*proxy.inside, *command] if proxy else command
    lines = []
    with subprocess.Popen(
        command, cwd=folder, env=proxy.environment if proxy else None, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as kit:  # fmt: skip
        assert kit.stdout
        for line in kit.stdout:
            lines.append(line)
            say(line.rstrip())
    text = "".join(lines)
    keep(f"kit-{name}{'-nginx' if proxy else ''}.txt", text)
    skipped = {line.split()[1] for line in lines if line.startswith("SKIP ")}
    odd = {case for case in skipped - LACKING.keys() if not case.startswith("embeddings.")}
    ended = ENDED.search(text)
    if odd:
        say(f"skipped without a stated lack: {', '.join(sorted(odd))}")
    return int(kit.returncode != 0 or ended is None or bool(odd))
