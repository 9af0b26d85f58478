"""moat doctor: checks this computer and suggests what to do about problems."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import psutil

from server import VERSION
from server.commands import say_json
from server.core.configuration import SettingsStore
from server.models import library
from server.sizes import GB
from server.system import backends, hardware, paths, processes
from server.system.keychain import Keychain, KeyringFailed
from server.web import tls
from server.web.listener import Occupant, who_listens

Verdict = Literal["ok", "warn", "problem"]
COLOURS: dict[Verdict, str] = {"ok": "32", "warn": "33", "problem": "31"}
LITTLE_MEMORY_GB = 2
LITTLE_DISK_GB = 5
PATIENCE_S = 30.0
ENGINE_PATIENCE_S = 420.0
"""Seconds, far more than the engine's trials at the first start on a machine may take."""
X86_FEATURES = {"avx", "avx2", "avx512f", "avx512_vnni", "avx_vnni", "amx_tile", "f16c", "fma"}
ARM_FEATURES = {"asimd", "asimddp", "asimdhp", "bf16", "i8mm", "sve", "sve2"}
TRY_AGAIN = "A new driver is tried by itself; 'moat doctor --try-again' tries now."
FETCH = "'moat graphics get' fetches support for CUDA, the fastest way to use it."
REBUILD = "In a clone: make setup. Installed by pip: moat serve. Otherwise install Moat again."


@dataclass(frozen=True, slots=True)
class CheckResult:
    topic: str
    verdict: Verdict
    text: str
    advice: str = ""


def add_to(commands: Any) -> None:
    one = commands.add_parser("doctor", help="check this computer and suggest what to do")
    one.add_argument(
        "--try-again", action="store_true", help="try support for graphics cards that failed here"
    )
    one.add_argument("--json", action="store_true", help="for scripts")
    one.set_defaults(run=lambda options: main(try_again=options.try_again, as_json=options.json))


def main(*, try_again: bool = False, as_json: bool = False) -> int:
    if try_again:
        os.environ[backends.TRY_AGAIN] = "1"
    findings = report(paths.find())
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    if as_json:
        say_json([asdict(finding) for finding in findings])
    else:
        sys.stdout.write(f"Moat {VERSION}, Python {sys.version.split()[0]}, {sys.platform}\n\n")
        sys.stdout.write(table(findings, width, colour=colour) + "\n")
    return 1 if any(finding.verdict == "problem" for finding in findings) else 0


def report(places: paths.Paths) -> list[CheckResult]:
    settings = SettingsStore(places.settings).load()
    backends.point(settings.model.backends, places.data)
    engine = ask_engine()
    return [
        check_processor(hardware.read()),
        check_memory(psutil.virtual_memory().total, psutil.virtual_memory().available),
        *check_graphics(find_graphics(), engine, backends.folder()),
        check_engine(engine),
        *check_backends(engine, backends.folder()),
        check_starter(library.find_starter()),
        check_folder("Settings in", places.config),
        check_folder("Models in", places.models),
        check_folder("Cache in", places.cache),
        check_folder("Logs in", places.logs),
        check_port(settings.server.port, who_listens, places),
        *(
            CheckResult("HTTPS", "ok", *texts)
            for texts in tls.describe(settings.server, places.https)
        ),
        check_keyring(places.secrets),
        *check_screen(os.environ),
    ]


def table(findings: Iterable[CheckResult], width: int, *, colour: bool) -> str:
    rows = list(findings)
    topics = max((len(row.topic) for row in rows), default=0)
    indent = " " * (len("problem") + topics + 4)
    lines: list[str] = []
    for row in rows:
        mark = f"{row.verdict:<7}"
        if colour:
            mark = f"\x1b[{COLOURS[row.verdict]}m{mark}\x1b[0m"
        first, *rest = _wrap(row.text, width - len(indent)) or [""]
        lines.append(f"{mark}  {row.topic:<{topics}}  {first}")
        advice = _wrap(row.advice, width - len(indent) - 2)
        lines += [indent + line for line in rest]
        lines += [indent + ("> " if n == 0 else "  ") + line for n, line in enumerate(advice)]
    return "\n".join(lines)


