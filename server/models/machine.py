"""Describes this machine: free memory, graphics devices of the engine, processor features, pace."""

import asyncio
import contextlib
import logging
import re
import shutil
import subprocess
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import psutil
from pydantic import TypeAdapter, ValidationError

from server.face.models import Device, Machine, Pace, Row
from server.observe import Value
from server.sentences import Sentence
from server.sizes import MIB
from server.system import backends, hardware, processes
from server.system.files import JsonFile
from server.system.limits import try_json
from server.tasks import spawn, stop

log = logging.getLogger(__name__)
PATIENCE_S = 60.0
"""Seconds that a child process may take to answer."""
ENGINE_PATIENCE_S = 420.0
"""Seconds for the engine's description: far more than its backend trials take on a busy machine."""
MOST_OTHERS = 0.3
"""Busy cores, of other programs or Moat itself, up to which a measured pace is trusted."""
QUIET_S, LOOK_S = 5.0, 0.5
"""Seconds that `measure` waits for Moat to be idle, and the interval of its checks."""
AGAIN_S = (30.0, 60.0, 120.0, 240.0, 480.0, 960.0)
"""Seconds before each repetition of a disturbed measurement. Then the next start repeats it."""
_PACE = TypeAdapter(Pace)
ARM_DOT = "asimddp"
GROUP = Path("/sys/fs/cgroup")
GPU_LIBRARIES = ("cuda", "vulkan", "metal", "hip", "sycl", "musa", "cann", "opencl")
NVIDIA = [
    "nvidia-smi",
    "--query-gpu=name,memory.total,memory.free",
    "--format=csv,noheader,nounits",
]


class Surveyor:
    """The facts about the machine. Memory is read each time; the engine's devices are remembered.

    The engine is asked again on request, or when its graphics support is in another folder.
    """

    def __init__(self, kept: Path | None = None) -> None:
        """`kept` is the file that keeps the measured pace."""
        self._kept = JsonFile(kept, "The measured pace") if kept else None
        self.pace: Value[Pace] = Value(self._read_pace())
        self.is_quiet: Callable[[], bool] = lambda: True
        """Whether Moat itself is idle at this moment."""
        self._repeating: asyncio.Task[None] | None = None
        self._devices: tuple[Device, ...] | None = None
        self._engine_uses_gpu = False
        self._refused: dict[str, str] = {}
        self._folder = backends.folder()
        self._features = _features(hardware.read())
        self._looking, self._measuring = asyncio.Lock(), asyncio.Lock()

    async def look(self, *, anew: bool = False) -> Machine:
        async with self._looking:
            if self._folder != backends.folder():
                self._folder, self._devices = backends.folder(), None
                self._engine_uses_gpu = False
            if anew or (self._devices is None and _may_use_gpu()):
                await self._ask_engine()
            elif self._devices is None:
                self._devices = await find_nvidia()
        return self.machine()

    async def measure(self, *, anew: bool = False) -> None:
        """Measures the pace, which takes a second or two, unless it is known or already scheduled.

        A disturbed measurement is repeated in the background. If Moat is busy, even the first one
        happens there, so that nobody has to wait.
        """
        async with self._measuring:
            if (self.is_settled or self._repeating is not None) and not anew:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET_S):
                    await self._wait_until_quiet()
            if anew or self.is_quiet():
                await self._measure(anew=anew)
            if not self.is_settled and self._repeating is None:
                self._repeating = spawn(self._repeat(), "pace")

    @property
    def is_settled(self) -> bool:
        """Whether the pace was measured while nothing else was computing."""
        pace = self.pace.get()
        return bool(pace.rates) and pace.others <= MOST_OTHERS

    async def close(self) -> None:
        await stop(self._repeating)

    async def _measure(self, *, anew: bool = False) -> None:
        found = _json(await _output(*_worker("--pace")))
        with contextlib.suppress(ValidationError):
            made = _PACE.validate_python({**found, "measured_at": time.time()})
            pace = made if anew else _best(self.pace.get(), made)
            if self._kept is not None:
                self._kept.write({_pace_key(): asdict(pace)})
            self.pace.set(pace)

    async def _repeat(self) -> None:
        for wait_s in AGAIN_S:
            await asyncio.sleep(wait_s)
            await self._wait_until_quiet()
            await self._measure()
            if self.is_settled:
                return

    async def _wait_until_quiet(self) -> None:
        while not self.is_quiet():  # noqa: ASYNC110  there is no event for "all is quiet"
            await asyncio.sleep(LOOK_S)

    def _read_pace(self) -> Pace:
        try:
            return _PACE.validate_python(self._kept.read()[_pace_key()]) if self._kept else Pace()
        except (KeyError, ValidationError):  # from another machine, engine or version
            return Pace()

    def machine(self) -> Machine:
        """Returns what is known already, with the memory that is free at this moment."""
        memory = psutil.virtual_memory()
        total, free = _within_group(memory.total, memory.available)
        devices = self._devices or ()
        note = explain_unused(devices, self._refused, is_used=self._engine_uses_gpu)
        return Machine(
            total,
            free,
            psutil.cpu_count(logical=False) or psutil.cpu_count() or 1,
            devices,
            self._engine_uses_gpu,
            self._features,
            note,
            tuple(backends.found(backends.folder())),
            self.pace.get(),
        )

    async def engine_build(self) -> str:
        """Returns the engine's name, version and the parts chosen for this machine."""
        return name_build(_json(await _engine()))

    async def _ask_engine(self) -> None:
        facts = _json(await _engine())
        self._engine_uses_gpu = bool(facts.get("gpu"))
        refused = facts.get("refused") or {}
        self._refused = {kind: refused[kind] for kind in refused if kind in backends.KINDS}
        found = [Device(**device) for device in facts.get("devices", [])]
        self._devices = tuple(found) or await find_nvidia()


