"""Recipes that build the engine for this processor, from fastest to safest, each with a key."""

import hashlib
import os
import platform
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.bootstrap.compiler import Compiler
from server.system.hardware import Processor

LEAN = tuple(
    f"-DLLAMA_{part}=OFF"
    for part in ("OPENSSL", "CURL", "BUILD_TESTS", "BUILD_TOOLS", "BUILD_EXAMPLES", "BUILD_SERVER")
)
QUIET = ("-DLLAMA_ALL_WARNINGS=OFF", "-DGGML_ALL_WARNINGS=OFF")
LIGHT = Path(__file__).with_name("engine.cmake")
"""Included by CMake in each recipe. It leaves out what Moat does not load."""
NO_DEAD_STORES = "-fno-tree-dse -fno-dse"
"""Keeps GCC before 14 from dropping the configuration of AMX tiles."""
IN_PACKAGE = tuple(
    f"-DCMAKE_INSTALL_{kind}=llama_cpp/{folder}"
    for kind, folder in (("BINDIR", "lib"), ("LIBDIR", "lib"), ("INCLUDEDIR", "include"))
)
FOR_A_CARD = ("-DVulkan_", "-DSPIRV", "-DCMAKE_CUDA_")
"""Options that do not affect an engine that computes on the processor."""
EVERY_GENERATION = ("-DGGML_NATIVE=OFF", "-DGGML_BACKEND_DL=ON", "-DGGML_CPU_ALL_VARIANTS=ON")
WITH_SME = ("armv9.2_1", "armv9.2_2")
X86_SWITCHES: dict[str, tuple[str, ...]] = {
    "GGML_SSE42": ("sse4_2",),
    "GGML_AVX": ("avx",),
    "GGML_AVX2": ("avx2",),
    "GGML_BMI2": ("bmi2",),
    "GGML_FMA": ("fma",),
    "GGML_F16C": ("f16c",),
}
X86_AVX512: dict[str, tuple[str, ...]] = {
    "GGML_AVX512": ("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw")
}


@dataclass(frozen=True)
class Recipe:
    name: str
    version: str
    arguments: tuple[str, ...]
    processor: Processor
    compiler: Compiler | None
    flags: str = ""
    """Flags for the C and C++ compilers."""
    left_out: tuple[str, ...] = ()
    """Variants of the processor's backend that this compiler cannot build."""

    @property
    def key(self) -> str:
        """Identifies the result. A wheel with the same key need not be built again."""
        parts = (
            *self.arguments,
            self.compiler.version if self.compiler else "",
            self.processor.model,
            *self.processor.features,
            *platform.libc_ver(),
            LIGHT.read_text(encoding="utf-8"),
            *filter(None, (self.flags, *self.left_out)),
        )
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        return f"{self.version}-{sys.platform}-{self.processor.architecture}-{digest}"

    def environment(self) -> dict[str, str]:
        light = f"-DCMAKE_PROJECT_INCLUDE={LIGHT.as_posix()}"
        chosen = {"CMAKE_ARGS": shlex.join((*self.arguments, light))}
        if self.compiler:
            chosen |= {"CC": self.compiler.cc, "CXX": self.compiler.cxx}
        if self.flags:
            chosen |= {"CFLAGS": self.flags, "CXXFLAGS": self.flags}
        return chosen


def recipes(version: str, processor: Processor, compiler: Compiler | None) -> list[Recipe]:
    """Returns the recipes, the fastest first. The others are for processors on which it fails."""
    extra = tuple(shlex.split(os.environ.get("MOAT_CMAKE_ARGS", "")))
    if all(option.startswith(FOR_A_CARD) for option in extra):
        extra = ()
    choices = [("native", native(processor, compiler))]
    if processor.is_x86:
        choices.append(("without AMX", portable(processor, X86_SWITCHES | X86_AVX512)))
        choices.append(("without AVX-512", portable(processor, X86_SWITCHES)))
    else:
        choices.append(("portable", ("-DGGML_NATIVE=OFF",)))
    return [
        Recipe(name, version, (*special, *LEAN, *QUIET, *extra), processor, compiler)
        for name, special in choices
    ]


def shipped(version: str, architecture: str, compiler: Compiler | None) -> Recipe:
    """Returns the recipe for a package: a library per processor generation, chosen at run time."""
    anyone = Processor(architecture, "any", ())
    if sys.platform == "darwin":
        return Recipe("shipped", version, ("-DGGML_NATIVE=OFF", *LEAN, *QUIET), anyone, compiler)
    arguments = (*EVERY_GENERATION, *IN_PACKAGE, "-DCMAKE_INSTALL_RPATH=$ORIGIN", *LEAN, *QUIET)
    old = compiler is not None and compiler.drops_tile_configuration
    flags = NO_DEAD_STORES if old and anyone.is_x86 else ""
    left_out = WITH_SME if old and architecture == "aarch64" else ()
    return Recipe("shipped", version, arguments, anyone, compiler, flags, left_out)


def native(processor: Processor, compiler: Compiler | None) -> tuple[str, ...]:
    arguments: tuple[str, ...] = ("-DGGML_NATIVE=ON",)
    if processor.is_x86 and compiler and compiler.drops_tile_configuration:
        flags = (f"-DCMAKE_{language}_FLAGS={NO_DEAD_STORES}" for language in ("C", "CXX"))
        arguments += tuple(flags)
    return arguments


def portable(processor: Processor, switches: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    known = set(processor.features)
    chosen = (
        f"-D{switch}={'ON' if known.issuperset(needed) else 'OFF'}"
        for switch, needed in switches.items()
    )
    return ("-DGGML_NATIVE=OFF", *chosen)