def _wrap(text: str, width: int) -> list[str]:
    """Wraps a text but keeps paths and commands whole, so that they can be copied."""
    return textwrap.wrap(text, max(width, 30), break_long_words=False, break_on_hyphens=False)


def check_processor(cpu: hardware.Processor) -> CheckResult:
    cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
    useful = " ".join(name for name in cpu.features if name in X86_FEATURES | ARM_FEATURES)
    text = f"{cpu.model}, {cores} cores, {cpu.architecture}" + (f", {useful}" if useful else "")
    if cpu.is_x86 and cpu.features and "avx2" not in cpu.features:
        return CheckResult(
            "Processor", "warn", text, "Without AVX2 answers are slow: small models."
        )
    return CheckResult("Processor", "ok", text)


def check_memory(total: int, available: int) -> CheckResult:
    text = f"{total / GB:.1f} GB, of which {available / GB:.1f} GB are free"
    if available < LITTLE_MEMORY_GB * GB:
        return CheckResult("Memory", "warn", text, "Close other programs before loading a model.")
    return CheckResult("Memory", "ok", text)


def find_graphics() -> list[str]:
    """Returns the graphics cards that could run a model, under the names of their drivers."""
    if sys.platform == "darwin":
        return ["Metal"]
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    cards = [line.strip() for line in _output(query).splitlines() if line.strip()]
    if cards:
        return cards
    summary = _output(["vulkaninfo", "--summary"]).splitlines()
    names = (line.partition("=")[2].strip() for line in summary if "deviceName" in line)
    return [f"{name} (Vulkan)" for name in names if "llvmpipe" not in name]


def check_graphics(
    cards: list[str], engine: dict[str, Any], folder: Path | None
) -> Iterator[CheckResult]:
    if not cards:
        yield CheckResult("Graphics", "ok", "no card found; the processor does the work")
    for card in cards:
        kind = "vulkan" if "Vulkan" in card else "cuda"
        advice = FETCH if kind == "cuda" and not _has_cuda(engine) else ""
        if engine.get("gpu"):
            yield CheckResult("Graphics", "ok", card, advice)
        else:
            advice = advice or f"To use it, put the backend {kind} into {folder}."
            text = f"{card}: the engine was built without it"
            yield CheckResult("Graphics", "warn", text, f"{advice} See docs/packaging.md.")


def _has_cuda(engine: dict[str, Any]) -> bool:
    devices = engine.get("devices") or ()
    is_used = any(str(device.get("backend")).lower() == "cuda" for device in devices)
    return is_used or "cuda" in (engine.get("refused") or {}) or backends.is_present("cuda")


