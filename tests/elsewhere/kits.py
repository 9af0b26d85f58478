"""Runs the conformance kits against a Moat whose engine is elsewhere, directly or through nginx."""

import os
import re
import secrets
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.servers import ROOT, free_port
from tests.contract.copilotkit.programs import moat as scripted_moat
from tests.contract.copilotkit.programs import packaged
from tests.contract.test_openai_conformance import LACKING
from tests.elsewhere.stage import (
    ALIAS,
    LOOPBACK,
    NAME,
    PAGES,
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
KEY = secrets.token_hex(24)
STATED = LACKING.keys() | {"responses.incomplete"}
"""The starter's lacks, and the case in which it stops before the limit that would cut it."""
SHORT = {"MOAT_COPILOT__ANSWER_TOKENS": "96"}
"""A limit for CopilotKit's questions, which the starter would answer without end."""


@dataclass(frozen=True, slots=True)
class Kit:
    command: tuple[str, ...]
    folder: Path = ROOT
    key: tuple[str, ...] = ()
    """The options that send a key. {} stands for the key."""
    variables: dict[str, str] = field(default_factory=dict)


def kit_of(name: str, address: str, *, is_scripted: bool = False) -> Kit:
    python = (sys.executable, "-m", f"tests.conformance.{name}")
    match name:
        case "openai":
            command = (*python, f"{address}/v1", "--model", ALIAS, "--timeout", "600")
            return Kit(command, key=("--api-key", "{}"))
        case "openbb":
            command = (*python, address, "--ai-service", "--timeout", "600")
            return Kit(command, key=("--header", "Authorization: Bearer {}"))
        case _ if is_scripted:
            command = (need("node"), "kit.mjs", f"{address}/api/copilotkit")
            more = ("--timeout", "240000", "--gql-agent", "default")
            return Kit((*command, *more), packaged(COPILOTKIT), ("--key", "{}"))
        case _:
            asked = (
                *("--prompt-chat", "What is the capital of France?"),
                *("--prompt-tool", "Please greet Ada by calling sayHello"),
                *("--prompt-long", "Count from one to two hundred."),
                *("--prompt-error", "none", "--timeout", "240000", "--gql-agent", "default"),
            )
            command = (need("node"), "kit.mjs", f"{address}/api/copilotkit", *asked)
            return Kit(command, packaged(COPILOTKIT), ("--key", "{}"), SHORT)


def run_kits(names: list[str], nginx: str) -> int:
    worst = 0
    for name in names:
        if nginx:
            worst |= run_through(nginx, name)
            continue
        variables = kit_of(name, "").variables
        with far() as server, moat_before(f"{ALIAS}={address_of(server)}", **variables) as moat:
            worst |= run_kit(name, kit_of(name, moat.address))
    return worst


def run_through(nginx: str, name: str) -> int:
    """Tests the proxy, not the model: a scripted model answers."""
    os.environ["MOAT_SECRET_ACCESS_KEY"] = KEY
    port = free_port()
    settings = {"server__host_names": [f"{NAME}:{port}"], "server__proxies": [LOOPBACK]}
    settings["server__origins"] = PAGES.split(",")
    engine = {"openbb": "talking", "copilotkit": "obedient"}.get(name)
    if engine is None:
        sys.exit(f"{name}: only openbb and copilotkit are tried through nginx.")
    with (
        tempfile.TemporaryDirectory() as home,
        scripted_moat(engine, Path(home), **settings) as address,
        nginx_before(nginx, address, port) as proxy,
    ):
        refusals = check_refusals(proxy)
        return refusals | run_kit(name, kit_of(name, proxy.address, is_scripted=True), proxy)


def check_refusals(proxy: Proxy) -> int:
    """Checks that another host name, a foreign page and a missing key are refused as well."""
    good = {"Host": proxy.host, "Authorization": f"Bearer {KEY}"}
    asked = {
        "as it should be": (good, 200),
        "another host name": (good | {"Host": "evil.example.com"}, 421),
        "a foreign page": (good | {"Origin": "https://evil.example.com"}, 403),
        "no key": ({"Host": proxy.host}, 401),
    }
    worst = 0
    for what, (headers, wanted) in asked.items():
        status = proxy.ask("/v1/models", headers)
        say(f"{'PASS' if status == wanted else 'FAIL'} {what}: {status}")
        worst |= status != wanted
    return int(worst)


def run_kit(name: str, kit_: Kit, proxy: Proxy | None = None) -> int:
    where = "through nginx" if proxy else "straight"
    say(f"--- {name}, {where}")
    command, lines = list(kit_.command), []
    if proxy:
        command = [*proxy.inside, *command, *(part.format(KEY) for part in kit_.key)]
    with subprocess.Popen(
        command, cwd=kit_.folder, env=proxy.environment if proxy else None, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as kit:  # fmt: skip
        assert kit.stdout
        for line in kit.stdout:
            lines.append(line)
            say(line.rstrip())
    text = "".join(lines)
    keep(f"kit-{name}{'-nginx' if proxy else ''}.txt", text)
    skipped = {line.split()[1] for line in lines if line.startswith("SKIP ")}
    odd = {case for case in skipped - STATED if not case.startswith("embeddings.")}
    ended = ENDED.search(text)
    if odd:
        say(f"skipped without a stated lack: {', '.join(sorted(odd))}")
    return int(kit.returncode != 0 or ended is None or bool(odd))