def explain_unused(
    devices: tuple[Device, ...], refused: dict[str, str], *, is_used: bool = False
) -> str:
    """Explains why graphics cards are not used; empty if there is nothing to explain."""
    note = ""
    if devices and not is_used:
        note = Sentence(
            "{0} was found, but this build of the engine cannot use it.", devices[0].name
        )
    for kind, reason in refused.items():
        note = Sentence("Support for graphics cards ({0}) is not used: {1}.", kind, reason)
    return note


def name_build(facts: dict[str, Any]) -> str:
    """Builds the engine's name from its description of itself."""
    parts = (facts.get("variant"), *facts.get("added", ()), facts.get("system"))
    inside = f" with ggml {facts['ggml']}" if facts.get("ggml") else ""
    name = f"llama-cpp-python {facts.get('version', '?')}{inside}"
    return f"{name}: {', '.join(filter(None, parts))}"


async def _engine() -> bytes:
    return await _output(*_worker("--describe"), ENGINE_PATIENCE_S)


def _worker(flag: str) -> tuple[list[str], dict[str, str]]:
    return processes.command("worker", flag), processes.environment("worker")


def _best(before: Pace, now: Pace) -> Pace:
    """Takes the faster time of each row: other programs can only slow a measurement down."""
    known = {rate.form: rate for rate in before.rates}
    rates = tuple(
        replace(
            rate,
            short=_faster(known[rate.form].short, rate.short),
            long=_faster(known[rate.form].long, rate.long),
        )
        if rate.form in known
        else rate
        for rate in now.rates
    )
    return replace(
        now,
        rates=rates,
        step_s=min(now.step_s, before.step_s or now.step_s),
        others=min(now.others, before.others or now.others),
    )


def _faster(before: Row, now: Row) -> Row:
    if before.values != now.values:
        return now
    return replace(
        now, once_s=min(before.once_s, now.once_s), each_s=min(before.each_s, now.each_s)
    )


def _pace_key() -> str:
    """Returns a key that changes with the engine and the processor."""
    return f"{backends.engine_version()}:{hardware.read().model}"


def _may_use_gpu() -> bool:
    """Whether the engine has a graphics library, determined without starting the engine."""
    if backends.found(backends.folder()):
        return True
    libraries = backends.library_folder()
    if libraries is None:
        return True
    present = {
        kind for file in libraries.glob("*ggml-*") for kind in GPU_LIBRARIES if kind in file.name
    }
    return any(map(backends.may_have_card, present))


def _within_group(total: int, free: int) -> tuple[int, int]:
    """Limits total and free memory to what a Linux container (cgroup v2) may use."""
    try:
        most = int((GROUP / "memory.max").read_text("ascii"))
        used = int((GROUP / "memory.current").read_text("ascii"))
        cached = re.search(r"^inactive_file (\d+)", (GROUP / "memory.stat").read_text(), re.M)
    except (OSError, ValueError):
        return total, free
    used -= int(cached[1]) if cached else 0
    return min(total, most), min(free, max(0, most - used))


def _features(found: hardware.Processor) -> tuple[str, ...]:
    if sys.platform == "darwin" and not found.is_x86:
        return (*found.features, ARM_DOT)
    return found.features


async def find_nvidia() -> tuple[Device, ...]:
    """Asks NVIDIA's driver for its cards, since the engine may have been built without support."""
    if not shutil.which(NVIDIA[0]):
        return ()
    return tuple(read_nvidia((await _output(NVIDIA, None)).decode(errors="replace")))


def read_nvidia(text: str) -> list[Device]:
    found = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 3 and parts[1].isdigit() and parts[2].isdigit():
            found.append(Device(parts[0], "CUDA", int(parts[2]) * MIB, int(parts[1]) * MIB))
    return found


async def _output(
    command: list[str], environment: dict[str, str] | None, patience_s: float = PATIENCE_S
) -> bytes:
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except OSError:
        return b""
    try:
        async with asyncio.timeout(patience_s):
            out, _ = await child.communicate()
    except TimeoutError:
        log.warning("%s did not answer", command[0])
        out = b""
    finally:
        # On cancellation, too: a worker that measures would otherwise go on without us.
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.communicate()
    return out


def _json(text: bytes) -> dict[str, Any]:
    found = try_json(text)
    return found if isinstance(found, dict) else {}