def ask_engine() -> dict[str, Any]:
    """Asks the engine to describe itself, in a child process that native code may crash."""
    command = processes.command("worker", "--describe")
    try:
        child = subprocess.run(
            command,
            env=processes.environment("worker"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ENGINE_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"it did not answer within {ENGINE_PATIENCE_S:.0f} s"}
    except OSError as error:
        return {"error": f"it cannot be started ({error.strerror})"}
    try:
        facts: dict[str, Any] = json.loads(child.stdout)
    except ValueError:
        last = child.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no output"]
        return {"error": f"it ended with code {child.returncode}: {last[0]}"}
    return facts


def check_engine(engine: dict[str, Any]) -> CheckResult:
    if "error" in engine:
        return CheckResult("Engine", "problem", f"llama.cpp cannot run: {engine['error']}", REBUILD)
    variant = f", processor backend {engine['variant']}" if engine.get("variant") else ""
    ggml = str(engine.get("ggml") or "").replace("-dirty", "")
    inside = f" with ggml {ggml}" if ggml else ""
    text = f"llama-cpp-python {engine['version']}{inside}{variant}: {_can_do(engine['system'])}"
    refused = engine.get("refused") or {}
    if refused:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        again = f" {TRY_AGAIN}" if set(refused) & backends.KINDS else ""
        return CheckResult("Engine", "warn", text, f"Not used here: {reasons}.{again}")
    return CheckResult("Engine", "ok", text)


def _can_do(system: str) -> str:
    """Turns llama.cpp's `CPU : AVX = 1 | AVX2 = 1` into a list of names."""
    parts = system.replace(" : ", ": ").split("|")
    return ", ".join(name for part in parts if (name := part.replace(" = 1", "").strip()))


def check_backends(engine: dict[str, Any], folder: Path | None) -> Iterator[CheckResult]:
    """Yields the graphics support that was added to the engine."""
    for kind in backends.found(folder):
        used = kind in engine.get("added", ())
        text = f"{kind} in {folder}" + ("" if used else ", which the engine could not open")
        yield CheckResult("Backend", "ok" if used else "warn", text)


def check_starter(path: Path | None) -> CheckResult:
    if path is None:
        return CheckResult("Starter model", "problem", "not found", REBUILD)
    return CheckResult("Starter model", "ok", f"{library.NAME} in {path.parent}")


def check_folder(topic: str, folder: Path) -> CheckResult:
    # Path.exists would raise without permission to look.
    existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))  # noqa: PTH110
    if not (existing.is_dir() and os.access(existing, os.W_OK)):
        advice = f"Give yourself the right to write to {existing}, or set MOAT_HOME."
        return CheckResult(topic, "problem", f"{folder} cannot be written", advice)
    free = shutil.disk_usage(existing).free / GB
    text = f"{folder} ({free:.0f} GB free)"
    if free < LITTLE_DISK_GB:
        return CheckResult(
            topic, "warn", text, "Models are large: free some space, or set MOAT_HOME."
        )
    return CheckResult(topic, "ok", text)


def check_port(
    port: int, listener: Callable[[int], Occupant | None], places: paths.Paths
) -> CheckResult:
    other = listener(port)
    if other is None:
        return CheckResult("Port", "ok", f"{port} is free")
    if other.pid and other.pid == _own_pid(places.control):
        return CheckResult("Port", "ok", f"{port} is used by Moat, which is running")
    advice = "Moat takes the next free port. End the other program or change the port in Settings."
    return CheckResult("Port", "warn", f"{port} is taken by {other}", advice)


def check_keyring(fallback: Path) -> CheckResult:
    keychain = Keychain(fallback)
    advice = "Install and unlock a keyring (GNOME Keyring, KWallet) to have them encrypted."
    try:
        asyncio.run(keychain.get("doctor"))
    except KeyringFailed as failure:
        return CheckResult("Keyring", "warn", str(failure), advice)
    if keychain.notice:
        return CheckResult("Keyring", "warn", keychain.notice, advice)
    return CheckResult("Keyring", "ok", "the system's keyring holds the secrets")


def check_screen(variables: Mapping[str, str]) -> Iterator[CheckResult]:
    try:
        version = metadata.version("PySide6-Essentials")
    except metadata.PackageNotFoundError:
        yield CheckResult("Window", "warn", "PySide6 is not installed: Moat runs headless", REBUILD)
        return
    if sys.platform == "linux" and not variables.keys() & {"DISPLAY", "WAYLAND_DISPLAY"}:
        text = f"Qt {version}; no display: Moat runs headless"
        yield CheckResult("Window", "warn", text, "That is fine on a server: moat serve")
        return
    yield CheckResult("Window", "ok", f"Qt {version}, a display")
    if "GNOME" in variables.get("XDG_CURRENT_DESKTOP", ""):
        advice = "Install the extension AppIndicator; until then Moat shows its window."
        yield CheckResult("Tray", "warn", "GNOME shows tray icons only with an extension", advice)


def _output(command: list[str]) -> str:
    if not shutil.which(command[0]):
        return ""
    try:
        child = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    except subprocess.TimeoutExpired:
        return ""
    return child.stdout if child.returncode == 0 else ""


def _own_pid(control: Path) -> int:
    try:
        return int(json.loads(control.read_text("utf-8"))["pid"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0
