"""Compiles support for a graphics card: for a package, or beside the engine of this clone.

python -m scripts.bootstrap.graphics auto|cuda|vulkan FOLDER is started by `make run` once Moat
serves. It writes a line of JSON for each step, and ends with the process that started it.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.bootstrap import compiler, places
from scripts.bootstrap.build import jobs
from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.lock import held
from scripts.bootstrap.recipe import EVERY_GENERATION, LEAN
from scripts.bootstrap.say import SetupFailed
from scripts.bootstrap.source import unpacked
from server.system import hardware

MORE = "MOAT_CMAKE_ARGS"
INCLUDES = "Vulkan_INCLUDE_DIR"
GENERATION = "CMAKE_CUDA_ARCHITECTURES"
ANY_GENERATION = "80"
"""The only generation that is built on a machine without a card, so that the build ends in time."""
VULKAN_HEADER = Path("/usr/include/vulkan/vulkan_core.h")
STEP = re.compile(r"^\[(?: *(\d+)%|(\d+)/(\d+))\]")
"""Matches what make and ninja write before each step."""
HIDE_ARCHIVES = tuple(
    f"-DCMAKE_{kind}_LINKER_FLAGS=-Wl,--exclude-libs,ALL" for kind in ("SHARED", "MODULE")
)
"""A backend exports no symbol of an archive. One linked with libstdc++.a on an Ubuntu with CUDA 13
exported that library's, other libraries in the worker then used them, and it crashed."""
DRIVER = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of card: llama.cpp's switch for it, the tools that build it, what it needs to run."""

    switch: str
    tools: dict[str, str]
    """The programs, with the Debian packages that contain them."""
    needs: str


KINDS = {
    "vulkan": Kind(
        "GGML_VULKAN",
        {"cmake": "cmake", "glslc": "glslc libvulkan-dev spirv-headers"},
        "It needs the card's driver for Vulkan.",
    ),
    "cuda": Kind(
        "GGML_CUDA",
        {"cmake": "cmake", "nvcc": "nvidia-cuda-toolkit"},
        "It needs NVIDIA's driver. CUDA's own libraries (libcublas, libcudart) are beside it; put\n"
        "them into the same folder. They are NVIDIA's, under the licence of the CUDA toolkit.",
    ),
}


def missing(kind: str) -> str:
    """Returns the Debian packages that are missing to build it; empty if it can be built."""
    lacking = [at for tool, at in KINDS[kind].tools.items() if not shutil.which(tool)]
    is_old = kind == "vulkan" and not has_new_headers(VULKAN_HEADER)
    if not lacking and is_old and INCLUDES not in os.environ.get(MORE, ""):
        return "headers of Vulkan 1.4 (libvulkan-dev of Debian 13)"
    return " ".join(lacking)


