"""llama.cpp for Windows: compiled with mingw-w64, a library per processor generation."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scripts.bootstrap import places as clone
from scripts.bootstrap.build import jobs, progress
from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.lock import held
from scripts.bootstrap.recipe import EVERY_GENERATION, LEAN
from scripts.bootstrap.say import SetupFailed, say
from scripts.bootstrap.source import trimmed
from scripts.package import engine_files
from scripts.package.windows import places

COMPILER = "x86_64-w64-mingw32-g++-posix"
STRIP = "x86_64-w64-mingw32-strip"
PARTS = places.PARTS / "engine"
LEFT_OUT = ("cannonlake", "cooperlake", "sapphirerapids")
"""Two processor generations that hardly anybody has, and AMX: it cannot be checked whether
Windows keeps its state."""
OPTIONS = (*EVERY_GENERATION, "-DBUILD_SHARED_LIBS=ON", "-DGGML_OPENMP=OFF", *LEAN)
FLAGS = "-D_WIN32_WINNT=0x0A00 -Wa,-muse-unaligned-vector-move"
"""GCC aligns Windows stacks to 16 bytes, but moves 32 bytes as if they were aligned to 32. The
assembler option replaces these by moves without alignment."""
RUNTIMES = ("libstdc++-6.dll", "libgcc_s_seh-1.dll", "libwinpthread-1.dll")
LIBRARY = re.compile(r"(lib)?(llama|mtmd|ggml(-base|-cpu-\w+)?)\.dll")
SLOWEST_NEEDED = "ggml-cpu-x64.dll"


def libraries() -> list[Path]:
    """Returns the engine's libraries, from the cache or compiled now."""
    if sys.platform == "win32":
        return engine_files.unpack(places.WORK / "engine")
    folder = places.CACHE / f"engine-{key()}"
    lock = folder.with_name(f"{folder.name}.lock")
    with held(lock, "another clone is compiling the engine, waiting"):
        if not folder.exists():
            _compile(folder)
    return sorted(folder.glob("*.dll"))


def key() -> str:
    """Returns a key that is equal for equal results."""
    version = clone.engine_version()
    parts = [*OPTIONS, FLAGS, *LEFT_OUT, compiler_version()]
    parts += [path.read_text(encoding="utf-8") for path in sorted(PARTS.iterdir())]
    return f"{version}-{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]}"


def compiler_version() -> str:
    if not shutil.which(COMPILER):
        raise SetupFailed(f"{COMPILER} is missing: apt-get install g++-mingw-w64-x86-64-posix")
    command = [COMPILER, "-dumpfullversion"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _compile(folder: Path) -> None:
    say("engine: compiling it for Windows, once (15 to 40 minutes)")
    log = folder.with_name(f"{folder.name}.log")
    with tempfile.TemporaryDirectory(prefix="moat-windows-") as scratch:
        source = trimmed(Path(sys.executable), clone.engine_version(), LEFT_OUT, Path(scratch))
        built = Path(scratch) / "built"
        steps = {
            "preparing the engine": configure(source, built),
            "compiling the engine": [
                *("cmake", "--build", str(built), "--target", "llama", "mtmd"),
                *("-j", str(jobs())),
            ],
        }
        for title, command in steps.items():
            follow(LongCommand(title, command, progress, log))
        draft = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        for library in (*made(built), *runtimes()):
            shutil.copyfile(library, draft / library.name)
            subprocess.run([STRIP, "--strip-unneeded", str(draft / library.name)], check=True)
        draft.replace(folder)


def configure(source: Path, built: Path) -> list[str]:
    missing = PARTS / "missing_in_mingw.h"
    flags = f"{FLAGS} -include {missing} -ffile-prefix-map={source}=."
    return [
        *("cmake", "-Wno-dev", "-G", "Ninja", "-S", str(source), "-B", str(built)),
        f"-DCMAKE_TOOLCHAIN_FILE={PARTS / 'toolchain.cmake'}",
        "-DCMAKE_BUILD_TYPE=Release",
        *(f"-DCMAKE_{language}_FLAGS={flags}" for language in ("C", "CXX")),
        *(f"-DCMAKE_{kind}_LINKER_FLAGS=-s" for kind in ("SHARED", "MODULE")),
        *OPTIONS,
    ]


def made(built: Path) -> list[Path]:
    found = [path for path in built.rglob("*.dll") if LIBRARY.fullmatch(path.name)]
    if not any(path.name == SLOWEST_NEEDED for path in found):
        raise SetupFailed(f"The engine was compiled without {SLOWEST_NEEDED}.")
    return found


def runtimes() -> list[Path]:
    """Returns the compiler's own libraries. Linked statically, they would exist several times."""
    return [_of_compiler(name) for name in RUNTIMES]


def _of_compiler(name: str) -> Path:
    asked = subprocess.run(
        [COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    path = Path(asked.stdout.strip())
    if path.is_absolute():
        return path.resolve()
    raise SetupFailed(f"The compiler has no {name}.")
