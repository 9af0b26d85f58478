"""make package-graphics KIND=...: support for graphics cards, as an archive of its own.

It is one library more for an engine that is installed already. Whoever wants it puts what is in
the archive into Moat's folder `backends`; nothing is installed anew.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from scripts.bootstrap import compiler, places
from scripts.bootstrap.build import jobs
from scripts.bootstrap.follow import LongCommand, follow
from scripts.bootstrap.recipe import EVERY_GENERATION, LEAN
from scripts.bootstrap.say import SetupFailed, say
from scripts.bootstrap.source import unpacked
from scripts.package import archive, product, sums
from scripts.package.told import told
from server.engine.worker.load.backends import TRIED_CARD
from server.sizes import MB
from server.system import backends, hardware, processes

MORE = "MOAT_CMAKE_ARGS"
INCLUDES = "Vulkan_INCLUDE_DIR"
VULKAN_HEADER = Path("/usr/include/vulkan/vulkan_core.h")
WITHOUT = "MOAT_PACKAGE_WITHOUT_VULKAN"
README = """\
Support for graphics cards ({kind}) for Moat {version}, engine {engine}.

Put {library} into ~/.local/share/moat/backends, or into the folder named under
Settings, Model, and load a model again. The Hardware page says whether it fits.
{needs}
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """What llama.cpp calls it, what building it takes, what running it takes."""

    switch: str
    tools: dict[str, str]
    """Programs, and the packages of Debian they are in."""
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
        "It needs NVIDIA's driver and CUDA (libcublas, libcudart) of the version of its build.",
    ),
}


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts.package.graphics", description=__doc__)
    options.add_argument("kind", choices=sorted(KINDS))
    kind: str = options.parse_args().kind
    return told(lambda: package(kind))


def put_into(engine: Path) -> None:
    """Vulkan is part of every installer; a machine without it, or with a bad driver, skips it."""
    if os.environ.get(WITHOUT) or sys.platform != "linux":
        return
    missing = _missing("vulkan")
    if missing:
        say(f"package: WITHOUT Vulkan, for tools are missing (Debian's names): {missing}")
        return
    if not _has_new_headers(VULKAN_HEADER) and INCLUDES not in os.environ.get(MORE, ""):
        say(f"package: WITHOUT Vulkan, whose headers are too old here: give {MORE}=-D{INCLUDES}=…")
        return
    library = build("vulkan")
    shutil.copyfile(library, engine / library.name)
    say(f"package: with Vulkan, {library.stat().st_size / MB:.0f} MB before it is packed")


def _has_new_headers(header: Path) -> bool:
    """Those of Vulkan 1.4, as in Debian 13; the engine does not compile with 1.3."""
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    found = re.search(r"VK_HEADER_VERSION_COMPLETE VK_MAKE_API_VERSION\(0, 1, (\d+)", text)
    return found is not None and int(found.group(1)) >= 4


def _missing(kind: str) -> str:
    return " ".join(at for tool, at in KINDS[kind].tools.items() if not shutil.which(tool))


def package(kind: str) -> list[Path]:
    missing = _missing(kind)
    if missing:
        raise SetupFailed(f"Tools are missing (Debian's names): {missing}")
    library = build(kind)
    folder = product.WORK / f"{product.NAME}-backend-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    named = f"{library.stem}-{places.engine_version()}{library.suffix}"
    shutil.copyfile(library, folder / named)
    try_out(kind, folder)
    describe(kind, folder, named)
    name = f"{folder.name}-{product.VERSION}"
    product.FINISHED.mkdir(exist_ok=True)
    made = product.FINISHED / f"{name}-{sys.platform}-{product.machine()}.tar.xz"
    archive.pack(folder, name, made)
    return [made, sums.write([made], product.FINISHED)]


def build(kind: str) -> Path:
    work = places.wheel_cache().parent / "graphics" / f"{kind}-{places.engine_version()}"
    work.mkdir(parents=True, exist_ok=True)
    source = unpacked(Path(sys.executable), places.engine_version(), work)
    made, chosen = work / "build", compiler.find(prefer_new=hardware.read().is_x86)
    environment = {"CC": chosen.cc, "CXX": chosen.cxx} if chosen else {}
    plain = [one for one in EVERY_GENERATION if "ALL_VARIANTS" not in one]
    configure = [
        # What was configured before, with other options or another compiler, counts for nothing.
        *("cmake", "--fresh", "-S", str(source / "vendor" / "llama.cpp"), "-B", str(made)),
        *("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON", f"-D{KINDS[kind].switch}=ON"),
        *("-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", "-DCMAKE_INSTALL_RPATH=$ORIGIN"),
        *(*plain, *LEAN, *shlex.split(os.environ.get(MORE, ""))),
    ]
    compile_it = ["cmake", "--build", str(made), "--target", f"ggml-{kind}", "-j", str(jobs())]
    for title, command in (("configuring", configure), ("compiling", compile_it)):
        log = work / f"{title}.log"
        given = {**os.environ, **environment}
        follow(LongCommand(f"{title} the backend {kind}", command, _progress, log, given))
    return next((made / "bin").glob(f"libggml-{kind}.*"))


def _progress(line: str) -> str | None:
    return line.split("]")[0] + "]" if line.startswith("[") and "]" in line else None


def try_out(kind: str, folder: Path) -> None:
    """The engine of this clone must take it, as the installed one will."""
    told_by = subprocess.run(
        processes.command("worker", "--describe"),
        env={
            **processes.environment("worker"),
            backends.VARIABLE: str(folder),
            TRIED_CARD: kind,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    facts = json.loads(told_by.stdout) if told_by.returncode == 0 else {}
    if kind not in facts.get("added", ()):
        reason = facts.get("refused", {}).get(kind) or told_by.stderr.strip()[-300:]
        raise SetupFailed(f"The engine does not take the new library: {reason}")
    cards = ", ".join(one["name"] for one in facts["devices"]) or "none on this machine"
    say(f"package: the engine takes it; cards it finds: {cards}")


def describe(kind: str, folder: Path, library: str) -> None:
    facts = {"version": product.VERSION, "engine": places.engine_version(), "library": library}
    text = README.format(kind=kind, needs=KINDS[kind].needs, **facts)
    (folder / "README").write_text(text, encoding="utf-8")
    licence = places.ROOT / "packaging" / "common" / "licenses" / "llama.cpp.txt"
    shutil.copyfile(licence, folder / "LICENSE")


if __name__ == "__main__":
    sys.exit(main())