def has_new_headers(header: Path) -> bool:
    """Whether they are of Vulkan 1.4, as in Debian 13. The engine does not compile with 1.3."""
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    found = re.search(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(0, 1, (\d+)", text)
    return found is not None and int(found.group(1)) >= 4


def build(
    kind: str, more: tuple[str, ...] = (), show: Callable[[int], None] = lambda _percent: None
) -> Path:
    """Builds and returns the library. CMake gets `more` and the options of MOAT_CMAKE_ARGS."""
    label = "-".join([kind, places.engine_version(), *map(_label, more)])
    work = places.wheel_cache().parent / "graphics" / label
    with held(work / "lock", "another clone is compiling it, waiting"):
        return _build(kind, work, more, show)


def _build(kind: str, work: Path, more: tuple[str, ...], show: Callable[[int], None]) -> Path:
    source = unpacked(Path(sys.executable), places.engine_version(), work)
    made, chosen = work / "build", compiler.find(prefer_new=hardware.read().is_x86)
    environment = {"CC": chosen.cc, "CXX": chosen.cxx} if chosen else {}
    plain = [option for option in EVERY_GENERATION if "ALL_VARIANTS" not in option]
    configure = [
        # `--fresh` discards an earlier configuration with other options or another compiler.
        *("cmake", "--fresh", "-S", str(source / "vendor" / "llama.cpp"), "-B", str(made)),
        *("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", f"-D{KINDS[kind].switch}=ON"),
        *("-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN"),
        *(HIDE_ARCHIVES if sys.platform == "linux" else ()),
        *(*plain, *LEAN, *more, *shlex.split(os.environ.get(MORE, ""))),
    ]
    compile_it = ["cmake", "--build", str(made), "--target", f"ggml-{kind}"]
    compile_it += ["--config", "Release", "-j", str(jobs())]

    def detail(line: str) -> str | None:
        found = STEP.match(line)
        if not found:
            return None
        show(int(found[1]) if found[1] else 100 * int(found[2]) // int(found[3]))
        return found[0]

    for title, command in (("configuring", configure), ("compiling", compile_it)):
        log = work / f"{title}.log"
        given = {**os.environ, **environment}
        follow(LongCommand(f"{title} the backend {kind}", command, detail, log, given))
    # Microsoft's build tool adds a folder for the build type.
    return next(
        path for name in (f"libggml-{kind}.*", f"ggml-{kind}.dll") for path in made.rglob(name)
    )


def _label(option: str) -> str:
    return re.sub(r"\W+", "_", option.rpartition("=")[2])


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts.bootstrap.graphics", description=__doc__)
    options.add_argument("kind", choices=("auto", *sorted(KINDS)))
    options.add_argument("into", type=Path, help="the folder of Moat's backends")
    chosen = options.parse_args()
    out = sys.stdout
    sys.stdout = sys.stderr  # messages for people must not mix with the lines of JSON

    def tell(**facts: Any) -> None:
        out.write(json.dumps(facts) + "\n")
        out.flush()

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(15)
    try:
        provide(chosen.kind, chosen.into, tell)
    except SetupFailed as failure:
        tell(notice=f"Support for the graphics card could not be compiled: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _end_with_parent() -> None:
    # Not sys.stdin: Python does not end cleanly while a thread waits in its buffer.
    while os.read(0, 4096):
        continue
    os.kill(os.getpid(), signal.SIGTERM)


def provide(wanted: str, into: Path, tell: Callable[..., None]) -> None:
    """Compiles the backend for the card of this machine, and only for its generation."""
    generations = find_generations()
    kind = wanted if wanted != "auto" else choose(bool(generations))
    if lacking := missing(kind):
        other = "cuda" if kind == "vulkan" and generations else ""
        install = " or ".join(filter(None, (lacking, other and missing(other))))
        tell(notice=f"A graphics card was found. To use it, install {install}, and start again.")
        return
    more: tuple[str, ...] = ()
    if kind == "cuda" and GENERATION not in os.environ.get(MORE, ""):
        more = (f"-D{GENERATION}={';'.join(generations) or ANY_GENERATION}",)
    tell(kind=kind, percent=0)
    shown = [0]

    def show(percent: int) -> None:
        if percent > shown[0]:
            shown[0] = percent
            tell(kind=kind, percent=percent)

    library = build(kind, more, show)
    folder = into / f"{kind}-{places.engine_version()}"
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / ".draft"
    shutil.copyfile(library, draft)
    draft.replace(folder / f"{library.stem}-{places.engine_version()}{library.suffix}")
    tell(ready=kind)


def choose(has_nvidia: bool) -> str:
    """Chooses CUDA if it can be built and NVIDIA's driver lists a card, otherwise Vulkan."""
    return "cuda" if has_nvidia and not missing("cuda") else "vulkan"


def find_generations() -> list[str]:
    """Returns the generations of NVIDIA's cards as its driver reports them: 89, 120 …"""
    if not shutil.which(DRIVER[0]):
        return []
    asked = subprocess.run(DRIVER, capture_output=True, text=True, check=False, timeout=60)
    found = re.findall(r"^(\d+)\.(\d+)\s*$", asked.stdout, re.M) if asked.returncode == 0 else []
    return sorted({major + minor for major, minor in found})


if __name__ == "__main__":
    sys.exit(main())
