"""Makes the archive with support for graphics cards: make package-graphics KIND=...

It adds a library to an engine that is already installed. To use it, put the content of the archive
into Moat's folder `backends`; nothing has to be reinstalled.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.bootstrap import graphics, places
from scripts.bootstrap.graphics import KINDS
from scripts.bootstrap.say import SetupFailed, say
from scripts.package import archive, product, sums
from scripts.package.told import told
from server.engine.worker.load.backends import TRIED_CARD
from server.sizes import MB
from server.system import backends, processes

WITHOUT = "MOAT_PACKAGE_WITHOUT_VULKAN"
RUNTIME = re.compile(
    r"lib(?:cudart|cublas|cublasLt)\.so\.\d+|(?:cudart|cublas|cublasLt)64_\d+\.dll"
)
README = """\
Support for graphics cards ({kind}) for Moat {version}, engine {engine}.

Put {library} into ~/.local/share/moat/backends, or into the folder named under
Settings, Model, and load a model again. The Hardware page says whether it fits.
{needs}
"""


def main() -> int:
    options = argparse.ArgumentParser(prog="scripts.package.graphics", description=__doc__)
    options.add_argument("kind", choices=sorted(KINDS))
    kind: str = options.parse_args().kind
    return told(lambda: package(kind))


def put_into(engine: Path) -> None:
    """Adds Vulkan, which every installer contains. A machine without a driver ignores it."""
    if os.environ.get(WITHOUT) or sys.platform != "linux":
        return
    lacking = graphics.missing("vulkan")
    if lacking:
        say(f"package: WITHOUT Vulkan, for this is missing (Debian's names): {lacking}")
        say("package: on Debian 12, packaging/linux/vulkan_tools brings it, without installing it")
        return
    library = graphics.build("vulkan")
    shutil.copyfile(library, engine / library.name)
    say(f"package: with Vulkan, {library.stat().st_size / MB:.0f} MB before it is packed")


def package(kind: str) -> list[Path]:
    lacking = graphics.missing(kind)
    if lacking:
        raise SetupFailed(f"Tools are missing (Debian's names): {lacking}")
    library = graphics.build(kind)
    folder = product.WORK / f"{product.NAME}-backend-{kind}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    named = f"{library.stem}-{places.engine_version()}{library.suffix}"
    shutil.copyfile(library, folder / named)
    if kind == "cuda":
        add_runtime(folder)
    try_out(kind, folder)
    describe(kind, folder, named)
    name = f"{folder.name}-{product.VERSION}"
    product.FINISHED.mkdir(exist_ok=True)
    made = product.FINISHED / f"{name}-{sys.platform}-{product.machine()}.tar.xz"
    archive.pack(folder, name, made)
    return [made, sums.write([made], product.FINISHED)]


def add_runtime(folder: Path) -> None:
    """Adds NVIDIA's libraries, so that a machine that has only the driver can use it.

    Their licence allows redistribution of these (CUDA EULA, attachment A), but not of the driver's
    own.
    """
    for library in toolkit_libraries():
        shutil.copyfile(library, folder / library.name)
        say(f"package: with {library.name}, {library.stat().st_size / MB:.0f} MB before packing")


def toolkit_libraries() -> list[Path]:
    """Finds the libraries in the toolkit of the `nvcc` in use, by the names programs link to."""
    compiler_path = shutil.which("nvcc")
    assert compiler_path, "checked before"
    # `nvcc` may be a script in another folder: it reports where its toolkit is.
    shown = subprocess.run(
        [compiler_path, "--dryrun", "--compile", "-x", "cu", os.devnull],
        capture_output=True,
        text=True,
        check=False,
    )
    top = re.search(r"^#\$ TOP=(.+)$", shown.stderr, re.M)
    root = Path(top[1]) if top else Path(compiler_path).resolve().parents[1]
    inside = ("bin/x64", "bin") if sys.platform == "win32" else ("lib64", "lib", "targets/*/lib")
    folders = [path for name in inside for path in root.glob(name)]
    folders += Path("/usr/lib").glob("*-linux-gnu")  # Debian's own toolkit
    found: dict[str, Path] = {}
    for path in (path for folder in folders for path in sorted(folder.glob("*cu[bd]*"))):
        if RUNTIME.fullmatch(path.name):
            found.setdefault(path.name, path)
    lacking = [name for name in ("cudart", "cublas", "cublasLt") if not _has(name, found)]
    if lacking:
        raise SetupFailed(f"CUDA's own libraries are not in {root}: {', '.join(lacking)}.")
    return list(found.values())


def _has(name: str, found: Iterable[str]) -> bool:
    return any(re.match(rf"(lib)?{name}(\.|64)", file) for file in found)


def try_out(kind: str, folder: Path) -> None:
    """Checks that the engine of this clone loads the library, as the installed one will."""
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
