"""Reads the processor's name and features, and makes freed memory return to the system.

By default, once a large block was freed, glibc takes ever larger blocks from its heap. A growing
body is then copied again and again, and its memory stays with the process.
"""

import ctypes
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

M_MMAP_THRESHOLD = -3
FROM_BYTES = 256 * 1024
"""Blocks from this size on are mapped separately and returned when freed."""


def give_back() -> bool:
    """Sets glibc's mmap threshold. Returns whether the allocator accepts it."""
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, FROM_BYTES))
    except (OSError, AttributeError):  # another C library
        return False


CPUINFO = Path("/proc/cpuinfo")
ARM_PARTS = {
    "0xd07": "Cortex-A57",
    "0xd08": "Cortex-A72",
    "0xd0b": "Cortex-A76",
    "0xd0c": "Neoverse-N1",
    "0xd40": "Neoverse-V1",
    "0xd49": "Neoverse-N2",
    "0xd4f": "Neoverse-V2",
}
# Windows does not report FMA, F16C and BMI2. Every processor with AVX2 has them.
WINDOWS_FEATURES = {
    38: ("sse4_2",),
    39: ("avx",),
    40: ("avx2", "bmi2", "f16c", "fma"),
    41: ("avx512f",),
}


@dataclass(frozen=True, slots=True)
class Processor:
    architecture: str
    model: str
    features: tuple[str, ...]

    @property
    def is_x86(self) -> bool:
        return self.architecture in ("x86_64", "amd64")


def read() -> Processor:
    """Reads the processor from /proc/cpuinfo, sysctl or Windows."""
    architecture = platform.machine().lower()
    if sys.platform != "win32" and CPUINFO.exists():
        return from_cpuinfo(architecture, CPUINFO.read_text(errors="replace"))
    if sys.platform == "darwin":
        return _from_sysctl(architecture)
    name = os.environ.get("PROCESSOR_IDENTIFIER") or platform.processor() or "unknown"
    return Processor(architecture, name, _windows_features())


def from_cpuinfo(architecture: str, text: str) -> Processor:
    facts: dict[str, str] = {}
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip(), value.strip())
    features = facts.get("flags") or facts.get("Features") or ""
    return Processor(architecture, _name(facts), tuple(sorted(features.split())))


def _name(facts: dict[str, str]) -> str:
    part = facts.get("CPU part", "")
    return facts.get("model name") or ARM_PARTS.get(part) or f"unknown {part}".strip()


def _from_sysctl(architecture: str) -> Processor:
    features = f"{_sysctl('machdep.cpu.features')} {_sysctl('machdep.cpu.leaf7_features')}"
    model = _sysctl("machdep.cpu.brand_string") or "unknown"
    return Processor(architecture, model, tuple(sorted(features.lower().split())))


def _sysctl(name: str) -> str:
    answer = subprocess.run(["sysctl", "-n", name], capture_output=True, text=True, check=False)
    return answer.stdout.strip()


def _windows_features() -> tuple[str, ...]:
    if sys.platform != "win32":
        return ()
    present = ctypes.windll.kernel32.IsProcessorFeaturePresent
    return tuple(
        sorted(name for code, names in WINDOWS_FEATURES.items() if present(code) for name in names)
    )
