"""Builds the two programs that people start: moat.exe without a console, and one for terminals."""

import shutil
import subprocess
import sys
from pathlib import Path

from scripts.bootstrap.say import SetupFailed
from scripts.package import product
from scripts.package.windows import places

SOURCE = places.PARTS / "launcher"
CROSS = "x86_64-w64-mingw32-"


def build(icon: Path) -> None:
    """Builds moat.exe and bin/moat.exe in the tree."""
    work = places.WORK / "launcher"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(SOURCE, work)
    shutil.copyfile(icon, work / "moat.ico")
    (work / "facts.h").write_text(_facts(), encoding="ascii")
    resources = work / "resources.o"
    _run(_tool("windres"), "launcher.rc", "-O", "coff", "-o", str(resources), cwd=work)
    common = (
        "-municode",
        "-Os",
        "-s",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-static",
        "-Wl,--no-insert-timestamp",
    )
    for target, special in (
        (places.TREE / "moat.exe", ("-mwindows",)),
        (places.TREE / "bin" / "moat.exe", ("-DCONSOLE",)),
    ):
        target.parent.mkdir(parents=True, exist_ok=True)
        sources = ("launcher.c", str(resources), "-o", str(target))
        _run(_tool("gcc"), *common, *special, *sources, cwd=work)


def _facts() -> str:
    numbers = (*product.VERSION.split("."), "0", "0")[:4]
    return (
        f"#define NUMBERS {','.join(numbers)}\n"
        f'#define VERSION "{product.VERSION}"\n'
        f'#define PUBLISHER "{product.PUBLISHER}"\n'
    )


def _tool(name: str) -> str:
    found = name if sys.platform == "win32" else CROSS + name
    if not shutil.which(found):
        raise SetupFailed(f"{found} is missing: apt-get install gcc-mingw-w64-x86-64-posix")
    return found


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SetupFailed(f"The launcher could not be built:\n{done.stdout}{done.stderr}")
